"""Histories that stay in the database, and how they are read from it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, overload

from flowpy.local.store.documents import decode_events

__all__ = ["StoredEvents", "read_events"]

Event = dict[str, Any]


def read_events(database: sqlite3.Connection, number: int, start: int, stop: int) -> list[Event]:
    """Part of a history.

    Args:
        database: Where it is.
        number: Of the execution.
        start: How many events to leave out at its begin.
        stop: Where to end, as in a slice.
    """
    # A row has what one transaction added, so the first event asked for may be in the middle of one.
    rows = database.execute(
        "SELECT first, body FROM events WHERE execution = ? AND first <= ? AND first >= "
        "(SELECT max(first) FROM events WHERE execution = ? AND first <= ?) ORDER BY first",
        (number, stop, number, start + 1),
    ).fetchall()
    if not rows:
        return []
    events = [event for _, body in rows for event in decode_events(body)]
    skipped = start + 1 - int(rows[0][0])
    return events[skipped : skipped + stop - start]


class StoredEvents:
    """The history of a closed execution: only what is asked for comes into memory.

    Args:
        database: Where it is.
        number: Of the execution.
        length: How many events it has.
    """

    def __init__(self, database: sqlite3.Connection, number: int, length: int) -> None:
        self._database = database
        self._number = number
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Event]:
        return iter(self[:])

    @overload
    def __getitem__(self, position: int, /) -> Event: ...

    @overload
    def __getitem__(self, position: slice, /) -> list[Event]: ...

    def __getitem__(self, position: int | slice, /) -> Event | list[Event]:
        if isinstance(position, slice):
            start, stop, step = position.indices(self._length)
            return read_events(self._database, self._number, start, stop)[::step] if start < stop else []
        at = range(self._length)[position]
        return read_events(self._database, self._number, at, at + 1)[0]

    def append(self, event: Event, /) -> None:
        """Refuses: nothing happens to an execution that has closed."""
        raise TypeError(f"execution {self._number} has closed; its history cannot take the event {event['eventType']}")

"""Executions: the open ones in memory once they have been touched, the closed ones in the database."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, Final

from flowpy.local.engine.query import Query
from flowpy.local.engine.runs import Runs
from flowpy.local.engine.state import Execution
from flowpy.local.store.documents import decode_execution, decode_open, key
from flowpy.local.store.histories import StoredEvents, read_events
from flowpy.local.store.queries import count_sql, select_sql

__all__ = ["StoredRuns"]

_COLUMNS: Final = "number, run_id, closed, close_status, expires, length, fixed, state"
_SELECT: Final = f"SELECT {_COLUMNS} FROM executions WHERE"  # noqa: S608
_OPEN: Final = "SELECT event_id, body FROM open WHERE execution = ? ORDER BY event_id"
_BATCH: Final = 100
"""So many executions at most are deleted in one transaction, lest one call pay for all that expired at once."""


class StoredRuns(Runs):
    """The executions of one database.

    Args:
        database: Where they are.
        flush: Writes what the transaction under way has changed, without committing it.
    """

    def __init__(self, database: sqlite3.Connection, flush: Callable[[], None]) -> None:
        self._database = database
        self._flush = flush
        # None: open, and not yet read since the engine started.
        self._open: dict[str, Execution | None] = {}
        # Those of the transaction under way: what two parts of it do to an execution, they do to one object.
        self._closed: dict[str, Execution] = {}
        self._next_expiry = self._find_next_expiry()

    def __getitem__(self, run_id: str, /) -> Execution:
        run = self.get(run_id)
        if run is None:
            raise KeyError(run_id)
        return run

    def get(self, run_id: str, /) -> Execution | None:
        run = self._open.get(run_id) or self._closed.get(run_id)
        return run if run is not None else self._read(run_id)

    def get_open(self, run_id: str, /) -> Execution | None:
        return self.get(run_id) if run_id in self._open else None

    def values(self) -> Iterator[Execution]:
        self._flush()
        for (run_id,) in self._database.execute("SELECT run_id FROM executions ORDER BY number").fetchall():
            yield self[run_id]

    def add(self, run: Execution) -> None:
        self._open[run.run_id] = run

    def unread(self) -> Iterator[Execution]:
        """The open executions as the database has them; they are read again when they are needed."""
        for row in self._database.execute(f"{_SELECT} closed IS NULL ORDER BY number"):
            run = self._make(row)
            self._fill(run)
            self._open[run.run_id] = None
            yield run

    def retain(self, run: Execution, until: float) -> None:
        self._next_expiry = min(self._next_expiry, until)
        del self._open[run.run_id]
        self._closed[run.run_id] = run

    def forget(self, now: float, needed: Callable[[str], bool]) -> None:
        if now < self._next_expiry:
            return
        self._flush()
        expired = "SELECT number, run_id FROM executions WHERE closed IS NOT NULL AND expires <= ? ORDER BY expires"
        for number, run_id in self._database.execute(f"{expired} LIMIT {_BATCH}", (now,)).fetchall():
            if needed(run_id):
                break
            self._delete(number, run_id)
        self._next_expiry = self._find_next_expiry()

    def _delete(self, number: int, run_id: str) -> None:
        run = self[run_id]
        for tag in run.tag_list:
            values = (key(run.domain), key(tag), number)
            self._database.execute("DELETE FROM tags WHERE domain = ? AND tag = ? AND number = ?", values)
        self._database.execute("DELETE FROM events WHERE execution = ?", (number,))
        self._database.execute("DELETE FROM open WHERE execution = ?", (number,))
        self._database.execute("DELETE FROM executions WHERE number = ?", (number,))
        del self._closed[run_id]

    def select(self, query: Query, start: int, stop: int) -> list[Execution]:
        self._flush()
        rows = self._database.execute(*select_sql(query, _COLUMNS, start, stop)).fetchall()
        return [self._open.get(row[1]) or self._make(row) for row in rows]

    def count(self, query: Query) -> int:
        self._flush()
        (found,) = self._database.execute(*count_sql(query)).fetchone()
        return int(found)

    def settle(self) -> None:
        """The transaction is over."""
        self._closed.clear()

    def _read(self, run_id: str) -> Execution | None:
        row = self._database.execute(f"{_SELECT} run_id = ?", (key(run_id),)).fetchone()
        if row is None:
            return None
        run = self._make(row)
        self._fill(run)
        if run.is_open:
            # It goes on, so that its history is needed from now on, and grows.
            run.events = read_events(self._database, run.number, 0, run.stored)
            self._open[run_id] = run
        else:
            self._closed[run_id] = run
        return run

    def _make(self, row: tuple[Any, ...]) -> Execution:
        number, _, closed, close_status, expires, length, fixed, state = row
        run = decode_execution(fixed, state)
        run.number, run.stored = number, length
        run.closed, run.close_status, run.expires = closed, close_status or "", expires or 0.0
        run.events = StoredEvents(self._database, number, length)
        return run

    def _fill(self, run: Execution) -> None:
        """Adds what is open; lists do without it."""
        for event_id, body in self._database.execute(_OPEN, (run.number,)):
            decode_open(run, event_id, body)

    def _find_next_expiry(self) -> float:
        (found,) = self._database.execute("SELECT min(expires) FROM executions WHERE closed IS NOT NULL").fetchone()
        return math.inf if found is None else float(found)

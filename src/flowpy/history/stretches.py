"""Episodes of the plainest kind, cut many at a time.

Most decision tasks of most runs are alike: activities scheduled, activities ended, the next decision task, and nothing
recorded while it was being decided. Written as one letter for each event, such stretches are found by searching text,
which CPython does in C. Only what is plainly right is taken; all else, and whatever is wrong, is left to ``Episodes``,
which cuts event by event and knows what to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress
from operator import itemgetter
from typing import Any, Final

from flowpy.history.events import ATTRIBUTES, Event

__all__ = ["COMPLETED", "STARTED", "Places", "known", "letter_table", "letters_of", "parts_of", "places"]

_SCHEDULED: Final = b"A"
"""ActivityTaskScheduled."""
_SEEN: Final = b"E"
"""An event that code sees, whatever it holds."""
_UNSEEN: Final = b"u"
"""An event that reaches nobody."""
STARTED: Final = b"s"
"""DecisionTaskStarted."""
COMPLETED: Final = b"c"
"""DecisionTaskCompleted."""
_OTHER: Final = b"?"
"""An event of which more than its type must be known."""
_PLAIN: Final = _SCHEDULED + _SEEN + _UNSEEN

_ATTRIBUTES: Final = itemgetter("activityTaskScheduledEventAttributes")
_DECIDED_BY: Final = itemgetter("decisionTaskCompletedEventId")


def letter_table(unseen: Iterable[str], other: Iterable[str]) -> dict[str, int]:
    """The letter of each eventType.

    Args:
        unseen: Types that reach nobody.
        other: Types of which more must be known, unless they have a letter of their own; all the rest code sees.
    """
    return {
        **dict.fromkeys(ATTRIBUTES, _SEEN[0]),
        **dict.fromkeys(unseen, _UNSEEN[0]),
        **dict.fromkeys(other, _OTHER[0]),
        "ActivityTaskScheduled": _SCHEDULED[0],
        "DecisionTaskStarted": STARTED[0],
        "DecisionTaskCompleted": COMPLETED[0],
    }


def letters_of(events: list[Event], table: Mapping[str, int]) -> bytes:
    """The events as text, a letter each.

    Args:
        events: The events.
        table: The letter of each eventType; what is not in it is an event that code sees.
    """
    try:
        return bytes([table[event["eventType"]] for event in events])
    except (LookupError, TypeError):
        return b"".join([_letter_of(event, table) for event in events])


def _letter_of(event: Any, table: Mapping[str, int]) -> bytes:
    try:
        kind = event["eventType"]
        return bytes([table[kind]]) if kind in table else _SEEN
    except (LookupError, TypeError):
        return _OTHER  # it has no eventType, or is no dict


def _is_plain(text: bytes) -> bool:
    """Whether events only schedule activities, are seen by code, or by nobody."""
    return not text.strip(_PLAIN)


def _chosen(events: list[Event], text: bytes, letter: bytes) -> list[Event]:
    """The events of one letter."""
    return list(compress(events, map(letter[0].__eq__, text))) if letter in text else []


def _are_of(scheduled: list[Event], completed: Any) -> bool:
    """Whether activities were all scheduled by one decision."""
    try:
        return set(map(_DECIDED_BY, map(_ATTRIBUTES, scheduled))) <= {completed}
    except (LookupError, TypeError):
        return False


def parts_of(events: list[Event], text: bytes, completed: Any) -> tuple[list[Event], list[Event]] | None:
    """The activities that events schedule, and what code sees of them.

    Args:
        events: Events of one decision task.
        text: Their letters.
        completed: Id of the DecisionTaskCompleted that the activities must be of.

    Returns:
        None if they are not plain, or are of another decision.
    """
    if not _is_plain(text):
        return None
    scheduled = _chosen(events, text, _SCHEDULED)
    return (scheduled, _chosen(events, text, _SEEN)) if _are_of(scheduled, completed) else None


Places = tuple[int, int, int, int]
"""Where the activities scheduled begin and end in a stretch, and what code sees, counted from the event before it."""

known: Final[dict[bytes, Places]] = {}
"""The stretches met before: the same few come again and again."""
_MOST: Final = 4_096
_NOT_PLAIN: Final = (-1, -1, -1, -1)


def places(text: bytes) -> Places:
    """Where the parts of a stretch stand.

    Args:
        text: Letters of the events between a DecisionTaskCompleted and the next DecisionTaskStarted.

    Returns:
        Negative numbers if it is not plain, or if a part of it does not stand together.
    """
    if len(known) >= _MOST:
        known.clear()
    found = (*_place(text, _SCHEDULED), *_place(text, _SEEN)) if _is_plain(text) else _NOT_PLAIN
    known[text] = found if min(found) >= 0 else _NOT_PLAIN
    return known[text]


def _place(text: bytes, letter: bytes) -> tuple[int, int]:
    begin, end = text.find(letter), text.rfind(letter) + 1
    if begin < 0:
        return 0, 0
    return (begin + 1, end + 1) if text.count(letter) == end - begin else (-1, -1)

"""Episodes of the plainest kind, cut many at a time.

Most decision tasks of most runs are alike: activities scheduled, activities ended, the next decision task, and nothing
recorded while it was being decided. Written as one letter for each event, such stretches are found by searching text,
which CPython does in C. Only what is plainly right is taken; all else, and whatever is wrong, is left to ``Episodes``,
which cuts event by event and knows what to say.
"""

from __future__ import annotations

from itertools import compress
from operator import itemgetter
from typing import Any, Final

from flowpy.history.events import Event

__all__ = [
    "SCHEDULED",
    "SEEN",
    "Letters",
    "Places",
    "are_of",
    "chosen",
    "is_plain",
    "known",
    "letters_of",
    "places",
]

SCHEDULED: Final = "A"
"""ActivityTaskScheduled."""
SEEN: Final = "E"
"""An event that code sees, whatever it holds."""
_UNSEEN: Final = "u"
_OTHER: Final = "?"
_PLAIN: Final = SCHEDULED + SEEN + _UNSEEN

_KIND: Final = itemgetter("eventType")
_ATTRIBUTES: Final = itemgetter("activityTaskScheduledEventAttributes")
_DECIDED_BY: Final = itemgetter("decisionTaskCompletedEventId")


class Letters(dict[str, str]):
    """A letter for each eventType; what is not in the table is an event that code sees."""

    def __missing__(self, kind: str) -> str:
        return SEEN


def letters_of(events: list[Event], table: Letters) -> str:
    """The events as text, a letter each."""
    try:
        return "".join(map(table.__getitem__, map(_KIND, events)))
    except (LookupError, TypeError):
        return _OTHER * len(events)  # one has no eventType, or is no dict


def is_plain(text: str) -> bool:
    """Whether events only schedule activities, are seen by code, or by nobody."""
    return not text.strip(_PLAIN)


def chosen(events: list[Event], text: str, letter: str) -> list[Event]:
    """The events of one letter."""
    return list(compress(events, map(letter.__eq__, text))) if letter in text else []


def are_of(scheduled: list[Event], completed: Any) -> bool:
    """Whether activities were all scheduled by one decision."""
    try:
        return set(map(_DECIDED_BY, map(_ATTRIBUTES, scheduled))) == {completed}
    except (LookupError, TypeError):
        return False


Places = tuple[int, int, int, int]
"""Where the activities scheduled begin and end in a stretch, and what code sees, counted from the event before it."""

known: Final[dict[str, Places]] = {}
"""The stretches met before: the same few come again and again."""
_MOST: Final = 4_096
_NOT_PLAIN: Final = (-1, -1, -1, -1)


def places(text: str) -> Places:
    """Where the parts of a stretch stand.

    Args:
        text: Letters of the events between a DecisionTaskCompleted and the next DecisionTaskStarted.

    Returns:
        Negative numbers if it is not plain, or if a part of it does not stand together.
    """
    if len(known) >= _MOST:
        known.clear()
    found = (*_place(text, SCHEDULED), *_place(text, SEEN)) if is_plain(text) else _NOT_PLAIN
    known[text] = found if min(found) >= 0 else _NOT_PLAIN  # type: ignore[assignment] # twice two are four
    return known[text]


def _place(text: str, letter: str) -> tuple[int, int]:
    begin, end = text.find(letter), text.rfind(letter) + 1
    if begin < 0:
        return 0, 0
    return (begin + 1, end + 1) if text.count(letter) == end - begin else (-1, -1)

"""Episodes of the plainest kind, cut many at a time.

Most decision tasks of most runs are alike: activities scheduled, activities ended, the next decision task, and nothing
recorded while it was being decided. Written as one letter for each event, such stretches are found by searching text,
which CPython does in C. Only what is plainly right is taken; all else, and whatever is wrong, is left to ``Episodes``,
which cuts event by event and knows what to say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import compress
from operator import itemgetter
from typing import Any, Final

from flowpy.history.events import Event

__all__ = ["STARTED", "Stretch", "answers_are_of", "letters", "stretch"]

COMPLETED: Final = "c"
STARTED: Final = "s"
_SCHEDULED: Final = "A"
_SEEN: Final = "E"
_UNSEEN: Final = "u"
_OTHER: Final = "?"
_PLAIN: Final = frozenset((_SCHEDULED, _SEEN, _UNSEEN))

_KEPT: Final = 24
"""Letters of the longest stretch whose shape is remembered: short ones recur, long ones are all different."""


class Letters(dict[str, str]):
    """A letter for each eventType; what is not in the table is an event that code sees."""

    def __missing__(self, kind: str) -> str:
        return _SEEN


def letters(events: list[Event], of: Letters) -> str:
    """The events as text, a letter each.

    Raises:
        KeyError: An event has no eventType.
        TypeError: An event is no dict, or its type cannot be looked up.
    """
    return "".join(map(of.__getitem__, map(_KIND, events)))


_KIND: Final = itemgetter("eventType")
_ATTRIBUTES: Final = itemgetter("activityTaskScheduledEventAttributes")
_DECIDED_BY: Final = itemgetter("decisionTaskCompletedEventId")

Stretch = tuple[Callable[[list[Event]], list[Event]], Callable[[list[Event]], list[Event]]]
"""Of the events of a stretch, the transaction that it begins with, and what code sees."""


def stretch(text: str) -> Stretch | None:
    """How to cut the events from one DecisionTaskCompleted up to the next, which is to follow its start at once.

    Args:
        text: Their letters, both ends included.

    Returns:
        None if it is not of the plain kind.
    """
    if text[-1] != COMPLETED or not _PLAIN.issuperset(text[1:-2]):
        return None
    return _short(text) if len(text) <= _KEPT else _long(text)


@lru_cache(maxsize=4096)
def _short(text: str) -> Stretch:
    answers, seen = _span(text, _SCHEDULED), _span(text, _SEEN)
    if answers is None or seen is None:
        return _long(text)
    return itemgetter(answers), itemgetter(seen)


def _span(text: str, letter: str) -> slice | None:
    """Where a letter stands, if all of it stands together."""
    begin, end = text.find(letter), text.rfind(letter) + 1
    if begin < 0:
        return slice(0, 0)
    return slice(begin, end) if text.count(letter) == end - begin else None


def _long(text: str) -> Stretch:
    def cut(letter: str) -> Callable[[list[Event]], list[Event]]:
        wanted = [each == letter for each in text]
        return lambda events: list(compress(events, wanted))

    return cut(_SCHEDULED), cut(_SEEN)


def answers_are_of(answers: list[Event], completed: Any) -> bool:
    """Whether scheduled activities all belong to one decision."""
    return {*map(_DECIDED_BY, map(_ATTRIBUTES, answers))} <= {completed}

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

__all__ = ["LONG", "Letters", "Way", "letters", "long_way", "short_way"]

_COMPLETED: Final = "c"
_SCHEDULED: Final = "A"
_SEEN: Final = "E"
_UNSEEN: Final = "u"
_OTHER: Final = "?"
_PLAIN: Final = frozenset((_SCHEDULED, _SEEN, _UNSEEN))

LONG: Final = 24
"""Letters from which on a stretch is long."""


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

Way = tuple[Callable[[list[Event]], list[Event]], Callable[[list[Event]], list[Event]]]
"""Of the events of a stretch, the transaction that it begins with, and what code sees."""


@lru_cache(maxsize=4096)
def short_way(text: str) -> Way | None:
    """The same for a short stretch, whose letters come again and again: what was found is remembered."""
    answers, seen = _span(text, _SCHEDULED), _span(text, _SEEN)
    if answers is None or seen is None or not _is_plain(text):
        return long_way(text)
    return itemgetter(answers), itemgetter(seen)


def _is_plain(text: str) -> bool:
    return text[-1] == _COMPLETED and _PLAIN.issuperset(text[1:-2])


def _span(text: str, letter: str) -> slice | None:
    """Where a letter stands, if all of it stands together."""
    begin, end = text.find(letter), text.rfind(letter) + 1
    if begin < 0:
        return slice(0, 0)
    return slice(begin, end) if text.count(letter) == end - begin else None


def long_way(text: str) -> Way | None:
    """How to cut the events from one DecisionTaskCompleted up to the next, which is to follow its start at once.

    Args:
        text: Their letters, both ends included.

    Returns:
        None if it is not of the plain kind.
    """
    if not _is_plain(text):
        return None

    def cut(letter: str) -> Callable[[list[Event]], list[Event]]:
        wanted = [each == letter for each in text]
        return lambda events: list(compress(events, wanted))

    return cut(_SCHEDULED), cut(_SEEN)

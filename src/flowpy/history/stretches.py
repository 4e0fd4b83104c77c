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

from flowpy.history.episode import Plain
from flowpy.history.events import ATTRIBUTES, Event
from flowpy.history.malformed import MALFORMED

__all__ = [
    "COMPLETED",
    "STARTED",
    "Places",
    "cut_stretches",
    "kinds_of",
    "letter_table",
    "letters_of",
    "parts_of",
    "parts_of_step",
    "places",
]

_SCHEDULED: Final = b"A"
"""ActivityTaskScheduled."""
_SEEN: Final = b"E"
"""An event that code sees, whatever it holds."""
_COMPLETION: Final = b"C"
"""ActivityTaskCompleted, which code sees."""
_UNSEEN: Final = b"u"
"""An event that reaches nobody."""
STARTED: Final = b"s"
"""DecisionTaskStarted."""
COMPLETED: Final = b"c"
"""DecisionTaskCompleted."""
_OTHER: Final = b"?"
"""An event of which more than its type must be known."""
_PLAIN: Final = _SCHEDULED + _SEEN + _COMPLETION + _UNSEEN

_ATTRIBUTES: Final = itemgetter("activityTaskScheduledEventAttributes")
_DECIDED_BY: Final = itemgetter("decisionTaskCompletedEventId")
_KIND: Final = itemgetter("eventType")


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
        "ActivityTaskCompleted": _COMPLETION[0],
        "DecisionTaskStarted": STARTED[0],
        "DecisionTaskCompleted": COMPLETED[0],
    }


def kinds_of(events: list[Event]) -> list[Any] | None:
    """The eventType of each event; None if one has none."""
    try:
        return list(map(_KIND, events))
    except (LookupError, TypeError):
        return None


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
    seen = _chosen(events, text.replace(_COMPLETION, _SEEN), _SEEN)
    return (scheduled, seen) if _are_of(scheduled, completed) else None


Places = tuple[int, int, int, int]
"""Where the activities scheduled begin and end in a stretch, and those completed, counted from the event before it."""

_known: Final[dict[bytes, Places]] = {}
"""The stretches met before: the same few come again and again."""
_steps: Final[dict[tuple[str, ...], Places]] = {}
"""The same for whole steps, by the types of their events."""
_known_places: Final = _known.get  # CPython 3.11 is slow to call a method of a name of the module
_known_step: Final = _steps.get
_MOST: Final = 4_096
"""So many of either are remembered; then both begin anew. Other threads may empty them at any time."""
_FEW: Final = 3
"""So few stretches are cut one by one as fast."""
_NOT_PLAIN: Final = (-1, -1, -1, -1)


def places(text: bytes) -> Places:
    """Where the parts of a stretch stand.

    Args:
        text: Letters of the events between a DecisionTaskCompleted and the next DecisionTaskStarted.

    Returns:
        Negative numbers if there is more in it than these, or if either do not stand together.
    """
    if len(_known) >= _MOST:
        _known.clear()
    found = (*_place(text, _SCHEDULED), *_place(text, _COMPLETION))
    if min(found) < 0 or not _is_plain(text) or _SEEN in text:
        found = _NOT_PLAIN
    _known[text] = found
    return found


def _place(text: bytes, letter: bytes) -> tuple[int, int]:
    begin, end = text.find(letter), text.rfind(letter) + 1
    if begin < 0:
        return 0, 0
    return (begin + 1, end + 1) if text.count(letter) == end - begin else (-1, -1)


def _step(events: list[Event], kinds: tuple[str, ...], table: Mapping[str, int]) -> Places:
    """Where the parts of a step stand: of events from a DecisionTaskCompleted to the next DecisionTaskStarted."""
    text = letters_of(events, table)
    ends = text.startswith(COMPLETED) and text.endswith(STARTED)
    if len(_steps) >= _MOST:
        _steps.clear()
    found = _steps[kinds] = places(text[1:-1]) if ends else _NOT_PLAIN
    return found


def parts_of_step(
    events: list[Event], table: Mapping[str, int], started: int
) -> tuple[list[Event], list[Event]] | None:
    """The activities that a decision scheduled, and those that the next decision task sees completed.

    Args:
        events: Events from the DecisionTaskCompleted to the next DecisionTaskStarted.
        table: The letter of each eventType.
        started: Id of the DecisionTaskStarted that was answered.

    Returns:
        None if there is more in the events, or something is not right.
    """
    try:
        kinds = (*map(_KIND, events),)
        scheduled, scheduled_end, ended, ended_end = _known_step(kinds) or _step(events, kinds, table)
        if scheduled < 0:
            return None
        answers = events[scheduled:scheduled_end]
        decision = events[0]
        attributes = decision["decisionTaskCompletedEventAttributes"]
        if attributes["startedEventId"] != started or "executionContext" in attributes:
            return None
        decided = decision["eventId"]
        for event in answers:  # mostly one, for which _are_of takes longer than all else here
            if event["activityTaskScheduledEventAttributes"]["decisionTaskCompletedEventId"] != decided:
                return None
    except MALFORMED:
        return None
    return answers, events[ended:ended_end]


Found = tuple[list[Event], list[Plain], tuple[list[Event], Event, Event], int]
"""The answers of the decision before some stretches, the episodes between them, what the last one brings (the events
that code sees, DecisionTaskStarted, DecisionTaskCompleted), and where it ends."""


def cut_stretches(events: list[Event], text: bytes, at: int, decided: int, context: str | None) -> Found | None:
    """Cut the plain stretches that follow a DecisionTaskCompleted.

    Args:
        events: The events.
        text: Their letters.
        at: Where the DecisionTaskCompleted is.
        decided: Its id.
        context: The executionContext that no stretch may change.

    Returns:
        None if the first of them is not plain, or not right.
    """
    stretches = text[at + 1 :].split(STARTED + COMPLETED)
    stretches.pop()
    found = None
    if len(stretches) >= _FEW and stretches.count(stretches[0]) == len(stretches):
        found = _all_alike(events, stretches, at, decided, context)
    return found or _one_by_one(events, stretches, at, decided, context)


def _one_by_one(
    events: list[Event], stretches: list[bytes], at: int, decided: int, context: str | None
) -> Found | None:
    cuts: list[Plain] = []
    first: list[Event] | None = None
    seen: list[Event] = []
    started = completed = events[at]
    try:
        for stretch in stretches:
            scheduled, scheduled_end, ended, ended_end = _known_places(stretch) or places(stretch)
            if scheduled < 0:
                break
            answers = events[at + scheduled : at + scheduled_end]
            if not _are_of(answers, decided):
                break
            end = at + len(stretch) + 2
            begun, decision = events[end - 1], events[end]
            attributes = decision["decisionTaskCompletedEventAttributes"]
            if attributes["startedEventId"] != begun["eventId"]:
                break
            if "executionContext" in attributes and attributes["executionContext"] != context:
                break
            decided = decision["eventId"]
            if first is None:
                first = answers
            else:
                cuts.append((answers, seen, started, completed))
            seen, started, completed = events[at + ended : at + ended_end], begun, decision
            at = end
    except MALFORMED:
        # Event by event it will be found what is wrong.
        pass
    return None if first is None else (first, cuts, (seen, started, completed), at)


def _all_alike(events: list[Event], stretches: list[bytes], at: int, decided: int, context: str | None) -> Found | None:
    """The same for stretches of one activity scheduled and one completed, all of one shape, in a few steps of C."""
    scheduled, scheduled_end, ended, ended_end = _known_places(stretches[0]) or places(stretches[0])
    if scheduled_end - scheduled != 1 or ended_end - ended != 1:
        return None
    width = len(stretches[0]) + 2
    end = at + width * len(stretches)
    answers = events[at + scheduled : end : width]
    begun, decisions = events[at + width - 1 : end : width], events[at + width : end + 1 : width]
    try:
        attributes = [event["decisionTaskCompletedEventAttributes"] for event in decisions]
        by = [decided, *[event["eventId"] for event in decisions]]
        if (
            [each["startedEventId"] for each in attributes] != [event["eventId"] for event in begun]
            or [event["activityTaskScheduledEventAttributes"]["decisionTaskCompletedEventId"] for event in answers]
            != by[:-1]
            or [each for each in attributes if "executionContext" in each and each["executionContext"] != context]
        ):
            return None
    except MALFORMED:
        return None
    own = [[event] for event in answers]
    seen = [[event] for event in events[at + ended : end : width]]
    return own[0], list(zip(own[1:], seen, begun, decisions, strict=False)), (seen[-1], begun[-1], decisions[-1]), end

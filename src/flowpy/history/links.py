"""Whether the events of a history refer to each other as SWF makes them do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flowpy.errors import HistoryError
from flowpy.history.events import LINKS, OPTIONAL_LINKS, Event, attributes
from flowpy.words import an

__all__ = ["check_links"]

_REMEDY: Final = "The file was edited or mixes two runs: record the history again."


def check_links(events: Sequence[Event]) -> None:
    """Check that every reference points to an earlier event of the right kind.

    Args:
        events: A whole history or the beginning of one: the event with id n stands at index n - 1.

    Raises:
        HistoryError: A reference that is missing, points forward, to another kind of event, or to the start of
            other work; names the event, the attribute and what is there instead.
    """
    for event in events:
        links = LINKS.get(event["eventType"])
        if links is None:
            continue
        found = attributes(event)
        for name, kinds in links.items():
            target = found.get(name)
            if type(target) is int and 0 < target < event["eventId"] and events[target - 1]["eventType"] in kinds:
                continue
            if not target and (event["eventType"], name) in OPTIONAL_LINKS:
                continue
            raise _broken(event, name, target, kinds, events)
        if "startedEventId" in links:
            _check_start(event, found, events)


def _check_start(event: Event, found: dict[str, Any], events: Sequence[Event]) -> None:
    """Check that the start an event names is the start of the work it names."""
    started = found.get("startedEventId")
    if not started:
        return
    start = attributes(events[started - 1])
    for name in ("scheduledEventId", "initiatedEventId", "timerId"):
        if name in found and found[name] != start.get(name):
            message = (
                f"event {event['eventId']} ({event['eventType']}) has {name} {found[name]!r:.80}, but event {started}, "
                f"its startedEventId, has {start.get(name)!r:.80}."
            )
            raise HistoryError(message, remedy=_REMEDY, event_id=event["eventId"])


def _broken(event: Event, name: str, target: object, kinds: Sequence[str], events: Sequence[Event]) -> HistoryError:
    number = event["eventId"]
    if target is None:
        there = "is absent"
    elif type(target) is not int:
        there = f"is {target!r:.80}, no event id"
    elif not 0 < target < number:
        there = f"is {target}, no earlier event"
    else:
        there = f"is {target}, which is {an(events[target - 1]['eventType'])}"
    message = f"event {number} ({event['eventType']}): its {name} {there}; it must be {an(' or '.join(kinds))}"
    return HistoryError(f"{message}.", remedy=_REMEDY, event_id=number)

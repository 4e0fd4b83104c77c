"""A history as a table that fits a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Event = dict[str, Any]

WIDTH = 80


def table(events: list[Event], width: int = WIDTH) -> Iterator[str]:
    """One line for each event but those of decision tasks: id, seconds since the start, type, what it is about.

    Args:
        events: A whole history, as boto3 gives it.
        width: Longest line.
    """
    told = [event for event in events if not event["eventType"].startswith("DecisionTask")]
    widest = max(len(event["eventType"]) for event in told)
    yield f" id  seconds  {'event':<{widest}}  about"
    for event in told:
        line = f"{event['eventId']:>3}  {elapsed(events, event):7.1f}  {event['eventType']:<{widest}}  "
        yield fitted(line + about(events, event), width).rstrip()


def count(events: list[Event], kind: str) -> int:
    """How many events are of a type."""
    return sum(event["eventType"] == kind for event in events)


def elapsed(events: list[Event], event: Event) -> float:
    """Seconds from the start of the run to an event."""
    since: float = (event["eventTimestamp"] - events[0]["eventTimestamp"]).total_seconds()
    return since


def about(events: list[Event], event: Event) -> str:
    """What an event is about: the activity or timer it belongs to, and what it carries."""
    told = attributes(event)
    scheduled = attributes(events[told["scheduledEventId"] - 1]) if "scheduledEventId" in told else {}
    seconds = f"{told['startToFireTimeout']} s" if "startToFireTimeout" in told else ""
    parts = [
        scheduled.get("activityId") or told.get("activityId") or told.get("timerId") or told.get("markerName") or "",
        told.get("workflowType", {}).get("name", ""),
        told.get("signalName", ""),
        told.get("cause") or told.get("timeoutType") or "",
        told.get("input") or told.get("result") or told.get("reason") or seconds,
    ]
    return " ".join(part for part in parts if part)


def attributes(event: Event) -> dict[str, Any]:
    """The attributes of an event, which lie under a name of its type's own."""
    kind = event["eventType"]
    own: dict[str, Any] = event.get(f"{kind[0].lower()}{kind[1:]}EventAttributes", {})
    return own


def fitted(line: str, width: int) -> str:
    """A line cut to a width, visibly, and free of what would disturb a terminal."""
    plain = "".join(char if char.isprintable() else " " for char in line)
    return plain if len(plain) <= width else plain[: width - 1] + "…"

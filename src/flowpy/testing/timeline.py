"""A history as a table of text: one line for each event, for reports and for eyes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from flowpy.history.events import Event, attributes, seconds

__all__ = ["timeline"]

_WIDTH: Final = 100
_MOST: Final = 60
_QUIET: Final = ("DecisionTaskScheduled", "DecisionTaskStarted", "DecisionTaskCompleted")
_IDS: Final = ("activityId", "timerId", "id", "signalName", "markerName", "control")
_SAID: Final = ("cause", "timeoutType", "input", "result", "reason", "startToFireTimeout")


def timeline(events: list[Event], *, most: int = _MOST, width: int = _WIDTH) -> str:
    """A history as a table: event id, time since the start, type, what it is about.

    Decision tasks that were answered are left out, as they stand between all others.

    Args:
        events: The events from 1, as boto3 gives them.
        most: How many lines at most; what is left out is left out in the middle.
        width: Longest line.
    """
    told = [event for event in events if event["eventType"] not in _QUIET]
    if not told:
        return "(no events)"
    lines = [_fitted(line, width) for line in _lines(events, told)]
    if len(lines) > most:
        kept = most // 2
        lines = [*lines[:kept], f"      … {len(lines) - 2 * kept} events left out …", *lines[-kept:]]
    return "\n".join(lines)


def _lines(events: list[Event], told: list[Event]) -> Iterator[str]:
    start = seconds(events[0])
    times = [_elapsed(seconds(event) - start) for event in told]
    latest, widest = max(map(len, times)), max(len(event["eventType"]) for event in told)
    for event, since in zip(told, times, strict=True):
        about = _about(events, event)
        yield f"{event['eventId']:>5}  {since:>{latest}}  {event['eventType']:<{widest}}  {about}".rstrip()


def _elapsed(span: float) -> str:
    days, rest = divmod(round(span), 86_400)
    clock = f"{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"
    return f"{days}d {clock}" if days else clock


def _about(events: list[Event], event: Event) -> str:
    """The activity, timer, child or signal it belongs to, and what it carries."""
    own = attributes(event)
    origin = own.get("scheduledEventId") or own.get("initiatedEventId")
    first = attributes(events[origin - 1]) if origin and 0 < origin <= len(events) else {}
    id = next((each[name] for each in (first, own) for name in _IDS if each.get(name)), "")
    type_ = own.get("workflowType") or {}
    child = own.get("workflowExecution") or {}
    said = next((own[name] for name in _SAID if own.get(name)), "")
    parts = [id, type_.get("name", ""), child.get("workflowId", "") if not id else "", said]
    return " ".join(str(part) for part in parts if part)


def _fitted(line: str, width: int) -> str:
    plain = "".join(char if char.isprintable() else " " for char in line)
    return plain if len(plain) <= width else plain[: width - 1] + "…"

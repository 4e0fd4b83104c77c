"""One execution: how it stands, its picture, what went in and came out, its events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from flowpy.console.payloads import Payload, payload_of
from flowpy.console.requests import Request
from flowpy.console.service import Service, history_of
from flowpy.history import CLOSE_EVENTS, attributes, seconds
from flowpy.view import Timeline, as_html, as_svg, timeline

__all__ = ["EventRow", "Relative", "execution", "execution_of", "page", "version_of"]

_EVENTS: Final = 100
_ROWS: Final = 40
_MOST_RELATIVES: Final = 50
_WIDTHS: Final = {"wide": 1_080, "narrow": 480}
_AGES: Final = 10.0
"""Seconds after which the ages on the page of an open execution are told anew, though nothing happened."""


@frozen
class EventRow:
    """One event.

    Attributes:
        id: Its eventId.
        at: Its time in epoch seconds.
        type: Its eventType.
        brief: What it is about, in a few words.
        attributes: Names and values.
    """

    id: int
    at: float
    type: str
    brief: str
    attributes: list[tuple[str, Payload]]


@frozen
class Relative:
    """Another execution that this one belongs together with.

    Attributes:
        role: Parent, child, ...
        workflow_id: Its workflowId.
        run_id: Its runId.
    """

    role: str
    workflow_id: str
    run_id: str


def execution_of(request: Request) -> dict[str, str]:
    """Which execution an address names.

    Raises:
        Refused: It names none.
    """
    return {"workflowId": request.asked("workflow_id"), "runId": request.asked("run_id")}


def version_of(service: Service, request: Request) -> str:
    """Differs as soon as the page of an execution would.

    Raises:
        ServiceError: SWF's fault.
    """
    asked = {"domain": request.asked("domain"), "execution": execution_of(request)}
    last = service.call("GetWorkflowExecutionHistory", {**asked, "reverseOrder": True, "maximumPageSize": 1})
    event = last["events"][0]
    if event["eventType"] in CLOSE_EVENTS:
        return str(event["eventId"])
    return f"{event['eventId']} {service.clock.now() // _AGES:.0f}"


def execution(service: Service, request: Request) -> dict[str, Any]:
    """What the page of an execution shows.

    Raises:
        ServiceError: SWF's fault.
        Refused: The address names no execution.
    """
    version = version_of(service, request)
    domain, reference = request.asked("domain"), execution_of(request)
    described = service.call("DescribeWorkflowExecution", {"domain": domain, "execution": reference})
    shown = _timeline(service, domain, reference)
    events = list(shown.events)
    started, last = attributes(events[0]), events[-1]
    outcome = attributes(last) if last["eventType"] in CLOSE_EVENTS else {}
    until = _number(request.query.get("until", ""), len(events))
    return {
        "version": version,
        "domain": domain,
        "info": described["executionInfo"],
        "config": described["executionConfiguration"],
        "context": payload_of(context) if (context := described.get("latestExecutionContext")) else None,
        "timeline": shown,
        "pictures": {name: as_svg(shown, width=width, most=_ROWS, heading=False) for name, width in _WIDTHS.items()},
        "input": payload_of(started["input"]) if "input" in started else None,
        "outcome": [(name, payload_of(outcome[name])) for name in ("result", "reason", "details") if name in outcome],
        "close_type": last["eventType"] if outcome or last["eventType"] in CLOSE_EVENTS else "",
        "relatives": list(_relatives(events, reference["workflowId"])),
        "events": [_row(event) for event in reversed(events[max(0, until - _EVENTS) : until])],
        "last_event": len(events),
        "until": until,
        "earlier": max(0, until - _EVENTS),
        "later": min(len(events), until + _EVENTS) if until < len(events) else 0,
        "now": service.clock.now(),
    }


def page(service: Service, request: Request) -> str:
    """The timeline of an execution as a page of its own, with zoom and filters.

    Raises:
        ServiceError: SWF's fault.
        Refused: The address names no execution.
    """
    return as_html(_timeline(service, request.asked("domain"), execution_of(request)))


def _timeline(service: Service, domain: str, reference: dict[str, str]) -> Timeline:
    events = history_of(service, domain, reference)
    return timeline(events, now=service.clock.now(), workflow_id=reference["workflowId"], run_id=reference["runId"])


def _number(text: str, most: int) -> int:
    """An event number of the query; the last one if it is none."""
    return min(max(int(text), 1), most) if text.isascii() and text.isdigit() and len(text) < 10 else most


def _row(event: dict[str, Any]) -> EventRow:
    found = attributes(event)
    return EventRow(
        event["eventId"],
        seconds(event),
        event["eventType"],
        _brief(found),
        [(name, payload_of(value)) for name, value in found.items()],
    )


_TELLING: Final = ("activityId", "timerId", "signalName", "markerName", "name", "workflowId", "cause", "timeoutType")


def _brief(found: dict[str, Any]) -> str:
    """The type, the id and the reason, of those that there are."""
    types = (found[key] for key in ("activityType", "workflowType") if key in found)
    words = [f"{each['name']} {each['version']}" for each in types]
    words += [str(found[key]) for key in _TELLING if found.get(key)]
    if isinstance(found.get("workflowExecution"), dict):
        words.append(str(found["workflowExecution"]["workflowId"]))
    words += [str(found[key]) for key in ("reason", "result", "identity") if found.get(key)]
    return ", ".join(map(_one_line, words))


def _one_line(text: str) -> str:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = text
    text = parsed if isinstance(parsed, str) else text
    return text if len(text) <= 80 else f"{text[:79]}…"


def _relatives(events: list[dict[str, Any]], workflow_id: str) -> Iterator[Relative]:
    started, last = attributes(events[0]), attributes(events[-1])
    if parent := started.get("parentWorkflowExecution"):
        yield Relative("parent", parent["workflowId"], parent["runId"])
    if before := started.get("continuedExecutionRunId"):
        yield Relative("continued from", workflow_id, before)
    if after := last.get("newExecutionRunId"):
        yield Relative("continued as", workflow_id, after)
    children = (event for event in events if event["eventType"] == "ChildWorkflowExecutionStarted")
    for _, event in zip(range(_MOST_RELATIVES), children, strict=False):
        child = attributes(event)["workflowExecution"]
        yield Relative("child", child["workflowId"], child["runId"])

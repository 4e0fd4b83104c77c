"""Which recorded event answers which decision (CONTRACTS §3), and how the two are matched by id."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from attrs import frozen

from flowpy.data.limits import DATA
from flowpy.data.sealing import SEALED
from flowpy.history.episode import Episode
from flowpy.history.episodes import AGAIN_PREFIX
from flowpy.history.events import ATTRIBUTES, Event, attributes_key
from flowpy.replay.entities import Marker, decision_key
from flowpy.replay.outbox import MAX_BYTES, MAX_DECISIONS, size_of

PATCH: Final = "flowpy.patch"
SIDE_EFFECT: Final = "flowpy.side_effect"
"""Names of the markers in which answers of ``patched`` and values of ``side_effect`` are kept."""


@frozen
class Answer:
    """How to read one kind of event that answers a decision.

    Attributes:
        decision_type: The decision it answers.
        attributes: Key of the event's attributes.
        id: Reads the id of the decision from the attributes.
        failed: The service refused the decision.
    """

    decision_type: str
    attributes: str
    id: Callable[[dict[str, Any]], str]
    failed: bool


def marker_id(details: str | None) -> str:
    """The id inside the details of a marker of ours, "" if there is none."""
    try:
        read = json.loads(details or "")
    except ValueError:
        return ""
    return str(read.get("id", "")) if isinstance(read, dict) else ""


def _marker(attributes: dict[str, Any]) -> str:
    return f"{attributes['markerName']}\0{marker_id(attributes.get('details'))}"


def _attribute(name: str) -> Callable[[dict[str, Any]], str]:
    def read(attributes: dict[str, Any]) -> str:
        # Only ``control`` may be absent: another SDK made the request.
        return str(attributes.get(name, "") if name == "control" else attributes[name])

    return read


def _rows() -> dict[str, Answer]:
    rows = {
        ("ScheduleActivityTask", "activityId"): ("ActivityTaskScheduled", "ScheduleActivityTaskFailed"),
        ("RequestCancelActivityTask", "activityId"): ("ActivityTaskCancelRequested", "RequestCancelActivityTaskFailed"),
        ("StartTimer", "timerId"): ("TimerStarted", "StartTimerFailed"),
        ("CancelTimer", "timerId"): ("TimerCanceled", "CancelTimerFailed"),
        ("StartChildWorkflowExecution", "workflowId"): (
            "StartChildWorkflowExecutionInitiated",
            "StartChildWorkflowExecutionFailed",
        ),
        ("SignalExternalWorkflowExecution", "control"): ("SignalExternalWorkflowExecutionInitiated", ""),
        ("RequestCancelExternalWorkflowExecution", "control"): ("RequestCancelExternalWorkflowExecutionInitiated", ""),
        ("ScheduleLambdaFunction", "id"): ("LambdaFunctionScheduled", "ScheduleLambdaFunctionFailed"),
    }
    table: dict[str, Answer] = {}
    for (decision_type, attribute), events in rows.items():
        for event, refused in zip(events, (False, True), strict=True):
            if event:
                table[event] = Answer(decision_type, ATTRIBUTES[event], _attribute(attribute), refused)
    table["MarkerRecorded"] = Answer("RecordMarker", ATTRIBUTES["MarkerRecorded"], _marker, False)
    # RecordMarkerFailed carries no details: it can only be matched by name, see Matching.
    failed = "RecordMarkerFailed"
    table[failed] = Answer("RecordMarker", ATTRIBUTES[failed], _attribute("markerName"), True)
    return table


ANSWERS: Final = _rows()
"""Event type → how it answers a decision; the closing events are in CLOSES."""

CLOSES: Final = {
    "WorkflowExecutionCompleted": ("CompleteWorkflowExecution", False),
    "CompleteWorkflowExecutionFailed": ("CompleteWorkflowExecution", True),
    "WorkflowExecutionFailed": ("FailWorkflowExecution", False),
    "FailWorkflowExecutionFailed": ("FailWorkflowExecution", True),
    "WorkflowExecutionCanceled": ("CancelWorkflowExecution", False),
    "CancelWorkflowExecutionFailed": ("CancelWorkflowExecution", True),
    "WorkflowExecutionContinuedAsNew": ("ContinueAsNewWorkflowExecution", False),
    "ContinueAsNewWorkflowExecutionFailed": ("ContinueAsNewWorkflowExecution", True),
}
"""Closing event type → (the decision it answers, whether it was refused)."""


def goes_on(episode: Episode) -> bool:
    """Whether the recorded batch of an episode ends with a ``flowpy.again`` timer."""
    return any(
        event["eventType"] == "TimerStarted"
        and event["timerStartedEventAttributes"]["timerId"].startswith(AGAIN_PREFIX)
        for event in episode.answers or ()
    )


_LARGEST_MARKER: Final = 6 * DATA + 1_000
"""Bytes that one more RecordMarker can have in a batch: a control character takes six."""


def markers_may_wait(episodes: Iterable[Episode]) -> bool:
    """Whether markers of the first of some episodes may still be unsent.

    They may if its batches hold as many as fit, and the last is not decided.

    Markers go before all other decisions, so nothing that depends on one that waits can have been sent.
    """
    for episode in episodes:
        if episode.answers is None:
            return True
        key = "markerRecordedEventAttributes"
        recorded = [event.get(SEALED, event)[key] for event in episode.answers if key in event]
        markers = [Marker("", one["markerName"], input=one.get("details")).decision() for one in recorded]
        if len(markers) < MAX_DECISIONS - 1 and size_of(markers) + _LARGEST_MARKER <= MAX_BYTES:
            return False
    return True


def recorded_markers(episodes: Iterable[Episode]) -> dict[tuple[str, str], str]:
    """The markers in the recorded batch of the first of some episodes and in those it overflowed into.

    They stand as (name, id) → details. A marker that SWF refused has no id any more: it stands as (name, "") → the
    cause.
    """
    found: dict[tuple[str, str], str] = {}
    for episode in episodes:
        again = False
        for event in episode.answers or ():
            kind = event["eventType"]
            if kind == "MarkerRecorded":
                attributes = event["markerRecordedEventAttributes"]
                details = attributes.get("details") or ""
                found[attributes["markerName"], marker_id(details)] = details
            elif kind == "RecordMarkerFailed":
                attributes = event["recordMarkerFailedEventAttributes"]
                found[attributes["markerName"], ""] = attributes["cause"]
            elif kind == "TimerStarted":
                again = again or event["timerStartedEventAttributes"]["timerId"].startswith(AGAIN_PREFIX)
        if not again:
            break
    return found


def as_recorded(answers: Iterable[Event], asked: str) -> list[dict[str, Any]]:
    """The decisions of a batch as far as history tells: what its answers repeat of them.

    Args:
        answers: The batch, in which a marker was refused: no replay can make its decisions any more.
        asked: Id of the first refused marker, which its answer does not repeat.
    """
    decisions = []
    for event in answers:
        kind, attributes = event["eventType"], event[attributes_key(event["eventType"])]
        decision_type = CLOSES[kind][0] if kind in CLOSES else ANSWERS[kind].decision_type
        repeated = {key: value for key, value in attributes.items() if key not in _ADDED}
        if kind == "RecordMarkerFailed":
            repeated["details"], asked = json.dumps({"id": asked}), ""
        decisions.append({"decisionType": decision_type, decision_key(decision_type): repeated})
    return decisions


_ADDED: Final = frozenset(("decisionTaskCompletedEventId", "cause", "initiatedEventId", "startedEventId"))
"""What an answer has besides the attributes of its decision."""


def describe(event: Event) -> str:
    """A recorded answer in the words of the decision it answers, for reports."""
    kind = event["eventType"]
    if kind in CLOSES:
        return CLOSES[kind][0]
    answer = ANSWERS[kind]
    attributes = event[answer.attributes]
    id = answer.id(attributes).rpartition("\0")[2]
    typed = attributes.get("activityType") or attributes.get("workflowType") or {}
    name = " ".join(
        str(part)
        for part in (
            typed.get("name") or attributes.get("name") or attributes.get("signalName") or attributes.get("markerName"),
            typed.get("version"),
        )
        if part
    )
    external = "control" in attributes and "workflowId" in attributes and not typed
    target = f" to {attributes['workflowId']}" if external else ""
    return f"{answer.decision_type}({id}{target}{': ' + name if name else ''})"

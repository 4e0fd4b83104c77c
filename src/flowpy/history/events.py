"""The 54 event types of SWF as tables, and how to read one event (SWF API 2012-01-25, ``HistoryEvent``)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from flowpy.history.timestamps import instant

__all__ = [
    "ATTRIBUTES",
    "CLOSE_EVENTS",
    "DECISION_EVENTS",
    "LINKS",
    "OPTIONAL_LINKS",
    "Event",
    "attributes",
    "attributes_key",
    "seconds",
]

Event: TypeAlias = dict[str, Any]
"""One history event in boto3's form: ``eventId``, ``eventTimestamp``, ``eventType`` and its attributes."""


def attributes_key(event_type: str) -> str:
    """Name the member that holds the attributes of an event of this type.

    Args:
        event_type: SWF's ``eventType``; types unknown to this table follow the same rule.

    Returns:
        For example ``timerFiredEventAttributes`` for ``TimerFired``.
    """
    return f"{event_type[:1].lower()}{event_type[1:]}EventAttributes"


DECISION_EVENTS: Final[Mapping[str, str]] = {
    "ActivityTaskScheduled": "ScheduleActivityTask",
    "ScheduleActivityTaskFailed": "ScheduleActivityTask",
    "ActivityTaskCancelRequested": "RequestCancelActivityTask",
    "RequestCancelActivityTaskFailed": "RequestCancelActivityTask",
    "TimerStarted": "StartTimer",
    "StartTimerFailed": "StartTimer",
    "TimerCanceled": "CancelTimer",
    "CancelTimerFailed": "CancelTimer",
    "StartChildWorkflowExecutionInitiated": "StartChildWorkflowExecution",
    "StartChildWorkflowExecutionFailed": "StartChildWorkflowExecution",
    "SignalExternalWorkflowExecutionInitiated": "SignalExternalWorkflowExecution",
    "RequestCancelExternalWorkflowExecutionInitiated": "RequestCancelExternalWorkflowExecution",
    "LambdaFunctionScheduled": "ScheduleLambdaFunction",
    "ScheduleLambdaFunctionFailed": "ScheduleLambdaFunction",
    "MarkerRecorded": "RecordMarker",
    "RecordMarkerFailed": "RecordMarker",
    "WorkflowExecutionCompleted": "CompleteWorkflowExecution",
    "CompleteWorkflowExecutionFailed": "CompleteWorkflowExecution",
    "WorkflowExecutionFailed": "FailWorkflowExecution",
    "FailWorkflowExecutionFailed": "FailWorkflowExecution",
    "WorkflowExecutionCanceled": "CancelWorkflowExecution",
    "CancelWorkflowExecutionFailed": "CancelWorkflowExecution",
    "WorkflowExecutionContinuedAsNew": "ContinueAsNewWorkflowExecution",
    "ContinueAsNewWorkflowExecutionFailed": "ContinueAsNewWorkflowExecution",
}
"""Event types that answer a decision, each with the decision type it answers.

``StartChildWorkflowExecutionFailed`` answers a decision only where its ``initiatedEventId`` is 0; with an id it is a
later result. ``SignalExternalWorkflowExecutionFailed`` and ``RequestCancelExternalWorkflowExecutionFailed`` are later
results as well, although they carry a ``decisionTaskCompletedEventId``.
"""

CLOSE_EVENTS: Final[frozenset[str]] = frozenset(
    {
        "WorkflowExecutionCanceled",
        "WorkflowExecutionCompleted",
        "WorkflowExecutionContinuedAsNew",
        "WorkflowExecutionFailed",
        "WorkflowExecutionTerminated",
        "WorkflowExecutionTimedOut",
    }
)
"""Event types that end a run; such an event is the last one of its history."""

_DECIDED: Final = {"decisionTaskCompletedEventId": ("DecisionTaskCompleted",)}
_DECISION_SCHEDULED: Final = {"scheduledEventId": ("DecisionTaskScheduled",)}
_DECISION_ENDED: Final = {**_DECISION_SCHEDULED, "startedEventId": ("DecisionTaskStarted",)}
_ACTIVITY_SCHEDULED: Final = {"scheduledEventId": ("ActivityTaskScheduled",)}
_ACTIVITY_ENDED: Final = {**_ACTIVITY_SCHEDULED, "startedEventId": ("ActivityTaskStarted",)}
_TIMER_STARTED: Final = {"startedEventId": ("TimerStarted",)}
_CHILD_INITIATED: Final = {"initiatedEventId": ("StartChildWorkflowExecutionInitiated",)}
_CHILD_ENDED: Final = {**_CHILD_INITIATED, "startedEventId": ("ChildWorkflowExecutionStarted",)}
_SIGNAL_INITIATED: Final = {"initiatedEventId": ("SignalExternalWorkflowExecutionInitiated",)}
_CANCEL_INITIATED: Final = {"initiatedEventId": ("RequestCancelExternalWorkflowExecutionInitiated",)}
_LAMBDA_SCHEDULED: Final = {"scheduledEventId": ("LambdaFunctionScheduled",)}
_LAMBDA_ENDED: Final = {**_LAMBDA_SCHEDULED, "startedEventId": ("LambdaFunctionStarted",)}

LINKS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    **dict.fromkeys(DECISION_EVENTS, _DECIDED),
    "TimerCanceled": {**_TIMER_STARTED, **_DECIDED},
    "StartChildWorkflowExecutionFailed": {**_CHILD_INITIATED, **_DECIDED},
    "SignalExternalWorkflowExecutionFailed": {**_SIGNAL_INITIATED, **_DECIDED},
    "RequestCancelExternalWorkflowExecutionFailed": {**_CANCEL_INITIATED, **_DECIDED},
    "DecisionTaskStarted": _DECISION_SCHEDULED,
    "DecisionTaskCompleted": _DECISION_ENDED,
    "DecisionTaskTimedOut": _DECISION_ENDED,
    "ActivityTaskStarted": _ACTIVITY_SCHEDULED,
    "ActivityTaskCompleted": _ACTIVITY_ENDED,
    "ActivityTaskFailed": _ACTIVITY_ENDED,
    "ActivityTaskTimedOut": _ACTIVITY_ENDED,
    "ActivityTaskCanceled": {**_ACTIVITY_ENDED, "latestCancelRequestedEventId": ("ActivityTaskCancelRequested",)},
    "TimerFired": _TIMER_STARTED,
    "ChildWorkflowExecutionStarted": _CHILD_INITIATED,
    "ChildWorkflowExecutionCompleted": _CHILD_ENDED,
    "ChildWorkflowExecutionFailed": _CHILD_ENDED,
    "ChildWorkflowExecutionTimedOut": _CHILD_ENDED,
    "ChildWorkflowExecutionCanceled": _CHILD_ENDED,
    "ChildWorkflowExecutionTerminated": _CHILD_ENDED,
    "ExternalWorkflowExecutionSignaled": _SIGNAL_INITIATED,
    "ExternalWorkflowExecutionCancelRequested": _CANCEL_INITIATED,
    "LambdaFunctionStarted": _LAMBDA_SCHEDULED,
    "LambdaFunctionCompleted": _LAMBDA_ENDED,
    "LambdaFunctionFailed": _LAMBDA_ENDED,
    "LambdaFunctionTimedOut": _LAMBDA_ENDED,
    "StartLambdaFunctionFailed": _LAMBDA_SCHEDULED,
}
"""For each event type the attributes that are ids of earlier events, with the types such an event may have."""

OPTIONAL_LINKS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("DecisionTaskTimedOut", "startedEventId"),
        ("ActivityTaskTimedOut", "startedEventId"),
        ("ActivityTaskCanceled", "startedEventId"),
        ("ActivityTaskCanceled", "latestCancelRequestedEventId"),
        ("StartChildWorkflowExecutionFailed", "initiatedEventId"),
        ("SignalExternalWorkflowExecutionFailed", "initiatedEventId"),
        ("RequestCancelExternalWorkflowExecutionFailed", "initiatedEventId"),
        ("StartLambdaFunctionFailed", "scheduledEventId"),
    }
)
"""``(event type, attribute)`` of the links that may be 0 or absent."""

ATTRIBUTES: Final[Mapping[str, str]] = {
    event_type: attributes_key(event_type)
    for event_type in sorted(
        {
            *LINKS,
            *CLOSE_EVENTS,
            "DecisionTaskScheduled",
            "WorkflowExecutionCancelRequested",
            "WorkflowExecutionSignaled",
            "WorkflowExecutionStarted",
        }
    )
}
"""All 54 event types, each with the member that holds its attributes."""


def attributes(event: Event) -> dict[str, Any]:
    """Give the attributes of an event.

    Args:
        event: An event in boto3's form.

    Returns:
        The dict itself, not a copy; an empty one for an event of a type unknown here that has none.

    Raises:
        KeyError: An event of a known type without its attributes; ``read_history`` lets none through.
    """
    event_type: str = event["eventType"]
    key = ATTRIBUTES.get(event_type)
    found: dict[str, Any] = event.get(attributes_key(event_type), {}) if key is None else event[key]
    return found


def seconds(event: Event) -> float:
    """Give the time of an event.

    Args:
        event: An event whose ``eventTimestamp`` has any of the forms that ``read_history`` takes.

    Returns:
        Seconds since 1970-01-01 UTC, to the microsecond.

    Raises:
        ValueError: A timestamp of another form.
    """
    stamp = event["eventTimestamp"]
    if isinstance(stamp, datetime) and stamp.tzinfo is not None:
        return stamp.timestamp()
    return instant(stamp).timestamp()

"""What holds for every history of SWF; for tests.

`check_history` is independent of the engine: it knows events only, so it judges histories of any origin.
"""

from __future__ import annotations

from typing import Any, Final

from attrs import define, field

from flowpy.errors import HistoryError
from flowpy.local.engine.recording import WAKES
from flowpy.local.engine.state import attributes_key
from flowpy.words import an

__all__ = ["CLOSES", "LINKS", "check_history"]

CLOSES: Final = frozenset(
    f"WorkflowExecution{how}" for how in ("Completed", "Failed", "Canceled", "TimedOut", "Terminated", "ContinuedAsNew")
)
"""The events that end a history."""

_DECIDED: Final = {"decisionTaskCompletedEventId": "DecisionTaskCompleted"}
_DECISION: Final = {"scheduledEventId": "DecisionTaskScheduled", "startedEventId": "DecisionTaskStarted"}
_ACTIVITY: Final = {"scheduledEventId": "ActivityTaskScheduled", "startedEventId": "ActivityTaskStarted"}
_LAMBDA: Final = {"scheduledEventId": "LambdaFunctionScheduled", "startedEventId": "LambdaFunctionStarted"}
_CHILD: Final = {
    "initiatedEventId": "StartChildWorkflowExecutionInitiated",
    "startedEventId": "ChildWorkflowExecutionStarted",
}
_SIGNAL: Final = {"initiatedEventId": "SignalExternalWorkflowExecutionInitiated"}
_CANCEL: Final = {"initiatedEventId": "RequestCancelExternalWorkflowExecutionInitiated"}

LINKS: Final[dict[str, dict[str, str]]] = {
    "DecisionTaskStarted": {"scheduledEventId": "DecisionTaskScheduled"},
    "DecisionTaskCompleted": _DECISION,
    "DecisionTaskTimedOut": _DECISION,
    "ActivityTaskStarted": {"scheduledEventId": "ActivityTaskScheduled"},
    "ActivityTaskCompleted": _ACTIVITY,
    "ActivityTaskFailed": _ACTIVITY,
    "ActivityTaskTimedOut": _ACTIVITY,
    "ActivityTaskCanceled": _ACTIVITY | {"latestCancelRequestedEventId": "ActivityTaskCancelRequested"},
    "TimerFired": {"startedEventId": "TimerStarted"},
    "TimerCanceled": {"startedEventId": "TimerStarted"},
    "StartChildWorkflowExecutionFailed": {"initiatedEventId": "StartChildWorkflowExecutionInitiated"},
    "ChildWorkflowExecutionStarted": {"initiatedEventId": "StartChildWorkflowExecutionInitiated"},
    "ChildWorkflowExecutionCompleted": _CHILD,
    "ChildWorkflowExecutionFailed": _CHILD,
    "ChildWorkflowExecutionTimedOut": _CHILD,
    "ChildWorkflowExecutionCanceled": _CHILD,
    "ChildWorkflowExecutionTerminated": _CHILD,
    "SignalExternalWorkflowExecutionFailed": _SIGNAL,
    "ExternalWorkflowExecutionSignaled": _SIGNAL,
    "RequestCancelExternalWorkflowExecutionFailed": _CANCEL,
    "ExternalWorkflowExecutionCancelRequested": _CANCEL,
    "LambdaFunctionStarted": {"scheduledEventId": "LambdaFunctionScheduled"},
    "LambdaFunctionCompleted": _LAMBDA,
    "LambdaFunctionFailed": _LAMBDA,
    "LambdaFunctionTimedOut": _LAMBDA,
    "StartLambdaFunctionFailed": {"scheduledEventId": "LambdaFunctionScheduled"},
}
"""Which event each attribute of an event refers to; 0 refers to none."""

_STARTS: Final = frozenset({"ActivityTaskStarted", "ChildWorkflowExecutionStarted", "LambdaFunctionStarted"})
_OPENS: Final = {
    "ActivityTaskScheduled": "activityId",
    "TimerStarted": "timerId",
    "LambdaFunctionScheduled": "id",
    "StartChildWorkflowExecutionInitiated": None,
    "SignalExternalWorkflowExecutionInitiated": None,
    "RequestCancelExternalWorkflowExecutionInitiated": None,
}
"""The events that open something, and the id that is theirs alone while it is open."""


@define
class _Reader:
    """What is known after the events read so far."""

    events: list[dict[str, Any]]
    open: dict[int, tuple[str, str]] = field(factory=dict)
    begun: set[int] = field(factory=set)
    waiting: int = 0
    running: int = 0
    completed: int = 0

    unseen: bool = False

    def fail(self, event: dict[str, Any], why: str) -> None:
        raise HistoryError(f"event {event['eventId']} ({event['eventType']}): {why}", event_id=event["eventId"])

    def read(self, event: dict[str, Any], attributes: dict[str, Any]) -> None:
        event_type = event["eventType"]
        if event_type.startswith("DecisionTask"):
            self.decision_task(event, attributes)
            return
        decided = attributes.get("decisionTaskCompletedEventId", self.completed)
        # What an answer of the outside says later repeats the decision it goes back to.
        if decided != self.completed and not attributes.get("initiatedEventId"):
            self.fail(event, f"decided by {decided}, but the last DecisionTaskCompleted is {self.completed}")
        if event_type in _OPENS:
            self.begin(event, attributes)
        elif event_type in LINKS:
            self.follow(event, attributes)
        elif event_type in CLOSES and "decisionTaskCompletedEventId" in attributes and self.waiting:
            self.fail(event, f"closed by a decision although decision task {self.waiting} waits")
        elif attributes.get("cause") == "UNHANDLED_DECISION" and not (self.waiting or self.unseen):
            self.fail(event, "UNHANDLED_DECISION although no decision task waits")

    def decision_task(self, event: dict[str, Any], attributes: dict[str, Any]) -> None:
        event_type, event_id = event["eventType"], event["eventId"]
        if event_type == "DecisionTaskScheduled":
            if self.waiting:
                self.fail(event, f"decision task {self.waiting} waits already")
            self.waiting = event_id
            return
        scheduled = attributes["scheduledEventId"]
        if event_type == "DecisionTaskStarted":
            if scheduled != self.waiting or self.running:
                self.fail(event, f"started, but {self.waiting} waits and {self.running} runs")
            self.waiting, self.running = 0, event_id
        elif event_type == "DecisionTaskTimedOut" and not attributes["startedEventId"]:
            if scheduled != self.waiting or self.running:
                self.fail(event, f"timed out unstarted, but {self.waiting} waits and {self.running} runs")
            self.waiting = 0
        else:
            if attributes["startedEventId"] != self.running:
                self.fail(event, f"ends {attributes['startedEventId']}, but {self.running} runs")
            self.running = 0
            self.completed = event_id if event_type == "DecisionTaskCompleted" else self.completed

    def begin(self, event: dict[str, Any], attributes: dict[str, Any]) -> None:
        event_type = event["eventType"]
        name = _OPENS[event_type]
        key = (event_type, attributes[name] if name else str(event["eventId"]))
        if key in self.open.values():
            self.fail(event, f"{name} {key[1]!r} is open already")
        self.open[event["eventId"]] = key

    def follow(self, event: dict[str, Any], attributes: dict[str, Any]) -> None:
        event_type = event["eventType"]
        first = next(
            attributes[name]
            for name in ("scheduledEventId", "initiatedEventId", "startedEventId")
            if name in attributes
        )
        if not first:
            return
        if first not in self.open:
            self.fail(event, f"what event {first} opened is closed")
        if event_type in _STARTS:
            if first in self.begun:
                self.fail(event, f"what event {first} opened has started already")
            self.begun.add(first)
        else:
            del self.open[first]


def check_history(events: list[dict[str, Any]]) -> None:
    """Checks that a history is one that SWF can have written.

    Ids count from 1 without a gap; time never goes back; each event has its attributes; each reference is to an
    earlier event of the right kind; at most one decision task runs and one waits; what the decider has to see is
    followed by a decision task; what is open is closed at most once and its id is unique; nothing follows the close.

    Args:
        events: As GetWorkflowExecutionHistory gives them, oldest first; may end anywhere between two transactions.

    Raises:
        HistoryError: Names the first event that does not fit.
    """
    reader = _Reader(events)
    closed = 0
    for number, event in enumerate(events, 1):
        _check_envelope(reader, event, number)
        if closed:
            reader.fail(event, f"follows the close, event {closed}")
        attributes = event[attributes_key(event["eventType"])]
        _check_links(reader, event, attributes)
        reader.read(event, attributes)
        _check_woken(reader, event, attributes)
        closed = number if event["eventType"] in CLOSES else 0


def _check_envelope(reader: _Reader, event: dict[str, Any], number: int) -> None:
    events = reader.events
    if event["eventId"] != number:
        reader.fail(event, f"should have id {number}")
    if (event["eventType"] == "WorkflowExecutionStarted") != (number == 1):
        reader.fail(event, "a history begins with its only WorkflowExecutionStarted")
    if number > 1 and event["eventTimestamp"] < events[number - 2]["eventTimestamp"]:
        reader.fail(event, "is earlier than the event before")
    key = attributes_key(event["eventType"])
    if [name for name in event if name.endswith("EventAttributes")] != [key]:
        reader.fail(event, f"should have {key} and no other attributes")


def _check_links(reader: _Reader, event: dict[str, Any], attributes: dict[str, Any]) -> None:
    for name, wanted in (_DECIDED | LINKS.get(event["eventType"], {})).items():
        target = attributes.get(name)
        if not target:
            continue
        if target >= event["eventId"]:
            reader.fail(event, f"{name} {target} is not earlier")
        found = reader.events[target - 1]["eventType"]
        if found != wanted:
            reader.fail(event, f"{name} {target} is {an(found)}, not {an(wanted)}")


def _check_woken(reader: _Reader, event: dict[str, Any], attributes: dict[str, Any]) -> None:
    """The decider will see what it has to: a decision task waits, or the transaction ends by scheduling one."""
    if reader.waiting or event["eventType"] in CLOSES:
        reader.unseen = False
    elif reader.unseen and not attributes.get("decisionTaskCompletedEventId"):
        reader.fail(event, "the decider has to see an event before, but no decision task was scheduled for it")
    elif event["eventType"] in WAKES:
        reader.unseen = True

"""Plays a run by hand: the code decides, the test says what happens outside, SWF's events are written down.

::

    run = Run(order, "o-7")
    assert run.decide() == ["ScheduleActivityTask charge-1"]
    run.completes("charge-1", "r-1")
    assert run.decide() == ['CompleteWorkflowExecution "r-1"']
    run.replays()

Every ``decide()`` replays the history from its first event, as a decider does that has never seen the run, so a
test of first decisions is a replay test as well; ``replays()`` adds the whole history, and the run kept warm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import botocore.session
from botocore.validate import ParamValidator

from flowpy.testing import replay

START = 1735732800.0
_ABSENT: Any = object()


class Run:
    """One execution and its history, written event by event.

    Args:
        workflow: The workflow whose code decides.
        args: Its arguments, written as a JSON array.
        input: The input as text, instead of ``args``.
        workflow_id: The run's workflowId; its runId is ``r-1``.
        started: Further attributes of WorkflowExecutionStarted.
    """

    def __init__(
        self, workflow: Any, *args: Any, input: str | None = None, workflow_id: str = "w-1", **started: Any
    ) -> None:
        self.workflow = workflow
        self.ids = {"workflow_id": workflow_id, "run_id": "r-1"}
        self.events: list[dict[str, Any]] = []
        self.decided: list[list[str]] = []
        self.clock = START
        self._waiting: int | None = None
        self._begun: int | None = None
        self._links: dict[tuple[str, str], dict[str, Any]] = {}
        attributes = {
            "workflowType": {"name": workflow.name, "version": workflow.version},
            "taskList": {"name": "main"},
            "input": json.dumps(list(args)) if input is None else input,
            "childPolicy": "TERMINATE",
            "taskStartToCloseTimeout": "30",
            "executionStartToCloseTimeout": "3600",
            "parentInitiatedEventId": 0,
        }
        self._wake("WorkflowExecutionStarted", **{**attributes, **started})

    # --- decision tasks ---

    def begin(self) -> int:
        """A decider takes the waiting decision task; what follows happens while it decides."""
        assert self._waiting is not None, "no decision task is waiting"
        self._begun = self._add("DecisionTaskStarted", scheduledEventId=self._waiting)
        self._waiting = None
        return self._begun

    def decide(self, *, refused: Mapping[str, str] | None = None) -> list[str]:
        """The code decides; its decisions are recorded and returned as texts.

        Args:
            refused: Ids of decisions that SWF refuses, with the cause.
        """
        decisions = self.offered()
        completed = self._answered("DecisionTaskCompleted")
        for decision in decisions:
            self._record(decision, completed, refused or {})
        self.decided.append([told(d) for d in decisions])
        return self.decided[-1]

    def offered(self) -> list[dict[str, Any]]:
        """The decisions the code makes in the decision task that is waiting or begun."""
        begun = self._begun or self.begin()
        episodes = replay(self.workflow, self.events[:begun], **self.ids).episodes
        assert (episodes[-1].started_event_id, bool(episodes[-1].open)) == (begun, True)
        assert [list(map(told, e.decisions)) for e in episodes[:-1]] == self.decided
        decisions: list[dict[str, Any]] = episodes[-1].decisions
        return decisions

    def decided_elsewhere(self, *decisions: dict[str, Any], **completed: Any) -> None:
        """Other code than ours decided; ``completed`` are attributes of DecisionTaskCompleted."""
        if self._begun is None:
            self.begin()
        event_id = self._answered("DecisionTaskCompleted", **completed)
        for decision in decisions:
            self._record(decision, event_id, {})
        if not all(identity(d).startswith("flowpy.hold-") for d in decisions) or not decisions:
            self.decided.append([told(d) for d in decisions])

    def decision_times_out(self) -> None:
        """The decider is never heard of again."""
        if self._begun is None:
            self.begin()
        self._answered("DecisionTaskTimedOut", timeoutType="START_TO_CLOSE")
        self._schedule()

    def replays(self) -> Any:
        """Asserts that the whole history, cold and warm, decides what was decided; gives the replay."""
        replayed = replay(self.workflow, self.events, **self.ids)
        for each in (replayed, replay(self.workflow, self.events, warm=True, **self.ids)):
            assert [[told(d) for d in e.decisions] for e in each.episodes] == self.decided
        return replayed

    def replays_with(self, workflow: Any) -> Any:
        """Replays the history with other code."""
        return replay(workflow, self.events, **self.ids)

    # --- what happens outside ---

    def later(self, seconds: float) -> None:
        """Time goes by."""
        self.clock += seconds

    def signaled(self, name: str, value: Any = None, *, input: Any = _ABSENT) -> int:
        """A signal arrives; ``input`` is the raw text instead of ``value``, or None for no input at all."""
        text = json.dumps(value) if input is _ABSENT else input
        payload = {} if text is None else {"input": text}
        return self._wake("WorkflowExecutionSignaled", signalName=name, externalInitiatedEventId=0, **payload)

    def cancel_requested(self) -> int:
        """Somebody asks the run to cancel."""
        return self._wake("WorkflowExecutionCancelRequested", externalInitiatedEventId=0)

    def starts(self, activity_id: str) -> int:
        """A worker takes the activity task."""
        links = self._links["activity", activity_id]
        event_id = self._add("ActivityTaskStarted", scheduledEventId=links["scheduledEventId"], identity="w")
        links["startedEventId"] = event_id
        return event_id

    def completes(self, activity_id: str, value: Any = "ok", *, result: str | None = None) -> int:
        """The activity returns ``value`` (or the raw text ``result``)."""
        return self._activity_ends(activity_id, "Completed", result=json.dumps(value) if result is None else result)

    def fails(self, activity_id: str, kind: str = "ValueError", message: str = "no", **fields: Any) -> int:
        """The activity raises."""
        record = {"type": kind, "module": "app", "message": message, "traceback": "", "cause": None, "data": None}
        payload = {"reason": f"{kind}: {message}", "details": json.dumps(record)}
        return self._activity_ends(activity_id, "Failed", **{**payload, **fields})

    def times_out(self, activity_id: str, timeout: str = "START_TO_CLOSE", **fields: Any) -> int:
        """The activity task times out."""
        return self._activity_ends(activity_id, "TimedOut", timeoutType=timeout, **fields)

    def canceled(self, activity_id: str, details: Any = None) -> int:
        """The activity acknowledges that it was asked to stop."""
        return self._activity_ends(activity_id, "Canceled", details=json.dumps(details))

    def fires(self, timer_id: str) -> int:
        """The timer fires, at its time."""
        links = self._links.pop(("timer", timer_id))
        self.clock = max(self.clock, links.pop("due"))
        return self._wake("TimerFired", timerId=timer_id, **links)

    def child_starts(self, workflow_id: str) -> int:
        """The child's first decision task is scheduled."""
        child = self._links["child", workflow_id]
        child["startedEventId"] = self._wake("ChildWorkflowExecutionStarted", **child)
        return int(child["startedEventId"])

    def child_ends(self, workflow_id: str, how: str, **fields: Any) -> int:
        """The child ends: ``how`` is Completed, Failed, Canceled, Terminated or TimedOut."""
        if "startedEventId" not in self._links["child", workflow_id]:
            self.child_starts(workflow_id)
        return self._wake(f"ChildWorkflowExecution{how}", **self._links.pop(("child", workflow_id)), **fields)

    def child_completes(self, workflow_id: str, value: Any = None) -> int:
        """The child returns ``value``."""
        return self.child_ends(workflow_id, "Completed", result=json.dumps(value))

    def passed_on(self, control: str) -> int:
        """A signal to, or cancel of, another execution has been delivered."""
        kind, links = self._external(control)
        done = {"signal": "ExternalWorkflowExecutionSignaled", "cancel": "ExternalWorkflowExecutionCancelRequested"}
        target = {"workflowExecution": {"workflowId": links.pop("workflowId")}}
        return self._wake(done[kind], initiatedEventId=links["initiatedEventId"], **target)

    def not_passed_on(self, control: str, cause: str = "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION") -> int:
        """A signal to, or cancel of, another execution found none."""
        kind, links = self._external(control)
        name = {"signal": "SignalExternal", "cancel": "RequestCancelExternal"}[kind]
        return self._wake(f"{name}WorkflowExecutionFailed", cause=cause, **links)

    def event(self, kind: str, **attributes: Any) -> int:
        """Any other event; it schedules a decision task."""
        return self._wake(kind, **attributes)

    # --- writing ---

    def _add(self, kind: str, **attributes: Any) -> int:
        self.clock += 1
        key = kind[0].lower() + kind[1:] + "EventAttributes"
        event = {"eventId": len(self.events) + 1, "eventType": kind, "eventTimestamp": self.clock, key: attributes}
        self.events.append(event)
        return len(self.events)

    def _wake(self, kind: str, **attributes: Any) -> int:
        event_id = self._add(kind, **attributes)
        self._schedule()
        return event_id

    def _schedule(self) -> None:
        """A decision task, unless one is waiting; if one is being decided the next waits already."""
        if self._waiting is None:
            self._waiting = self._add("DecisionTaskScheduled", taskList={"name": "main"}, startToCloseTimeout="30")

    def _answered(self, kind: str, **attributes: Any) -> int:
        begun, self._begun = self._begun, None
        scheduled = self.events[begun - 1]["decisionTaskStartedEventAttributes"]["scheduledEventId"]  # type: ignore[operator]
        return self._add(kind, scheduledEventId=scheduled, startedEventId=begun, **attributes)

    def _activity_ends(self, activity_id: str, how: str, **fields: Any) -> int:
        if "startedEventId" not in self._links["activity", activity_id]:
            self.starts(activity_id)
        return self._wake(f"ActivityTask{how}", **self._links.pop(("activity", activity_id)), **fields)

    def _external(self, control: str) -> tuple[str, dict[str, Any]]:
        kind = "signal" if ("signal", control) in self._links else "cancel"
        return kind, self._links.pop((kind, control))

    def _record(self, decision: dict[str, Any], completed: int, refused: Mapping[str, str]) -> None:
        kind, attributes = decision["decisionType"], attributes_of(decision)
        owner = {"decisionTaskCompletedEventId": completed}
        cause = refused.get(identity(decision)) or self._too_late(kind, attributes)
        if kind in CLOSES and self._waiting is not None:
            cause = cause or "UNHANDLED_DECISION"
        if cause:
            self._wake(f"{kind}Failed", cause=cause, **owner, **_kept(kind, attributes))
            return
        event_id = self._add(_EVENTS[kind], **owner, **_COMPLETED.get(kind, lambda a: a)(attributes))
        self._remember(kind, attributes, event_id, owner)

    def _too_late(self, kind: str, attributes: dict[str, Any]) -> str | None:
        """The cause of a refusal where what is to be cancelled has ended while the decider was deciding."""
        if kind == "CancelTimer" and ("timer", attributes["timerId"]) not in self._links:
            return "TIMER_ID_UNKNOWN"
        if kind == "RequestCancelActivityTask" and ("activity", attributes["activityId"]) not in self._links:
            return "ACTIVITY_ID_UNKNOWN"
        return None

    def _remember(self, kind: str, attributes: dict[str, Any], event_id: int, owner: dict[str, int]) -> None:
        """Keeps the links that later events of this activity, timer, child or request carry."""
        target = attributes.get("workflowId", "")
        if kind == "ScheduleActivityTask":
            self._links["activity", attributes["activityId"]] = {"scheduledEventId": event_id}
        elif kind == "StartTimer":
            due = self.clock + int(attributes["startToFireTimeout"])
            self._links["timer", attributes["timerId"]] = {"startedEventId": event_id, "due": due}
        elif kind == "StartChildWorkflowExecution":
            execution = {"workflowId": target, "runId": f"run-of-{target}"}
            self._links["child", target] = {
                "workflowExecution": execution,
                "workflowType": attributes["workflowType"],
                "initiatedEventId": event_id,
            }
        elif kind == "CancelTimer":
            self.events[-1]["timerCanceledEventAttributes"]["startedEventId"] = self._links.pop(
                ("timer", attributes["timerId"])
            )["startedEventId"]
        elif kind in _EXTERNAL:
            links = {"workflowId": target, "initiatedEventId": event_id, **owner}
            self._links[_EXTERNAL[kind], attributes["control"]] = links


def told(decision: dict[str, Any]) -> str:
    """One decision as a text: type, id, and what a reader wants to know of it; checked against SWF's model."""
    report = ParamValidator().validate({"taskToken": "t", "decisions": [decision]}, _answer_shape())
    assert not report.has_errors(), report.generate_report()
    kind, attributes = decision["decisionType"], attributes_of(decision)
    more = _TOLD.get(kind, lambda a: None)(attributes)
    return " ".join(filter(None, (kind, identity(decision), more)))


def attributes_of(decision: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a decision."""
    kind = decision["decisionType"]
    attributes: dict[str, Any] = decision.get(kind[0].lower() + kind[1:] + "DecisionAttributes", {})
    return attributes


def identity(decision: dict[str, Any]) -> str:
    """What names a decision within its run."""
    kind, attributes = decision["decisionType"], attributes_of(decision)
    if kind == "RecordMarker":
        return f"{attributes['markerName']} {json.loads(attributes['details'])['id']}"
    keys = ("control",) if kind in _EXTERNAL else ("activityId", "timerId", "workflowId", "id")
    return next((attributes[k] for k in keys if k in attributes), "")


def schedule(activity_id: str, name: str, *args: Any, version: str = "1.0") -> dict[str, Any]:
    """A ScheduleActivityTask decision, for ``decided_elsewhere``."""
    attributes = {
        "activityId": activity_id,
        "activityType": {"name": name, "version": version},
        "input": json.dumps(list(args)),
    }
    return {"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes": attributes}


def start_timer(timer_id: str, seconds: int) -> dict[str, Any]:
    """A StartTimer decision, for ``decided_elsewhere``."""
    attributes = {"timerId": timer_id, "startToFireTimeout": str(seconds)}
    return {"decisionType": "StartTimer", "startTimerDecisionAttributes": attributes}


@cache
def _answer_shape() -> Any:
    model = botocore.session.get_session().get_service_model("swf")
    return model.operation_model("RespondDecisionTaskCompleted").input_shape


def _kept(kind: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a decision that its …Failed event repeats."""
    kept = {k: attributes[k] for k in _REPEATED.get(kind, ()) if k in attributes}
    return {**kept, "initiatedEventId": 0} if kind == "StartChildWorkflowExecution" else kept


def _resolved(attributes: dict[str, Any]) -> dict[str, Any]:
    """The event has every option of the activity, from the decision or from the type's registration."""
    defaults = {
        "taskList": {"name": "main"},
        "scheduleToStartTimeout": "NONE",
        "scheduleToCloseTimeout": "NONE",
        "startToCloseTimeout": "NONE",
        "heartbeatTimeout": "60",
    }
    return {**defaults, **attributes}


CLOSES = {
    "CompleteWorkflowExecution": "WorkflowExecutionCompleted",
    "FailWorkflowExecution": "WorkflowExecutionFailed",
    "CancelWorkflowExecution": "WorkflowExecutionCanceled",
    "ContinueAsNewWorkflowExecution": "WorkflowExecutionContinuedAsNew",
}
_EVENTS = {
    **CLOSES,
    "ScheduleActivityTask": "ActivityTaskScheduled",
    "RequestCancelActivityTask": "ActivityTaskCancelRequested",
    "StartTimer": "TimerStarted",
    "CancelTimer": "TimerCanceled",
    "StartChildWorkflowExecution": "StartChildWorkflowExecutionInitiated",
    "SignalExternalWorkflowExecution": "SignalExternalWorkflowExecutionInitiated",
    "RequestCancelExternalWorkflowExecution": "RequestCancelExternalWorkflowExecutionInitiated",
    "ScheduleLambdaFunction": "LambdaFunctionScheduled",
    "RecordMarker": "MarkerRecorded",
}
_EXTERNAL = {"SignalExternalWorkflowExecution": "signal", "RequestCancelExternalWorkflowExecution": "cancel"}
_REPEATED = {
    "ScheduleActivityTask": ("activityId", "activityType"),
    "RequestCancelActivityTask": ("activityId",),
    "StartTimer": ("timerId",),
    "CancelTimer": ("timerId",),
    "StartChildWorkflowExecution": ("workflowId", "workflowType", "control"),
    "ScheduleLambdaFunction": ("id", "name"),
    "RecordMarker": ("markerName",),
}
_COMPLETED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "ScheduleActivityTask": _resolved,
    "ContinueAsNewWorkflowExecution": lambda a: {**a, "newExecutionRunId": "r-2"},
}
_TOLD: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "StartTimer": lambda a: a["startToFireTimeout"],
    "CompleteWorkflowExecution": lambda a: a.get("result"),
    "FailWorkflowExecution": lambda a: a.get("reason"),
    "ContinueAsNewWorkflowExecution": lambda a: a.get("input"),
    "SignalExternalWorkflowExecution": lambda a: f"to {a['workflowId']}",
    "RequestCancelExternalWorkflowExecution": lambda a: f"to {a['workflowId']}",
}

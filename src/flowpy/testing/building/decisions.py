"""The decisions of a history being written: what the workflow scheduled, started, asked for and recorded."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Final, TypeVar

from flowpy.data.arguments import encode_arguments
from flowpy.data.converter import Converter
from flowpy.declare.activity import Activity
from flowpy.declare.durations import Duration
from flowpy.declare.durations import seconds as whole_seconds
from flowpy.declare.signals import Signal
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError
from flowpy.replay.answers import PATCH, SIDE_EFFECT
from flowpy.runtime.ids import child_workflow_id, fitted
from flowpy.testing.building.events import EventLog
from flowpy.testing.building.handles import (
    Built,
    BuiltActivity,
    BuiltChild,
    BuiltLambdaFunction,
    BuiltRequest,
    BuiltTimer,
)

__all__ = ["WORKFLOW", "Decisions", "options_of", "type_of"]

B = TypeVar("B", bound=Built)

_TASK_LIST: Final = {"name": "main"}
WORKFLOW: Final[dict[str, Any]] = {
    "taskList": _TASK_LIST,
    "childPolicy": "TERMINATE",
    "taskStartToCloseTimeout": "30",
    "executionStartToCloseTimeout": "31536000",
}
"""The configuration of executions whose type says no other."""

_ACTIVITY: Final[dict[str, Any]] = {
    "taskList": _TASK_LIST,
    "scheduleToStartTimeout": "NONE",
    "scheduleToCloseTimeout": "NONE",
    "startToCloseTimeout": "NONE",
    "heartbeatTimeout": "60",
}


class Decisions:
    """What a ``HistoryBuilder`` can decide; each decision goes into the decision task that is being decided.

    Attributes:
        converter: Writes values.
        workflow_id: workflowId of the run.
        run_id: Its runId.
        log: The events.
    """

    def __init__(self, log: EventLog, workflow_id: str, run_id: str, converter: Converter) -> None:
        self.log = log
        self.workflow_id = workflow_id
        self.run_id = run_id
        self.converter = converter
        self._counts: dict[str, int] = {}
        self._open: dict[tuple[str, str], Built] = {}

    def schedule(
        self,
        activity: Activity[..., Any] | str,
        *args: Any,
        id: str | None = None,
        kwargs: dict[str, Any] | None = None,
        version: str = "1.0",
        input: str | None = None,
        refused: str | None = None,
        **attributes: Any,
    ) -> BuiltActivity:
        """ActivityTaskScheduled, or ScheduleActivityTaskFailed.

        Args:
            activity: The declared activity, whose options are recorded, or the name of its type.
            *args: Its arguments.
            id: Its activityId; default the next one of the main task, such as ``charge-1``.
            kwargs: Its keyword arguments.
            version: Version of a type given by name.
            input: The input as recorded, instead of the arguments.
            refused: The cause with which SWF refuses it, such as ``OPEN_ACTIVITIES_LIMIT_EXCEEDED``.
            **attributes: Further attributes in SWF's names, such as ``control``.

        Returns:
            A handle on the activity.
        """
        type_ = type_of(activity, version, Activity)
        given_id = activity.settings.activity_id if isinstance(activity, Activity) else None
        chosen = id or self._numbered(type_["name"], type_["name"], given_id)
        if refused is not None:
            event_id = self.log.decided(
                "ScheduleActivityTaskFailed", activityId=chosen, activityType=type_, cause=refused
            )
            return BuiltActivity(self.log, self.converter, chosen, event_id, refused=True)
        self._check_free(BuiltActivity, chosen, "ActivityTaskScheduled")
        options = {**_ACTIVITY, **options_of(activity), **self._policy_of(activity), **attributes}
        text = self._input(activity, args, kwargs, input)
        event_id = self.log.decided(
            "ActivityTaskScheduled", **{"activityType": type_, "activityId": chosen, "input": text, **options}
        )
        return self._remember(BuiltActivity(self.log, self.converter, chosen, event_id))

    def start_timer(
        self, duration: Duration, *, id: str | None = None, control: str | None = None, refused: str | None = None
    ) -> BuiltTimer:
        """TimerStarted, or StartTimerFailed.

        Args:
            duration: Seconds, a timedelta or text such as ``"3d"``.
            id: Its timerId; default the next one of the main task, such as ``timer-1``.
            control: Its control as recorded.
            refused: The cause with which SWF refuses it.

        Returns:
            A handle on the timer.
        """
        chosen = id or self._numbered("\0timer", "timer")
        if refused is not None:
            event_id = self.log.decided("StartTimerFailed", timerId=chosen, cause=refused)
            return BuiltTimer(self.log, self.converter, chosen, event_id, refused=True)
        self._check_free(BuiltTimer, chosen, "TimerStarted")
        span = whole_seconds(duration, "duration of the timer") or 0
        event_id = self.log.decided("TimerStarted", timerId=chosen, startToFireTimeout=str(span), control=control)
        due = self.log.now + timedelta(seconds=span)
        return self._remember(BuiltTimer(self.log, self.converter, chosen, event_id, due=due))

    def start_child(
        self,
        workflow: Workflow[..., Any] | str,
        *args: Any,
        id: str | None = None,
        workflow_id: str | None = None,
        kwargs: dict[str, Any] | None = None,
        version: str = "1.0",
        input: str | None = None,
        refused: str | None = None,
        **attributes: Any,
    ) -> BuiltChild:
        """StartChildWorkflowExecutionInitiated, or StartChildWorkflowExecutionFailed without it.

        Args:
            workflow: The declared workflow, or the name of its type.
            *args: Its arguments.
            id: Its place in the code, from which its workflowId is made; default the next, such as ``ship-1``.
            workflow_id: Its workflowId, instead of the one made from ``id``.
            kwargs: Its keyword arguments.
            version: Version of a type given by name.
            input: The input as recorded, instead of the arguments.
            refused: The cause with which SWF refuses it at once; ``refuse`` of the handle is for later.
            **attributes: Further attributes in SWF's names, such as ``tagList``.

        Returns:
            A handle on the child.
        """
        type_ = type_of(workflow, version, Workflow)
        place = id or self._numbered(f"\0child:{type_['name']}", type_["name"])
        given_id = workflow.settings.workflow_id if isinstance(workflow, Workflow) else None
        chosen = workflow_id or given_id or child_workflow_id(self.workflow_id, self.run_id, place)
        named = {"workflowId": chosen, "workflowType": type_}
        if refused is not None:
            event_id = self.log.decided("StartChildWorkflowExecutionFailed", **named, cause=refused, initiatedEventId=0)
            return BuiltChild(self.log, self.converter, chosen, event_id, identity=place, type_=type_, refused=True)
        self._check_free(BuiltChild, chosen, "StartChildWorkflowExecutionInitiated")
        options = {**WORKFLOW, **options_of(workflow), **attributes}
        text = self._input(workflow, args, kwargs, input)
        event_id = self.log.decided("StartChildWorkflowExecutionInitiated", **{**named, "input": text, **options})
        return self._remember(BuiltChild(self.log, self.converter, chosen, event_id, identity=place, type_=type_))

    def schedule_lambda(
        self,
        name: str,
        value: Any = None,
        *,
        id: str | None = None,
        input: str | None = None,
        refused: str | None = None,
        **attributes: Any,
    ) -> BuiltLambdaFunction:
        """LambdaFunctionScheduled, or ScheduleLambdaFunctionFailed.

        Args:
            name: Name of the function.
            value: Its input; None is no input.
            id: Its id; default the next one of the main task, such as ``lambda-1``.
            input: The input as recorded, instead of ``value``.
            refused: The cause with which SWF refuses it.
            **attributes: Further attributes in SWF's names, such as ``startToCloseTimeout``.

        Returns:
            A handle on the function.
        """
        chosen = id or self._numbered("\0lambda", "lambda")
        if refused is not None:
            event_id = self.log.decided("ScheduleLambdaFunctionFailed", id=chosen, name=name, cause=refused)
            return BuiltLambdaFunction(self.log, self.converter, chosen, event_id, refused=True)
        self._check_free(BuiltLambdaFunction, chosen, "LambdaFunctionScheduled")
        text = input if input is not None or value is None else self.converter.encode(value, "input of the function")
        event_id = self.log.decided(
            "LambdaFunctionScheduled", **{"id": chosen, "name": name, "input": text, **attributes}
        )
        return self._remember(BuiltLambdaFunction(self.log, self.converter, chosen, event_id))

    def signal_external(
        self,
        workflow_id: str,
        signal: Signal[Any] | str,
        value: Any = None,
        *,
        id: str | None = None,
        run_id: str | None = None,
        input: str | None = None,
    ) -> BuiltRequest:
        """SignalExternalWorkflowExecutionInitiated.

        Args:
            workflow_id: The execution signaled.
            signal: The signal, or its name.
            value: Its value; None is no input.
            id: Its control; default the next one of the main task, such as ``signal-1``.
            run_id: The runId, if one was given.
            input: The input as recorded, instead of ``value``.

        Returns:
            A handle on the request.
        """
        chosen = id or self._numbered("\0signal", "signal")
        name = signal.name if isinstance(signal, Signal) else signal
        text = input if input is not None or value is None else self.converter.encode(value, f"value of signal {name}")
        target = _target(workflow_id, run_id)
        initiated = "SignalExternalWorkflowExecutionInitiated"
        event_id = self.log.decided(initiated, **target, signalName=name, input=text, control=chosen)
        return BuiltRequest(
            self.log, self.converter, chosen, event_id, target=target, done="ExternalWorkflowExecutionSignaled"
        )

    def cancel_external(self, workflow_id: str, *, id: str | None = None, run_id: str | None = None) -> BuiltRequest:
        """RequestCancelExternalWorkflowExecutionInitiated.

        Args:
            workflow_id: The execution that is asked to cancel.
            id: Its control; default the next one of the main task, such as ``cancel-1``.
            run_id: The runId, if one was given.

        Returns:
            A handle on the request.
        """
        chosen = id or self._numbered("\0cancel", "cancel")
        target = _target(workflow_id, run_id)
        event_id = self.log.decided("RequestCancelExternalWorkflowExecutionInitiated", **target, control=chosen)
        return BuiltRequest(
            self.log, self.converter, chosen, event_id, target=target, done="ExternalWorkflowExecutionCancelRequested"
        )

    def record_marker(self, name: str, details: str | None = None, *, refused: str | None = None) -> int:
        """MarkerRecorded, or RecordMarkerFailed; gives the event id.

        Args:
            name: The markerName.
            details: Its details as recorded.
            refused: The cause with which SWF refuses it.
        """
        if refused is not None:
            return self.log.decided("RecordMarkerFailed", markerName=name, cause=refused)
        return self.log.decided("MarkerRecorded", markerName=name, details=details)

    def record_side_effect(self, value: Any, *, id: str | None = None) -> int:
        """MarkerRecorded with the value of a ``flowpy.side_effect``; gives the event id.

        Args:
            value: What the function gave.
            id: Its id; default the next one of the main task, such as ``effect-1``.
        """
        chosen = id or self._numbered("\0effect", "effect")
        text = self.converter.text(value, f"value of side effect {chosen}")
        return self.record_marker(SIDE_EFFECT, f'{{"id": {json.dumps(chosen)}, "value": {text}}}')

    def record_patch(self, id: str) -> int:
        """MarkerRecorded for a ``flowpy.patched`` that was True; gives the event id.

        Args:
            id: The id given to ``patched``.
        """
        return self.record_marker(PATCH, json.dumps({"id": id}))

    def _policy_of(self, activity: Activity[..., Any] | str) -> dict[str, str]:
        """The retry policy as it is recorded; it counts from the decision task that makes the first attempt."""
        if isinstance(activity, str) or activity.retry is None:
            return {}
        return {"control": json.dumps({"retry": activity.retry.control(int(self.log.decided_at.timestamp()))})}

    # --- for all decisions --------------------------------------------------------------------

    def _input(
        self,
        called: Activity[..., Any] | Workflow[..., Any] | str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None,
        text: str | None,
    ) -> str:
        if text is not None:
            return text
        if isinstance(called, str):
            form = {"args": list(args), "kwargs": kwargs} if kwargs else list(args)
            return self.converter.encode(form, f"arguments of {called}")
        return encode_arguments(called.signature, args, kwargs or {}, self.converter)

    def _numbered(self, counter: str, name: str, id: str | None = None) -> str:
        """The next id of the main task; one given with the options takes its number all the same."""
        number = self._counts[counter] = self._counts.get(counter, 0) + 1
        return id or fitted(f"{name}-{number}")

    def _check_free(self, kind: type[Built], id: str, event_type: str) -> None:
        built = self._open.get((kind.kind, id))
        if built is not None and built.is_open:
            why = f"{kind.kind} {id} is open since event {built.event_id}"
            self.log.refuse(event_type, why, "End that first, give another id, or say refused=... with SWF's cause")

    def _remember(self, built: B) -> B:
        self._open[built.kind, built.id] = built
        return built


def type_of(called: Any, version: str, kind: type[Activity[..., Any] | Workflow[..., Any]]) -> dict[str, str]:
    """Name and version as SWF has them; those of what is declared, or of a name.

    Raises:
        DeclarationError: It is neither a name nor of the kind that is asked for.
    """
    if isinstance(called, str):
        return {"name": called, "version": version}
    if not isinstance(called, kind):
        name = kind.__name__.lower()
        raise DeclarationError(
            f"history: {called!r} is no {name}", remedy=f"give what @{name} made of the function, or its name"
        )
    return {"name": called.name, "version": called.version}


def options_of(called: Activity[..., Any] | Workflow[..., Any] | str) -> dict[str, Any]:
    """The options that a call is recorded with, in SWF's names; none for a type given by name."""
    return {} if isinstance(called, str) else called.settings.attributes()


def _target(workflow_id: str, run_id: str | None) -> dict[str, str]:
    return {"workflowId": workflow_id} if run_id is None else {"workflowId": workflow_id, "runId": run_id}

"""What recorded events do to the entities they are about: one small function for each kind of event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from flowpy.errors import HistoryError
from flowpy.history.episodes import AGAIN_PREFIX
from flowpy.history.events import Event
from flowpy.replay.entities import CLOSED, ActivityTask, Entity
from flowpy.replay.execution import Execution

Attributes = dict[str, Any]
Handler = Callable[[Execution, Attributes, Event], None]
E = TypeVar("E", bound=Entity)


def opened_nothing(by: int, event: Event) -> HistoryError:
    """The error of an event about something that is not open."""
    return HistoryError(
        f"event {event['eventId']} ({event['eventType']}) is about event {by}, which opened nothing that is still "
        "open: the history is corrupt, or events are missing",
        event_id=event["eventId"],
    )


def _ended(table: dict[int, E], by: int, event: Event, execution: Execution) -> E:
    """Take out the entity that an event ends."""
    entity = table.pop(by, None)
    if entity is None:
        raise opened_nothing(by, event)
    execution.close(entity)
    return entity


def _activity(method: str) -> Handler:
    def handle(execution: Execution, attributes: Attributes, event: Event) -> None:
        task = _ended(execution.activities, attributes["scheduledEventId"], event, execution)
        execution.forget_requests(task)
        getattr(task.listener or task, method)(attributes, event)

    return handle


def _timer_fired(execution: Execution, attributes: Attributes, event: Event) -> None:
    started = attributes["startedEventId"]
    if started in execution.own_timers:
        execution.own_timers.discard(started)
        return
    if attributes["timerId"].startswith(AGAIN_PREFIX):
        return
    timer = execution.timers.pop(started, None)
    if timer is None:
        raise opened_nothing(started, event)
    if timer.state == CLOSED:
        # Code cancelled it while it was firing: a request not sent yet would only be refused.
        execution.forget_requests(timer)
        return
    execution.close(timer)
    timer.listener.fired(attributes, event)


def _child_started(execution: Execution, attributes: Attributes, event: Event) -> None:
    child = execution.children.get(attributes["initiatedEventId"])
    if child is None:
        raise opened_nothing(attributes["initiatedEventId"], event)
    child.listener.started_running(attributes["workflowExecution"]["runId"], event)


def _child(method: str) -> Handler:
    def handle(execution: Execution, attributes: Attributes, event: Event) -> None:
        child = _ended(execution.children, attributes["initiatedEventId"], event, execution)
        execution.forget_requests(child)
        getattr(child.listener, method)(attributes, event)

    return handle


def _child_start_failed(execution: Execution, attributes: Attributes, event: Event) -> None:
    if attributes.get("initiatedEventId"):
        _child("refused")(execution, attributes, event)
    else:
        _refused(execution, attributes, event)


def _request(method: str) -> Handler:
    def handle(execution: Execution, attributes: Attributes, event: Event) -> None:
        request = _ended(execution.requests, attributes["initiatedEventId"], event, execution)
        if request.listener is not None:
            getattr(request.listener, method)(attributes, event)

    return handle


def _lambda(method: str) -> Handler:
    def handle(execution: Execution, attributes: Attributes, event: Event) -> None:
        function = _ended(execution.lambdas, attributes["scheduledEventId"], event, execution)
        getattr(function.listener, method)(attributes, event)

    return handle


def _refused(execution: Execution, attributes: Attributes, event: Event) -> None:
    """A decision that the service refused: the entity ends with the cause."""
    entity = execution.refused.pop(event["eventId"], None)
    if entity is None:
        return
    execution.close(entity)
    execution.forget_requests(entity)
    listener: Any = entity.listener or (entity if isinstance(entity, ActivityTask) else None)
    if listener is not None:
        listener.refused(attributes, event)


HANDLERS: Final[dict[str, tuple[Handler | None, str]]] = {
    kind: (handler, kind[0].lower() + kind[1:] + "EventAttributes")
    for kind, handler in {
        "ActivityTaskScheduled": None,
        "ActivityTaskStarted": None,
        "ActivityTaskCancelRequested": None,
        "ActivityTaskFailed": _activity("failed"),
        "ActivityTaskTimedOut": _activity("timed_out"),
        "ActivityTaskCanceled": _activity("canceled"),
        "ScheduleActivityTaskFailed": _refused,
        "RequestCancelActivityTaskFailed": _refused,
        "TimerStarted": None,
        "TimerCanceled": None,
        "CancelTimerFailed": _refused,
        "TimerFired": _timer_fired,
        "StartTimerFailed": _refused,
        "StartChildWorkflowExecutionInitiated": None,
        "StartChildWorkflowExecutionFailed": _child_start_failed,
        "ChildWorkflowExecutionStarted": _child_started,
        "ChildWorkflowExecutionCompleted": _child("completed"),
        "ChildWorkflowExecutionFailed": _child("failed"),
        "ChildWorkflowExecutionTimedOut": _child("timed_out"),
        "ChildWorkflowExecutionCanceled": _child("canceled"),
        "ChildWorkflowExecutionTerminated": _child("terminated"),
        "SignalExternalWorkflowExecutionInitiated": None,
        "SignalExternalWorkflowExecutionFailed": _request("refused"),
        "ExternalWorkflowExecutionSignaled": _request("passed_on"),
        "RequestCancelExternalWorkflowExecutionInitiated": None,
        "RequestCancelExternalWorkflowExecutionFailed": _request("refused"),
        "ExternalWorkflowExecutionCancelRequested": _request("passed_on"),
        "LambdaFunctionScheduled": None,
        "LambdaFunctionStarted": None,
        "LambdaFunctionCompleted": _lambda("completed"),
        "LambdaFunctionFailed": _lambda("failed"),
        "LambdaFunctionTimedOut": _lambda("timed_out"),
        "ScheduleLambdaFunctionFailed": _refused,
        "StartLambdaFunctionFailed": _lambda("start_failed"),
        "MarkerRecorded": None,
        "RecordMarkerFailed": _refused,
    }.items()
}
"""Event type → (what it does, key of its attributes); ActivityTaskCompleted and events about the run itself are the
runtime's."""

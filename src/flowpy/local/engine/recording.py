"""Recording an event, and the one rule for when a decision task follows (swf-semantics §4.2)."""

from __future__ import annotations

from typing import Any, Final

from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.state import DecisionTask, Execution
from flowpy.local.engine.world import World

__all__ = ["WAKES", "enqueue_decision_task", "record", "wake"]

WAKES: Final = frozenset(
    {
        "WorkflowExecutionStarted",
        "WorkflowExecutionCancelRequested",
        "WorkflowExecutionSignaled",
        "ContinueAsNewWorkflowExecutionFailed",
        "DecisionTaskTimedOut",
        "ScheduleActivityTaskFailed",
        "ActivityTaskCompleted",
        "ActivityTaskFailed",
        "ActivityTaskTimedOut",
        "ActivityTaskCanceled",
        "RequestCancelActivityTaskFailed",
        "RecordMarkerFailed",
        "StartTimerFailed",
        "TimerFired",
        "CancelTimerFailed",
        "StartChildWorkflowExecutionFailed",
        "ChildWorkflowExecutionStarted",
        "ChildWorkflowExecutionCompleted",
        "ChildWorkflowExecutionFailed",
        "ChildWorkflowExecutionTimedOut",
        "ChildWorkflowExecutionCanceled",
        "ChildWorkflowExecutionTerminated",
        "SignalExternalWorkflowExecutionFailed",
        "ExternalWorkflowExecutionSignaled",
        "RequestCancelExternalWorkflowExecutionFailed",
        "ExternalWorkflowExecutionCancelRequested",
        "LambdaFunctionCompleted",
        "LambdaFunctionFailed",
        "LambdaFunctionTimedOut",
        "ScheduleLambdaFunctionFailed",
        "StartLambdaFunctionFailed",
    }
)
"""The events the decider has to see."""


def record(world: World, run: Execution, event_type: str, **attributes: Any) -> int:
    """Adds an event and, if the decider has to see it, the decision task that shows it.

    Args:
        world: The engine's state.
        run: The execution.
        event_type: SWF's name of the event.
        **attributes: In SWF's names; those that are None are left out.

    Returns:
        Its eventId.
    """
    event_id = world.append(run, event_type, attributes)
    if event_type in WAKES:
        run.unseen = True
        if run is not world.deciding:
            wake(world, run)
    return event_id


def enqueue_decision_task(world: World, run: Execution, task: DecisionTask) -> None:
    """Puts a decision task where pollers find it."""
    world.offer_decision(run, task)
    world.set_deadline(run, "decision.SCHEDULE_TO_START", task.scheduled_event_id, seconds(task.schedule_to_start))


def wake(world: World, run: Execution) -> None:
    """Schedules a decision task if the decider has something to see and none waits that will show it."""
    if not run.unseen or not run.is_open:
        return
    run.unseen = False
    if run.decision is None:
        run.decision = _schedule(world, run)
        enqueue_decision_task(world, run, run.decision)
    elif run.decision.started_event_id and run.queued is None:
        # It is dispatched when the running one ends: at most one decision task of a run is out.
        run.queued = _schedule(world, run)


def _schedule(world: World, run: Execution) -> DecisionTask:
    override = run.override
    task_list = override.task_list if override else run.task_list
    schedule_to_start = override.schedule_to_start if override else "NONE"
    attributes = {
        "taskList": {"name": task_list},
        "startToCloseTimeout": run.config["taskStartToCloseTimeout"],
        "scheduleToStartTimeout": schedule_to_start,
        "taskPriority": run.config.get("taskPriority"),
    }
    return DecisionTask(world.append(run, "DecisionTaskScheduled", attributes), task_list, schedule_to_start)

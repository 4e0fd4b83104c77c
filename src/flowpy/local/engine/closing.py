"""The end of an execution, whatever the reason, and what it does to others (swf-semantics §4.12, §4.13)."""

from __future__ import annotations

from flowpy.local.engine.recording import record
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["close", "outgrow", "time_out"]


def close(world: World, run: Execution, status: str, policy: str = "") -> None:
    """Closes an execution whose closing event has just been recorded.

    What is open stays counted as it was, but nothing of it is dispatched or falls due any more.

    Args:
        world: The engine's state.
        run: The execution.
        status: COMPLETED, FAILED, CANCELED, TERMINATED, CONTINUED_AS_NEW or TIMED_OUT.
        policy: The child policy to apply; default the execution's own.
    """
    run.closed = world.now
    run.close_status = status
    run.closing_policy = policy or run.config["childPolicy"]
    world.deadlines.drop(run)
    world.retain(run)
    del world.domains[run.domain].open_runs[run.workflow_id]
    if run.decision is not None:
        key = (run.run_id, run.decision.scheduled_event_id)
        world.decision_lists.remove(run.domain, run.decision.task_list, key)
    run.decision = run.queued = None
    for scheduled_event_id, task in run.activities.items():
        world.activity_lists.remove(run.domain, task.task_list, (run.run_id, scheduled_event_id))
    if run.parent is not None and status != "CONTINUED_AS_NEW":
        world.later("report_close", run, len(run.events))
    if run.closing_policy != "ABANDON":
        for initiated_event_id in run.children:
            world.later("apply_child_policy", run, initiated_event_id)


def time_out(world: World, run: Execution, _event_id: int) -> None:
    """The execution was open for as long as it may be."""
    policy = run.config["childPolicy"]
    record(world, run, "WorkflowExecutionTimedOut", timeoutType="START_TO_CLOSE", childPolicy=policy)
    close(world, run, "TIMED_OUT")


def outgrow(world: World, run: Execution) -> None:
    """The history is as long as it may be."""
    policy = run.config["childPolicy"]
    record(world, run, "WorkflowExecutionTerminated", childPolicy=policy, cause="EVENT_LIMIT_EXCEEDED")
    close(world, run, "TERMINATED")

"""Signals and cancel requests from one execution to another (swf-semantics §4.10)."""

from __future__ import annotations

from typing import Any, Final

from flowpy.local.engine.deciding import Deciding
from flowpy.local.engine.recording import record
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["EFFECTS", "request_cancel", "signal"]


def signal(deciding: Deciding, decision: dict[str, Any]) -> None:
    """SignalExternalWorkflowExecution."""
    _initiate(deciding, decision, "SignalExternalWorkflowExecution", ("signalName", "input"))


def request_cancel(deciding: Deciding, decision: dict[str, Any]) -> None:
    """RequestCancelExternalWorkflowExecution."""
    _initiate(deciding, decision, "RequestCancelExternalWorkflowExecution", ())


def _initiate(deciding: Deciding, decision: dict[str, Any], decision_type: str, names: tuple[str, ...]) -> None:
    initiated = deciding.record(
        f"{decision_type}Initiated",
        workflowId=decision["workflowId"],
        runId=decision.get("runId") or None,
        **{name: decision.get(name) for name in names},
        control=decision.get("control"),
    )
    deciding.world.later(decision_type, deciding.run, initiated, deciding.cause)


def _target(world: World, run: Execution, initiated: dict[str, Any]) -> Execution | None:
    return world.find_open(world.domains[run.domain], initiated["workflowId"], initiated.get("runId"))


def _deliver_signal(world: World, run: Execution, initiated_event_id: int, cause: str) -> None:
    initiated = run.attributes(initiated_event_id)
    target = _target(world, run, initiated)
    if cause or target is None:
        _fail(world, run, initiated_event_id, cause, "SignalExternalWorkflowExecutionFailed")
        return
    record(
        world,
        target,
        "WorkflowExecutionSignaled",
        signalName=initiated["signalName"],
        input=initiated.get("input"),
        externalWorkflowExecution=run.reference,
        externalInitiatedEventId=initiated_event_id,
    )
    _acknowledge(world, run, initiated_event_id, target, "ExternalWorkflowExecutionSignaled")


def _deliver_cancel(world: World, run: Execution, initiated_event_id: int, cause: str) -> None:
    target = _target(world, run, run.attributes(initiated_event_id))
    if cause or target is None:
        _fail(world, run, initiated_event_id, cause, "RequestCancelExternalWorkflowExecutionFailed")
        return
    target.cancel_requested = True
    record(
        world,
        target,
        "WorkflowExecutionCancelRequested",
        externalWorkflowExecution=run.reference,
        externalInitiatedEventId=initiated_event_id,
    )
    _acknowledge(world, run, initiated_event_id, target, "ExternalWorkflowExecutionCancelRequested")


def _acknowledge(world: World, run: Execution, initiated_event_id: int, target: Execution, event_type: str) -> None:
    # What was sent before the sender closed arrives all the same; only the sender's event has no place any more.
    if run.is_open:
        record(world, run, event_type, workflowExecution=target.reference, initiatedEventId=initiated_event_id)


def _fail(world: World, run: Execution, initiated_event_id: int, cause: str, event_type: str) -> None:
    initiated = run.attributes(initiated_event_id)
    if run.is_open:
        record(
            world,
            run,
            event_type,
            workflowId=initiated["workflowId"],
            runId=initiated.get("runId"),
            cause=cause or "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION",
            initiatedEventId=initiated_event_id,
            decisionTaskCompletedEventId=initiated["decisionTaskCompletedEventId"],
            control=initiated.get("control"),
        )


EFFECTS: Final = {
    "SignalExternalWorkflowExecution": _deliver_signal,
    "RequestCancelExternalWorkflowExecution": _deliver_cancel,
}

"""Children: started, reported to the parent, ended with it (swf-semantics §4.11, §4.12)."""

from __future__ import annotations

from typing import Any, Final

from flowpy.local.engine.beginning import Birth, begin, decided_config
from flowpy.local.engine.closing import close
from flowpy.local.engine.deciding import Deciding
from flowpy.local.engine.recording import record
from flowpy.local.engine.state import Child, Execution, ParentLink
from flowpy.local.engine.world import World

__all__ = ["EFFECTS", "follow", "start"]

_REPORTS: Final = {
    "WorkflowExecutionCompleted": ("ChildWorkflowExecutionCompleted", ("result",)),
    "WorkflowExecutionFailed": ("ChildWorkflowExecutionFailed", ("reason", "details")),
    "WorkflowExecutionTimedOut": ("ChildWorkflowExecutionTimedOut", ("timeoutType",)),
    "WorkflowExecutionCanceled": ("ChildWorkflowExecutionCanceled", ("details",)),
    "WorkflowExecutionTerminated": ("ChildWorkflowExecutionTerminated", ()),
}
"""What the parent is told of a child's closing event, and what is repeated of it."""

_COPIED: Final = ("workflowId", "workflowType", "control", "input", "tagList")


def start(deciding: Deciding, decision: dict[str, Any]) -> None:
    """StartChildWorkflowExecution."""
    world, run = deciding.world, deciding.run
    domain = world.domains[run.domain]
    config, cause = decided_config(domain, decision["workflowType"], decision)
    if not cause and len(run.children) >= world.quotas.open_children:
        cause = "OPEN_CHILDREN_LIMIT_EXCEEDED"
    if not cause and len(domain.open_runs) >= world.quotas.open_executions:
        cause = "OPEN_WORKFLOWS_LIMIT_EXCEEDED"
    if cause:
        deciding.fail("StartChildWorkflowExecution", decision, cause)
        return
    copied = {name: decision.get(name) for name in _COPIED}
    initiated = deciding.record("StartChildWorkflowExecutionInitiated", **copied, **config)
    run.children[initiated] = Child(initiated, decision["workflowId"])
    world.touch(run, initiated)
    world.later("start_child", run, initiated, deciding.cause)


def _begin(world: World, run: Execution, initiated_event_id: int, cause: str) -> None:
    if not run.is_open:
        return
    initiated = run.attributes(initiated_event_id)
    domain, child = world.domains[run.domain], run.children[initiated_event_id]
    world.touch(run, initiated_event_id)
    if cause or child.workflow_id in domain.open_runs:
        del run.children[initiated_event_id]
        _refuse(world, run, initiated_event_id, cause or "WORKFLOW_ALREADY_RUNNING")
        return
    # The resolved configuration is what Initiated records; the type may have changed since.
    config = {name: initiated[name] for name in _config_names(initiated)}
    link = ParentLink(run.run_id, run.workflow_id, initiated_event_id)
    birth = Birth(domain, child.workflow_id, initiated["workflowType"], config, initiated, link)
    begun = begin(world, birth)
    child.run_id = begun.run_id
    child.started_event_id = record(
        world,
        run,
        "ChildWorkflowExecutionStarted",
        workflowExecution=begun.reference,
        workflowType=begun.workflow_type,
        initiatedEventId=initiated_event_id,
    )


def _config_names(initiated: dict[str, Any]) -> list[str]:
    return [name for name in initiated if name not in (*_COPIED, "decisionTaskCompletedEventId")]


def _refuse(world: World, run: Execution, initiated_event_id: int, cause: str) -> None:
    initiated = run.attributes(initiated_event_id)
    record(
        world,
        run,
        "StartChildWorkflowExecutionFailed",
        workflowType=initiated["workflowType"],
        workflowId=initiated["workflowId"],
        control=initiated.get("control"),
        cause=cause,
        initiatedEventId=initiated_event_id,
        decisionTaskCompletedEventId=initiated["decisionTaskCompletedEventId"],
    )


def follow(world: World, run: Execution, successor: str) -> None:
    """A child continues as new: for the parent it is the same child, with another runId."""
    parent = world.runs.get(run.parent.run_id) if run.parent else None
    child = parent.children.get(run.parent.initiated_event_id) if parent and run.parent else None
    if parent is not None and child is not None:
        child.run_id = successor
        world.touch(parent, child.initiated_event_id)


def _report(world: World, run: Execution, close_event_id: int, _cause: str) -> None:
    assert run.parent is not None
    parent = world.runs.get_open(run.parent.run_id)
    if parent is None:
        return
    child = parent.children.pop(run.parent.initiated_event_id)
    world.touch(parent, child.initiated_event_id)
    event_type, copied = _REPORTS[run.events[close_event_id - 1]["eventType"]]
    closing = run.attributes(close_event_id)
    record(
        world,
        parent,
        event_type,
        workflowExecution=run.reference,
        workflowType=run.workflow_type,
        initiatedEventId=child.initiated_event_id,
        startedEventId=child.started_event_id,
        **{name: closing.get(name) for name in copied},
    )


def _apply_policy(world: World, run: Execution, initiated_event_id: int, _cause: str) -> None:
    child = world.runs.get_open(run.children[initiated_event_id].run_id)
    if child is None:
        return
    if run.closing_policy == "REQUEST_CANCEL":
        child.cancel_requested = True
        record(
            world,
            child,
            "WorkflowExecutionCancelRequested",
            externalWorkflowExecution=run.reference,
            externalInitiatedEventId=0,
            cause="CHILD_POLICY_APPLIED",
        )
        return
    policy = child.config["childPolicy"]
    record(world, child, "WorkflowExecutionTerminated", childPolicy=policy, cause="CHILD_POLICY_APPLIED")
    close(world, child, "TERMINATED")


EFFECTS: Final = {"start_child": _begin, "report_close": _report, "apply_child_policy": _apply_policy}

"""The begin of an execution, whoever starts it: a call, a parent, or the run before (swf-semantics §1.3, §4.11)."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.recording import record
from flowpy.local.engine.registry import WORKFLOW_DEFAULTS, resolve
from flowpy.local.engine.state import Domain, Execution, ParentLink
from flowpy.local.engine.world import World

__all__ = ["Birth", "begin", "decided_config"]

_UNDEFINED: Final = {
    "executionStartToCloseTimeout": "DEFAULT_EXECUTION_START_TO_CLOSE_TIMEOUT_UNDEFINED",
    "taskList": "DEFAULT_TASK_LIST_UNDEFINED",
    "taskStartToCloseTimeout": "DEFAULT_TASK_START_TO_CLOSE_TIMEOUT_UNDEFINED",
    "childPolicy": "DEFAULT_CHILD_POLICY_UNDEFINED",
}


@frozen
class Birth:
    """What a new execution is given.

    Attributes:
        domain: Where it runs.
        workflow_id: Its workflowId.
        workflow_type: Its type, as ``{"name", "version"}``.
        config: As in `Execution`.
        request: The call or decision: ``input`` and ``tagList`` are taken from it.
        parent: Its parent, or None.
        run_id: Its runId, "" to make one.
        continued: runId of the execution it continues, or None.
    """

    domain: Domain
    workflow_id: str
    workflow_type: dict[str, str]
    config: dict[str, Any]
    request: dict[str, Any]
    parent: ParentLink | None = None
    run_id: str = ""
    continued: str | None = None


def begin(world: World, birth: Birth) -> Execution:
    """Starts an execution: WorkflowExecutionStarted and its first decision task."""
    config, tags = birth.config, birth.request.get("tagList")
    run_id = birth.run_id or world.new_run_id()
    run = Execution(
        domain=birth.domain.name,
        workflow_id=birth.workflow_id,
        run_id=run_id,
        workflow_type=birth.workflow_type,
        config=config,
        started=world.now,
        task_list=config["taskList"]["name"],
        number=world.run_count,
        tag_list=list(tags or ()),
        parent=birth.parent,
    )
    world.runs.add(run)
    birth.domain.open_runs[run.workflow_id] = run.run_id
    _record_start(world, run, birth)
    allowed, longest = seconds(config["executionStartToCloseTimeout"]), world.quotas.run_time
    at = world.now + (longest if allowed is None else min(allowed, longest))
    world.deadlines.set(run, "execution.START_TO_CLOSE", 1, at)
    return run


def _record_start(world: World, run: Execution, birth: Birth) -> None:
    parent = birth.parent
    record(
        world,
        run,
        "WorkflowExecutionStarted",
        input=birth.request.get("input"),
        **birth.config,
        tagList=birth.request.get("tagList"),
        workflowType=birth.workflow_type,
        continuedExecutionRunId=birth.continued,
        parentWorkflowExecution=parent.reference if parent else None,
        parentInitiatedEventId=parent.initiated_event_id if parent else 0,
    )


def decided_config(domain: Domain, wanted: dict[str, str], decision: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What an execution that a decision starts runs with, and the cause for which it does not start.

    Args:
        domain: Of the execution that decides.
        wanted: The workflow type, as ``{"name", "version"}``.
        decision: The attributes of the decision.

    Returns:
        The configuration and ""; or an empty one and SWF's cause.
    """
    registration = domain.types.get(("WorkflowType", wanted["name"], wanted["version"]))
    if registration is None:
        return {}, "WORKFLOW_TYPE_DOES_NOT_EXIST"
    if registration.deprecated is not None:
        return {}, "WORKFLOW_TYPE_DEPRECATED"
    config, missing = resolve(decision, registration, WORKFLOW_DEFAULTS)
    return (config, "") if not missing else ({}, _UNDEFINED[missing[0]])

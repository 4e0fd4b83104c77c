"""Executions from outside: start, signal, request cancel, terminate (swf-semantics §1.3)."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from flowpy.local.engine import faults
from flowpy.local.engine.closing import close
from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.recording import record
from flowpy.local.engine.registry import WORKFLOW_DEFAULTS, resolve
from flowpy.local.engine.state import Domain, Execution, ParentLink, Registration
from flowpy.local.engine.world import World

__all__ = ["Birth", "begin", "find_open", "request_cancel", "signal", "start", "terminate"]

Request = dict[str, Any]


@define
class Birth:
    """What a new execution is given, whoever starts it.

    Attributes:
        config: As in `Execution`.
        request: The call or decision: ``input`` and ``tagList`` are taken from it.
        run_id: Its runId, "" to make one.
        continued: runId of the execution it continues, or None.
    """

    domain: Domain
    workflow_id: str
    workflow_type: dict[str, str]
    config: dict[str, Any]
    request: Request
    parent: ParentLink | None = None
    run_id: str = ""
    continued: str | None = field(default=None)


def begin(world: World, birth: Birth) -> Execution:
    """Starts an execution: WorkflowExecutionStarted and its first decision task."""
    request, config, parent = birth.request, birth.config, birth.parent
    tags = request.get("tagList")
    run = Execution(
        domain=birth.domain.name,
        workflow_id=birth.workflow_id,
        run_id=birth.run_id or world.new_run_id(),
        workflow_type=birth.workflow_type,
        config=config,
        started=world.now,
        task_list=config["taskList"]["name"],
        tag_list=list(tags or ()),
        parent=parent,
    )
    world.runs[run.run_id] = run
    birth.domain.open_runs[run.workflow_id] = run.run_id
    record(
        world,
        run,
        "WorkflowExecutionStarted",
        input=request.get("input"),
        **config,
        tagList=tags,
        workflowType=birth.workflow_type,
        continuedExecutionRunId=birth.continued,
        parentWorkflowExecution=parent and {"workflowId": parent.workflow_id, "runId": parent.run_id},
        parentInitiatedEventId=parent.initiated_event_id if parent else 0,
    )
    allowed = seconds(config["executionStartToCloseTimeout"])
    longest = world.quotas.run_time
    at = world.now + (longest if allowed is None else min(allowed, longest))
    world.deadlines.set(run, "execution.START_TO_CLOSE", 1, at)
    return run


def start(world: World, request: Request) -> dict[str, Any]:
    """StartWorkflowExecution."""
    domain = world.domain(request["domain"])
    if domain.deprecated:
        raise faults.domain_deprecated(domain.name)
    wanted = request["workflowType"]
    registration = domain.types.get(("WorkflowType", wanted["name"], wanted["version"]))
    if registration is None:
        raise faults.unknown_type(Registration("WorkflowType", wanted["name"], wanted["version"], 0, {}).label)
    if registration.deprecated is not None:
        raise faults.type_deprecated(registration.label)
    if request["workflowId"] in domain.open_runs:
        raise faults.already_started()
    config, missing = resolve(request, registration, WORKFLOW_DEFAULTS)
    if missing:
        raise faults.default_undefined(missing[0])
    if len(domain.open_runs) >= world.quotas.open_executions:
        raise faults.limit_exceeded("open executions")
    run = begin(world, Birth(domain, request["workflowId"], wanted, config, request))
    return {"runId": run.run_id}


def find_open(world: World, domain: Domain, workflow_id: str, run_id: str | None) -> Execution | None:
    """The open execution of this id, and of this runId if one is given."""
    found = domain.open_runs.get(workflow_id)
    if found is None or (run_id and run_id != found):
        return None
    return world.runs[found]


def _named(world: World, request: Request) -> Execution:
    run_id = request.get("runId")
    run = find_open(world, world.domain(request["domain"]), request["workflowId"], run_id)
    if run is None:
        raise faults.unknown_execution(request["workflowId"], run_id or "")
    return run


def signal(world: World, request: Request) -> dict[str, Any]:
    """SignalWorkflowExecution."""
    record(
        world,
        _named(world, request),
        "WorkflowExecutionSignaled",
        signalName=request["signalName"],
        input=request.get("input"),
        externalInitiatedEventId=0,
    )
    return {}


def request_cancel(world: World, request: Request) -> dict[str, Any]:
    """RequestCancelWorkflowExecution."""
    run = _named(world, request)
    run.cancel_requested = True
    record(world, run, "WorkflowExecutionCancelRequested", externalInitiatedEventId=0)
    return {}


def terminate(world: World, request: Request) -> dict[str, Any]:
    """TerminateWorkflowExecution."""
    run = _named(world, request)
    policy = request.get("childPolicy") or run.config["childPolicy"]
    record(
        world,
        run,
        "WorkflowExecutionTerminated",
        reason=request.get("reason"),
        details=request.get("details"),
        childPolicy=policy,
        cause="OPERATOR_INITIATED",
    )
    close(world, run, "TERMINATED", policy)
    return {}

"""Executions from outside: start, signal, request cancel, terminate (swf-semantics §1.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.beginning import Birth, begin
from flowpy.local.engine.closing import close
from flowpy.local.engine.recording import record
from flowpy.local.engine.registry import WORKFLOW_DEFAULTS, find_type, resolve
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["OPERATIONS"]

Request = dict[str, Any]


def start(world: World, request: Request) -> dict[str, Any]:
    """StartWorkflowExecution."""
    domain = world.domain(request["domain"])
    if domain.deprecated:
        raise faults.domain_deprecated(domain.name)
    registration = find_type("WorkflowType", domain, request["workflowType"])
    if registration.deprecated is not None:
        raise faults.type_deprecated(registration.label)
    if request["workflowId"] in domain.open_runs:
        raise faults.already_started()
    config, missing = resolve(request, registration, WORKFLOW_DEFAULTS)
    if missing:
        raise faults.default_undefined(missing[0])
    if len(domain.open_runs) >= world.quotas.open_executions:
        raise faults.limit_exceeded("open executions")
    run = begin(world, Birth(domain, request["workflowId"], request["workflowType"], config, request))
    return {"runId": run.run_id}


def _named(world: World, request: Request) -> Execution:
    run_id = request.get("runId")
    run = world.find_open(world.domain(request["domain"]), request["workflowId"], run_id)
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


OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    "StartWorkflowExecution": start,
    "SignalWorkflowExecution": signal,
    "RequestCancelWorkflowExecution": request_cancel,
    "TerminateWorkflowExecution": terminate,
}

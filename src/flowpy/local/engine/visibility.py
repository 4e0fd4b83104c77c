"""Looking at executions: histories, descriptions, lists (swf-semantics §1.5, §4.14)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.state import Execution
from flowpy.local.engine.tokens import page, read_page_token
from flowpy.local.engine.world import World, timestamp

__all__ = ["OPERATIONS", "info"]

Request = dict[str, Any]


def _find(world: World, request: Request) -> Execution:
    domain, wanted = world.domain(request["domain"]), request["execution"]
    run = world.runs.get(wanted["runId"])
    if run is None or run.domain != domain.name or run.workflow_id != wanted["workflowId"]:
        raise faults.unknown_execution(wanted["workflowId"], wanted["runId"])
    return run


def history(world: World, request: Request) -> dict[str, Any]:
    """GetWorkflowExecutionHistory."""
    run = _find(world, request)
    scope, offset = read_page_token(world, ["history", run.run_id], request)
    # Counted from the end, pages would shift with every event that comes between two of them.
    length = scope[2] if len(scope) > 2 else len(run.events)
    if type(length) is not int:
        raise faults.invalid_token()

    def read(start: int, stop: int) -> list[dict[str, Any]]:
        if request.get("reverseOrder"):
            return run.events[max(0, length - stop) : max(0, length - start)][::-1]
        return run.events[start:stop]

    items, token = page(world, ["history", run.run_id, length], read, request, offset=offset)
    return {"events": items, **token}


def info(run: Execution) -> dict[str, Any]:
    """The ``WorkflowExecutionInfo`` structure."""
    info: dict[str, Any] = {
        "execution": run.reference,
        "workflowType": run.workflow_type,
        "startTimestamp": timestamp(run.started),
        "executionStatus": "OPEN" if run.is_open else "CLOSED",
        # Recorded as false once closed, whatever the history says.
        "cancelRequested": run.cancel_requested and run.is_open,
    }
    if run.closed is not None:
        info |= {"closeTimestamp": timestamp(run.closed), "closeStatus": run.close_status}
    if run.parent is not None:
        info["parent"] = run.parent.reference
    if run.tag_list:
        info["tagList"] = run.tag_list
    return info


def describe(world: World, request: Request) -> dict[str, Any]:
    """DescribeWorkflowExecution."""
    run = _find(world, request)
    answer: dict[str, Any] = {
        "executionInfo": info(run),
        "executionConfiguration": run.config | {"taskList": {"name": run.task_list}},
        "openCounts": {
            "openActivityTasks": len(run.activities),
            "openDecisionTasks": int(run.decision is not None),
            "openTimers": len(run.timers),
            "openChildWorkflowExecutions": len(run.children),
            "openLambdaFunctions": len(run.lambdas),
        },
    }
    if run.latest_activity is not None:
        answer["latestActivityTaskTimestamp"] = timestamp(run.latest_activity)
    if run.latest_execution_context is not None:
        answer["latestExecutionContext"] = run.latest_execution_context
    return answer


OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    "GetWorkflowExecutionHistory": history,
    "DescribeWorkflowExecution": describe,
}

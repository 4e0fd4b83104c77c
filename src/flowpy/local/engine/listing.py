"""Lists and counts of executions (swf-semantics §1.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.state import Execution
from flowpy.local.engine.tokens import page, read_page_token
from flowpy.local.engine.visibility import info
from flowpy.local.engine.world import World

__all__ = ["OPERATIONS"]

Request = dict[str, Any]
Test = Callable[[Execution, dict[str, Any]], bool]

_FILTERS: Final[dict[str, Test]] = {
    "executionFilter": lambda run, wanted: run.workflow_id == wanted["workflowId"],
    "typeFilter": lambda run, wanted: (
        run.workflow_type["name"] == wanted["name"]
        and wanted.get("version") in (None, "", run.workflow_type["version"])
    ),
    "tagFilter": lambda run, wanted: wanted["tag"] in run.tag_list,
    "closeStatusFilter": lambda run, wanted: run.close_status == wanted["status"],
}


def _epoch(value: datetime | float) -> float:
    return value.timestamp() if isinstance(value, datetime) else float(value)


def _within(at: float, wanted: dict[str, Any]) -> bool:
    latest = wanted.get("latestDate")
    return _epoch(wanted["oldestDate"]) <= at and (latest is None or at <= _epoch(latest))


def _time_filter(request: Request, closed: bool) -> tuple[dict[str, Any], Callable[[Execution], float]]:
    if closed and "startTimeFilter" in request and "closeTimeFilter" in request:
        raise faults.invalid("Cannot specify both a startTimeFilter and a closeTimeFilter")
    if closed and "closeTimeFilter" in request:
        return request["closeTimeFilter"], lambda run: run.closed or 0.0
    if "startTimeFilter" in request:
        return request["startTimeFilter"], lambda run: run.started
    raise faults.invalid("Must specify time filter")


def _chosen(world: World, request: Request, closed: bool) -> list[Execution]:
    domain = world.domain(request["domain"])
    wanted, at = _time_filter(request, closed)
    filters = [name for name in _FILTERS if name in request]
    if len(filters) > 1:
        message = "Cannot specify more than one exclusive filters in the same query"
        raise faults.invalid(f"{message}: [{', '.join(filters)}]")
    return sorted(
        (
            run
            for run in _candidates(world, domain.name, closed)
            if _within(at(run), wanted) and all(_FILTERS[name](run, request[name]) for name in filters)
        ),
        key=at,
        reverse=not request.get("reverseOrder"),
    )


def _candidates(world: World, domain: str, closed: bool) -> Iterator[Execution]:
    return (run for run in world.runs.values() if run.domain == domain and run.is_open != closed)


def _list(closed: bool, world: World, request: Request) -> dict[str, Any]:
    chosen = _chosen(world, request, closed)
    scope = ["closed" if closed else "open", request["domain"]]
    _, offset = read_page_token(world, scope, request)
    items, token = page(world, scope, chosen, request, offset=offset)
    return {"executionInfos": [info(run) for run in items], **token}


def _count(closed: bool, world: World, request: Request) -> dict[str, Any]:
    return {"count": len(_chosen(world, request, closed)), "truncated": False}


OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    f"{verb}{state}WorkflowExecutions": partial(operation, state == "Closed")
    for verb, operation in (("List", _list), ("Count", _count))
    for state in ("Open", "Closed")
}

"""Lists and counts of executions (swf-semantics §1.5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.query import Query
from flowpy.local.engine.tokens import page, read_page_token
from flowpy.local.engine.visibility import info
from flowpy.local.engine.world import World

__all__ = ["OPERATIONS"]

Request = dict[str, Any]

_FILTERS: Final[dict[str, Callable[[dict[str, Any]], dict[str, str | None]]]] = {
    "executionFilter": lambda wanted: {"workflow_id": wanted["workflowId"]},
    "typeFilter": lambda wanted: {"type_name": wanted["name"], "type_version": wanted.get("version") or None},
    "tagFilter": lambda wanted: {"tag": wanted["tag"]},
    "closeStatusFilter": lambda wanted: {"close_status": wanted["status"]},
}


def _epoch(value: datetime | float) -> float:
    return value.timestamp() if isinstance(value, datetime) else float(value)


def _time_filter(request: Request, closed: bool) -> tuple[dict[str, Any], bool]:
    """The span asked for, and whether it is of the close."""
    if closed and "startTimeFilter" in request and "closeTimeFilter" in request:
        raise faults.invalid("Cannot specify both a startTimeFilter and a closeTimeFilter")
    if closed and "closeTimeFilter" in request:
        return request["closeTimeFilter"], True
    if "startTimeFilter" in request:
        return request["startTimeFilter"], False
    raise faults.invalid("Must specify time filter")


def _query(world: World, request: Request, closed: bool) -> Query:
    domain = world.domain(request["domain"])
    span, by_close = _time_filter(request, closed)
    filters = [name for name in _FILTERS if name in request]
    if len(filters) > 1:
        message = "Cannot specify more than one exclusive filters in the same query"
        raise faults.invalid(f"{message}: [{', '.join(filters)}]")
    return Query(
        domain.name,
        closed,
        by_close,
        oldest=_epoch(span["oldestDate"]),
        latest=_epoch(span["latestDate"]) if "latestDate" in span else None,
        newest_first=not request.get("reverseOrder"),
        **(_FILTERS[filters[0]](request[filters[0]]) if filters else {}),
    )


def _list(closed: bool, world: World, request: Request) -> dict[str, Any]:
    query = _query(world, request, closed)
    scope = ["closed" if closed else "open", request["domain"]]
    _, offset = read_page_token(world, scope, request)
    items, token = page(world, scope, partial(world.runs.select, query), request, offset=offset)
    return {"executionInfos": [info(run) for run in items], **token}


def _count(closed: bool, world: World, request: Request) -> dict[str, Any]:
    return {"count": world.runs.count(_query(world, request, closed)), "truncated": False}


OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    f"{verb}{state}WorkflowExecutions": partial(operation, state == "Closed")
    for verb, operation in (("List", _list), ("Count", _count))
    for state in ("Open", "Closed")
}

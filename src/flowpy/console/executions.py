"""The lists of domains, of executions and of task lists."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from attrs import frozen

from flowpy.console.filters import CLOSE_STATUSES, FIELDS, Filters, filters_of
from flowpy.console.requests import Refused, Request
from flowpy.console.service import Service, all_of
from flowpy.errors import UnknownResource

__all__ = ["PAGE", "Found", "domains", "executions", "find", "task_lists"]

PAGE: Final = 50
"""Executions on a page; some more where criteria are combined, or where open ones end and closed ones begin."""

_MOST_READ: Final = 5_000
_MOST_TYPES: Final = 500


@frozen
class Found:
    """One page of executions.

    Attributes:
        infos: WorkflowExecutionInfo structures, open ones first, each group from the latest start on.
        after: Where the next page begins; "" on the last one.
        is_partial: Whether the search stopped before the page was full, after thousands that did not fit.
    """

    infos: list[dict[str, Any]]
    after: str = ""
    is_partial: bool = False


def domains(services: Mapping[str, Service]) -> dict[str, Any]:
    """What the page of all domains shows."""
    found = []
    for region, service in services.items():
        for status in ("REGISTERED", "DEPRECATED"):
            infos = all_of(service, "ListDomains", "domainInfos", registrationStatus=status)
            found += [{"region": region, "open": _count(service, info["name"], "Open"), **info} for info in infos]
    return {"domains": found, "regions": list(services)}


def executions(service: Service, request: Request) -> dict[str, Any]:
    """What the page of a domain's executions shows.

    Raises:
        ServiceError: SWF's fault.
        Refused: The filters cannot be read.
    """
    domain, filters = request.asked("domain"), filters_of(request.query)
    found = find(service, domain, filters, request.query.get("after", ""))
    given = {name: request.query[name] for name in FIELDS if request.query.get(name)}
    return {
        "domain": domain,
        "found": found,
        "given": given,
        "is_first": not request.query.get("after"),
        "counts": {state: _count(service, domain, state) for state in ("Open", "Closed")},
        "statuses": CLOSE_STATUSES,
        "now": service.clock.now(),
    }


def find(service: Service, domain: str, filters: Filters, after: str = "") -> Found:
    """One page of executions.

    Args:
        service: Who is asked.
        domain: Name of the domain.
        filters: What is looked for.
        after: `Found.after` of the page before.

    Raises:
        ServiceError: SWF's fault.
        Refused: ``after`` is nothing that a page said.
    """
    states = list(filters.states)
    state, _, token = after.partition(" ")
    if after:
        if state not in states:
            raise Refused(HTTPStatus.BAD_REQUEST, "There is no such page.")
        states = states[states.index(state) :]
    infos: list[dict[str, Any]] = []
    read = 0
    while states:
        asked = {**filters.request(domain), "maximumPageSize": PAGE, **({"nextPageToken": token} if token else {})}
        answer = service.call(f"List{states[0]}WorkflowExecutions", asked)
        infos += filter(filters.match, answer["executionInfos"])
        read += len(answer["executionInfos"])
        token = answer.get("nextPageToken", "")
        if not token:
            del states[0]
        if states and (len(infos) >= PAGE or read >= _MOST_READ):
            return Found(infos, f"{states[0]} {token}", len(infos) < PAGE)
    return Found(infos)


def _count(service: Service, domain: str, state: str) -> int:
    count: int = service.call(f"Count{state}WorkflowExecutions", Filters().request(domain))["count"]
    return count


def task_lists(service: Service, request: Request) -> dict[str, Any]:
    """What the page of a domain's task lists shows: those with tasks, and those that registered types name.

    Raises:
        ServiceError: SWF's fault.
    """
    domain = request.asked("domain")
    named: dict[tuple[str, str], list[str]] = {}
    for kind, operation in (("decision", "Workflow"), ("activity", "Activity")):
        for type_name, task_list in _defaults(service, domain, operation):
            named.setdefault((kind, task_list), []).append(type_name)
    for kind, name, _ in service.task_lists(domain):
        named.setdefault((kind, name), [])
    rows = []
    for (kind, name), types in sorted(named.items(), key=lambda entry: (entry[0][0] != "decision", entry[0][1])):
        operation = f"CountPending{kind.capitalize()}Tasks"
        count = service.call(operation, {"domain": domain, "taskList": {"name": name}})["count"]
        rows.append({"kind": kind, "name": name, "count": count, "types": types})
    return {"domain": domain, "rows": rows}


def _defaults(service: Service, domain: str, kind: str) -> list[tuple[str, str]]:
    """Types with the task lists that they are registered with."""
    key = f"{kind.lower()}Type"
    found = []
    types = all_of(service, f"List{kind}Types", "typeInfos", domain=domain, registrationStatus="REGISTERED")
    for _, info in zip(range(_MOST_TYPES), types, strict=False):
        try:
            described = service.call(f"Describe{kind}Type", {"domain": domain, key: info[key]})
        except UnknownResource:  # deleted meanwhile
            continue
        task_list = described["configuration"].get("defaultTaskList")
        if task_list:
            found.append((f"{info[key]['name']} {info[key]['version']}", task_list["name"]))
    return found

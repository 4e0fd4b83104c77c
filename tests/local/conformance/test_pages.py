"""Every list comes in pages, alike (swf-semantics §1.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen

from flowpy.errors import InvalidRequest
from flowpy.local.engine import Engine, Quotas, VirtualClock

from .driver import Driver
from .operations import EVER

DAY = 86_400


@frozen
class Paged:
    """An operation that lists.

    Attributes:
        arrange: Makes five items; gives the request.
        key: Where the answer has them.
        name: What an item is called here.
        ordered: What they are called, in the order of the whole list.
    """

    arrange: Callable[[Driver], dict[str, Any]]
    key: str
    name: Callable[[dict[str, Any]], Any]
    ordered: list[Any]


def domains(swf: Driver) -> dict[str, Any]:
    for name in "dbca":
        swf.call("RegisterDomain", name=name, workflowExecutionRetentionPeriodInDays="1")
    return {"registrationStatus": "REGISTERED"}


def types(kind: str) -> Callable[[Driver], dict[str, Any]]:
    def arrange(swf: Driver) -> dict[str, Any]:
        for name, version in ("b2", "a1", "a2", "b1", "a3"):
            named = {"name": name, "version": version}
            swf.call(f"Register{kind}Type", domain="shop", **named)
            swf.call(f"Deprecate{kind}Type", domain="shop", **{f"{kind.lower()}Type": named})
        return {"domain": "shop", "registrationStatus": "DEPRECATED"}

    return arrange


def runs(swf: Driver) -> dict[str, Any]:
    for workflow_id in "abcde":
        swf.start(workflow_id, executionStartToCloseTimeout=str(10 * DAY), taskStartToCloseTimeout="NONE")
        swf.engine.advance(1)
    return {"domain": "shop", "startTimeFilter": EVER}


def closed_runs(swf: Driver) -> dict[str, Any]:
    request = runs(swf)
    for workflow_id in "edcba":
        swf.terminate(workflow_id)
        swf.engine.advance(1)
    return request


def history(swf: Driver) -> dict[str, Any]:
    run_id = swf.start(executionStartToCloseTimeout=str(10 * DAY))
    for _ in range(3):
        swf.signal()
    return {"domain": "shop", "execution": {"workflowId": "w", "runId": run_id}}


def task(swf: Driver) -> dict[str, Any]:
    swf.start(taskStartToCloseTimeout="NONE", executionStartToCloseTimeout=str(10 * DAY))
    swf.signal()
    swf.signal()
    return {"domain": "shop", "taskList": {"name": "deciders"}}


def of_type(kind: str) -> Paged:
    name = f"{kind.lower()}Type"
    versions = ["a1", "a2", "a3", "b1", "b2"]
    return Paged(types(kind), "typeInfos", lambda info: info[name]["name"] + info[name]["version"], versions)


def workflow_id(info: dict[str, Any]) -> str:
    found: str = info["execution"]["workflowId"]
    return found


PAGED = {
    "ListDomains": Paged(domains, "domainInfos", lambda info: info["name"], ["a", "b", "c", "d", "shop"]),
    "ListActivityTypes": of_type("Activity"),
    "ListWorkflowTypes": of_type("Workflow"),
    "ListOpenWorkflowExecutions": Paged(runs, "executionInfos", workflow_id, list("edcba")),
    "ListClosedWorkflowExecutions": Paged(closed_runs, "executionInfos", workflow_id, list("edcba")),
    "GetWorkflowExecutionHistory": Paged(history, "events", lambda event: event["eventId"], [1, 2, 3, 4, 5]),
    "PollForDecisionTask": Paged(task, "events", lambda event: event["eventId"], [1, 2, 3, 4, 5]),
}


def pages(swf, operation, request):
    answer = swf.call(operation, **request)
    yield answer
    while "nextPageToken" in answer:
        answer = swf.call(operation, **request, nextPageToken=answer["nextPageToken"])
        yield answer


@pytest.fixture(params=PAGED)
def operation(request):
    return request.param


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [1, 2, 4, 5, 6])
def test_the_pages_make_up_the_whole(swf, operation, size, reverse):
    paged = PAGED[operation]
    request = paged.arrange(swf) | {"maximumPageSize": size, "reverseOrder": reverse}
    read = list(pages(swf, operation, request))

    items = [[paged.name(item) for item in page[paged.key]] for page in read]
    ordered = paged.ordered[::-1] if reverse else paged.ordered
    assert items == [ordered[start : start + size] for start in range(0, 5, size)], "no empty page at the end"
    tokens = [page["nextPageToken"] for page in read[:-1]]
    assert len(set(tokens)) == len(tokens)


@pytest.mark.parametrize("size", [{}, {"maximumPageSize": 0}], ids=["none", "0"])
def test_a_page_without_a_size_is_as_long_as_a_page_can_be(swf, operation, size):
    paged = PAGED[operation]
    request = paged.arrange(swf)
    swf.engine.world.quotas = Quotas(page_size=3)
    answer = swf.call(operation, **request, **size)
    assert [paged.name(item) for item in answer[paged.key]] == paged.ordered[:3]


def test_a_token_is_good_for_a_day(swf, operation):
    paged = PAGED[operation]
    request = paged.arrange(swf) | {"maximumPageSize": 3}
    token = swf.call(operation, **request)["nextPageToken"]
    swf.engine.advance(DAY)
    assert len(swf.call(operation, **request, nextPageToken=token)[paged.key]) == 2
    swf.engine.advance(1)
    with pytest.raises(InvalidRequest, match="Specified token has exceeded its maximum lifetime"):
        swf.call(operation, **request, nextPageToken=token)


@pytest.mark.parametrize("token", ["made up", "W10=", "e30="])
def test_a_token_made_up_is_invalid(swf, operation, token):
    request = PAGED[operation].arrange(swf)
    with pytest.raises(InvalidRequest, match="Invalid token") as caught:
        swf.call(operation, **request, nextPageToken=token)
    assert caught.value.fault == "ValidationException"


def test_an_empty_token_is_none(swf, operation):
    paged = PAGED[operation]
    request = paged.arrange(swf)
    assert len(swf.call(operation, **request, nextPageToken="")[paged.key]) == 5


FOREIGN = [(operation, other) for operation in PAGED for other in PAGED if operation != other]


@pytest.mark.parametrize(("operation", "other"), FOREIGN)
def test_a_token_of_another_operation_is_invalid(swf, new_driver, operation, other):
    elsewhere = new_driver(Engine(VirtualClock(swf.engine.clock.now())))
    token = elsewhere.call(other, **PAGED[other].arrange(elsewhere), maximumPageSize=1)["nextPageToken"]
    request = PAGED[operation].arrange(swf)
    with pytest.raises(InvalidRequest, match="Invalid token"):
        swf.call(operation, **request, nextPageToken=token)

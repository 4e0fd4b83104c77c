"""What the wire protocol promises (swf-semantics §8), seen by a client that knows nothing but HTTP."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

import pytest

from flowpy.errors import ServiceUnavailable, Throttled
from flowpy.local import Engine
from flowpy.local.server import Application, Regions, Server

OPERATION = "SimpleWorkflowService.ListDomains"
LEGACY = "com.amazonaws.swf.service.model.SimpleWorkflowService.ListDomains"
REGISTERED = {"registrationStatus": "REGISTERED"}
LIST = b'{"registrationStatus":"REGISTERED"}'


# --- requests -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "content_type", "answered"),
    [
        (OPERATION, "application/x-amz-json-1.0", "application/x-amz-json-1.0"),
        (LEGACY, "application/json; charset=UTF-8", "application/json"),
        (OPERATION, "text/plain", "application/x-amz-json-1.0"),
    ],
    ids=["today's", "boto2's", "any content type"],
)
def test_both_targets_and_any_content_type_are_understood(
    wire: Any, target: str, content_type: str, answered: str
) -> None:
    answer = wire.send(LIST, x_amz_target=target, content_type=content_type, content_encoding="amz-1.0")

    assert (answer.status, answer.json) == (200, {"domainInfos": []})
    assert answer.headers["content-type"] == answered


def test_each_region_of_a_credential_scope_is_a_world_of_its_own(new_wire: Any) -> None:
    with Server(Application(Regions(lambda region: Engine(region=region)), 0)) as server:
        here, there = new_wire(server.url), new_wire(server.url, region="eu-west-1")
        here.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")

        assert there.call("ListDomains", **REGISTERED) == {"domainInfos": []}
        there.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")

        unsigned = here.send(b'{"name":"shop"}', x_amz_target="SimpleWorkflowService.DescribeDomain").json
        arns = [each.call("DescribeDomain", name="shop")["domainInfo"]["arn"] for each in (here, there)]
        assert arns == [f"arn:aws:swf:{region}:123456789012:/domain/shop" for region in ("us-east-1", "eu-west-1")]
        assert unsigned["domainInfo"]["arn"] == arns[0]


def test_there_is_an_end_to_regions(new_wire: Any) -> None:
    with Server(Application(Regions(lambda region: Engine(region=region)), 0)) as server:
        answers = [new_wire(server.url, region=f"r-{n}").post("ListDomains", REGISTERED) for n in range(52)]

        assert {answer.status for answer in answers[:49]} == {200}
        assert answers[-1].kind == "UnrecognizedClientException"


def test_an_answer_has_an_id_and_a_length(wire: Any) -> None:
    first, second = wire.post("ListDomains", REGISTERED), wire.post("ListDomains", REGISTERED)

    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", first.headers["x-amzn-requestid"])
    assert first.headers["x-amzn-requestid"] != second.headers["x-amzn-requestid"]
    assert first.headers["content-length"] == str(len(first.body))


def test_an_operation_without_output_answers_with_an_empty_body(wire: Any) -> None:
    answer = wire.post("RegisterDomain", {"name": "d", "workflowExecutionRetentionPeriodInDays": "1"})

    assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")


def test_an_empty_body_is_a_request_without_members(wire: Any) -> None:
    answer = wire.send(b"", x_amz_target=OPERATION)

    assert answer.kind == "ValidationException"
    assert "registrationStatus" in answer.json["message"]


@pytest.mark.parametrize("written", ["1767323045", "1767323045.678", "1.767323045678E9", '"2026-01-02T03:04:05Z"'])
def test_timestamps_are_read_however_sdks_write_them(shop: Any, written: str) -> None:
    body = f'{{"domain":"shop","startTimeFilter":{{"oldestDate":{written}}}}}'.encode()

    answer = shop.send(body, x_amz_target="SimpleWorkflowService.CountOpenWorkflowExecutions")

    assert answer.json == {"count": 0, "truncated": False}


# --- answers --------------------------------------------------------------------------------


def test_members_stand_in_order_and_timestamps_are_seconds_with_milliseconds(shop: Any) -> None:
    run_id = shop.start()
    answer = shop.post(
        "GetWorkflowExecutionHistory", {"domain": "shop", "execution": {"workflowId": "w", "runId": run_id}}
    )

    def members(value: Any) -> None:
        if isinstance(value, dict):
            assert list(value) == sorted(value)
        for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            members(member)

    members(answer.json)
    stamps = [event["eventTimestamp"] for event in answer.json["events"]]
    assert [round(stamp, 3) for stamp in stamps] == stamps
    assert b"null" not in answer.body


@pytest.mark.parametrize("size", [0, 2])
def test_a_decision_task_s_members_stand_in_order_on_every_page(shop: Any, size: int) -> None:
    shop.start()

    answer = shop.post(
        "PollForDecisionTask", {"domain": "shop", "taskList": {"name": "deciders"}, "maximumPageSize": size}
    )

    assert list(answer.json) == sorted(answer.json)
    assert ("nextPageToken" in answer.json) == bool(size)
    assert re.search(rb'"runId":"[0-9]{2}[A-Za-z0-9+/]{43}="', answer.body)


def test_what_was_written_comes_back_whatever_it_is(shop: Any) -> None:
    text = 'ü 😀 " \\ \u2028 \x7f'
    run_id = shop.call(
        "StartWorkflowExecution",
        domain="shop",
        workflowId="w",
        workflowType={"name": "order", "version": "1"},
        input=text,
    )["runId"]

    events = shop.call("GetWorkflowExecutionHistory", domain="shop", execution={"workflowId": "w", "runId": run_id})

    assert events["events"][0]["workflowExecutionStartedEventAttributes"]["input"] == text


# --- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "request_", "status", "kind", "message"),
    [
        (
            "DescribeDomain",
            {"name": "d"},
            400,
            "com.amazonaws.swf.base.model#UnknownResourceFault",
            "Unknown domain: d",
        ),
        (
            "RegisterDomain",
            {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"},
            400,
            "com.amazonaws.swf.base.model#DomainAlreadyExistsFault",
            "shop",
        ),
        (
            "DescribeDomain",
            {},
            400,
            "com.amazon.coral.validate#ValidationException",
            "1 validation error detected: Value null at 'name' failed to satisfy constraint: Member must not be null",
        ),
        (
            "DescribeDomain",
            {"name": 1},
            400,
            "com.amazon.coral.service#SerializationException",
            "Value at 'name' is not a string",
        ),
        (
            "MakeCoffee",
            {},
            400,
            "com.amazon.coral.service#UnknownOperationException",
            "Unknown operation: MakeCoffee",
        ),
    ],
)
def test_a_fault_is_its_type_and_its_message(
    shop: Any, operation: str, request_: dict[str, Any], status: int, kind: str, message: str
) -> None:
    answer = shop.post(operation, request_)

    assert (answer.status, answer.json) == (status, {"__type": kind, "message": message})


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (ServiceUnavailable("…", fault="InternalFailure"), 500, "com.amazon.coral.service#InternalFailure"),
        (ServiceUnavailable("…", fault="ServiceUnavailable"), 503, "com.amazon.coral.service#ServiceUnavailable"),
        (
            Throttled("Rate exceeded", fault="ThrottlingException"),
            400,
            "com.amazon.coral.availability#ThrottlingException",
        ),
    ],
    ids=["500", "503", "throttled"],
)
def test_a_disrupted_call_fails_as_the_service_would(
    wire: Any, engine: Engine, error: Any, status: int, kind: str
) -> None:
    engine.disrupt("ListDomains", error)

    answer = wire.post("ListDomains", REGISTERED)

    assert (answer.status, answer.json["__type"]) == (status, kind)


def test_a_request_without_a_target_is_no_operation(wire: Any) -> None:
    assert wire.send(b"{}").kind == "UnknownOperationException"


def test_a_browser_is_told_what_this_is(wire: Any) -> None:
    hello, lost = wire.send(b"", method="GET"), wire.send(b"", method="GET", path="/elsewhere")

    assert (hello.status, lost.status) == (200, 404)
    assert b"SWF" in hello.body
    assert wire.send(b"", method="HEAD").status == 200


def test_a_connection_serves_many_requests(wire: Any) -> None:
    connection = http.client.HTTPConnection(*wire.address, timeout=10)
    for _ in range(3):
        connection.request("POST", "/", json.dumps(REGISTERED), {"X-Amz-Target": OPERATION})
        assert connection.getresponse().read() == b'{"domainInfos":[]}'
    connection.close()

"""Whatever is sent, there is a right error or the connection is dropped, nothing changes, and the server goes on."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowpy.local import Engine, SystemClock
from flowpy.local.server import Application, Regions, Server

MEGABYTE = 1_048_576
REGISTER = "SimpleWorkflowService.RegisterDomain"


def domain(**members: Any) -> dict[str, Any]:
    return {"name": "d", "workflowExecutionRetentionPeriodInDays": "1"} | members


def padded(size: int) -> bytes:
    """A request that would be right if it were not so long."""
    bare = len(json.dumps(domain(description="")))
    return json.dumps(domain(description="x" * (size - bare))).encode()


@pytest.fixture(autouse=True)
def goes_on(wire: Any, engine: Engine) -> Iterator[None]:
    """After every test the server still answers, and nothing was registered."""
    yield
    assert wire.call("ListDomains", registrationStatus="REGISTERED") == {"domainInfos": []}
    assert engine.world.domains == {}


BODIES = {
    "no JSON": b"{",
    "two values": b"{}{}",
    "a list": b"[]",
    "text": b'"text"',
    "a number": b"1",
    "null": b"null",
    "NaN": b'{"name": NaN}',
    "infinity": b'{"name": -Infinity}',
    "bad UTF-8": b'{"name": "\xff\xfe"}',
    "overlong UTF-8": b'{"name": "\xc0\x80"}',
    "UTF-16": '{"name": "d"}'.encode("utf-16"),
    "a byte order mark": '\ufeff{"name": "d"}'.encode(),
    "half a surrogate pair": b'{"name": "\\ud800", "workflowExecutionRetentionPeriodInDays": "1"}',
    "half a pair, in capitals": b'{"name": "\\uDC00", "workflowExecutionRetentionPeriodInDays": "1"}',
    "control characters": b'{"name": "\x00"}',
    "deep lists": b"[" * 400_000,
    "deep and whole": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep in a member": b'{"name":"d","workflowExecutionRetentionPeriodInDays":"1","x":'
    + b"[" * 900
    + b"]" * 900
    + b"}",
    "a long number": b'{"name": ' + b"9" * 100_000 + b"}",
    "a list for text": b'{"name": [], "workflowExecutionRetentionPeriodInDays": "1"}',
    "a number for text": b'{"name": "d", "workflowExecutionRetentionPeriodInDays": 1}',
    "truth for text": b'{"name": true, "workflowExecutionRetentionPeriodInDays": "1"}',
    "text for a list": b'{"name": "d", "workflowExecutionRetentionPeriodInDays": "1", "tags": "x"}',
    "over a megabyte": padded(MEGABYTE + 1),
    "several megabytes": padded(5 * MEGABYTE),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_is_no_request_is_a_serialization_exception(wire: Any, body: bytes) -> None:
    answer = wire.send(body, x_amz_target=REGISTER)

    assert (answer.status, answer.kind) == (400, "SerializationException")


@pytest.mark.parametrize(
    "written", ["1e400", "9" * 400, '"yesterday"', "true", "[]", "{}", '"-1"', "1e300"], ids=lambda text: text[:9]
)
def test_what_is_no_timestamp_is_a_serialization_exception(wire: Any, written: str) -> None:
    body = f'{{"domain":"d","startTimeFilter":{{"oldestDate":{written}}}}}'.encode()

    answer = wire.send(body, x_amz_target="SimpleWorkflowService.ListOpenWorkflowExecutions")

    assert (answer.status, answer.kind) == (400, "SerializationException")


def test_a_request_of_a_megabyte_is_judged_by_what_it_says(wire: Any) -> None:
    answer = wire.send(padded(MEGABYTE), x_amz_target=REGISTER)

    assert answer.kind == "ValidationException"
    assert "length less than or equal to 1024" in answer.json["message"]


def test_a_request_with_many_members_side_by_side_is_not_deep(wire: Any) -> None:
    answer = wire.post("RespondDecisionTaskCompleted", {"taskToken": "t", "decisions": [{"decisionType": "x"}] * 500})

    assert answer.kind == "ValidationException"


def test_a_long_request_in_chunks_is_too_long_too(wire: Any) -> None:
    opened = wire.raw()
    opened.sendall(f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: {REGISTER}\r\n".encode())
    opened.sendall(b"Transfer-Encoding: chunked\r\n\r\n")
    chunk = b"x" * 65_536
    for _ in range(20):
        opened.sendall(b"10000\r\n" + chunk + b"\r\n")
    opened.sendall(b"0\r\n\r\n")

    assert b"SerializationException" in opened.recv(65_536)
    opened.close()


def test_a_request_without_end_is_dropped(wire: Any) -> None:
    opened = wire.raw()
    opened.sendall(
        f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: {REGISTER}\r\nContent-Length: 9999999999\r\n\r\n".encode()
    )
    chunk = b"x" * MEGABYTE
    answered = b""
    try:
        for _ in range(64):
            opened.sendall(chunk)
        answered = opened.recv(65_536)
    except OSError:
        pass

    assert answered == b"" or b"SerializationException" in answered
    opened.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"\x00" * 100,
        b"\r\n" * 50,
    ],
    ids=["TLS", "half a line", "another version", "zeros", "blank lines"],
)
def test_what_is_no_http_is_turned_away(wire: Any, sent: bytes) -> None:
    opened = wire.raw()
    opened.sendall(sent)
    opened.shutdown(socket.SHUT_WR)

    answered = opened.recv(65_536)

    assert answered == b"" or answered.startswith(b"HTTP/1.1 400")
    opened.close()


def test_headers_without_end_are_dropped(wire: Any) -> None:
    opened = wire.raw()
    opened.sendall(b"POST / HTTP/1.1\r\n")
    header = b"x-y: " + b"z" * 1_000 + b"\r\n"
    sent = 0
    with contextlib.suppress(OSError):
        while sent < 100 * MEGABYTE:
            sent += opened.send(header)

    assert sent < 100 * MEGABYTE
    opened.close()


@pytest.mark.parametrize("origin", ["http://evil.example", "http://evil.example:8042", "null", "http://[", "file://"])
def test_a_page_of_another_site_may_not_call(wire: Any, origin: str) -> None:
    answer = wire.send(json.dumps(domain()).encode(), x_amz_target=REGISTER, origin=origin)

    assert (answer.status, answer.json["__type"].rpartition("#")[2]) == (400, "AccessDeniedException")


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:8042", "http://[::1]"])
def test_a_page_of_this_machine_may(wire: Any, origin: str) -> None:
    target = "SimpleWorkflowService.ListDomains"

    assert wire.send(b'{"registrationStatus":"REGISTERED"}', x_amz_target=target, origin=origin).status == 200


def test_odd_headers_are_answered(wire: Any) -> None:
    answer = wire.send(
        b'{"registrationStatus":"REGISTERED"}',
        x_amz_target="SimpleWorkflowService.ListDomains",
        authorization="AWS4-HMAC-SHA256 Credential=../../etc/passwd/../../../swf/aws4_request",
        content_length="35",
    )

    assert answer.status == 200


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"POST / HT",
        b"POST / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
    ],
    ids=["nothing", "half a line", "half a head", "half a body"],
)
def test_a_client_that_takes_too_long_is_dropped(engine: Engine, new_wire: Any, beginning: bytes) -> None:
    with Server(Application(Regions(lambda _: engine), 0), read_timeout=0.2) as server:
        opened = new_wire(server.url).raw()
        opened.sendall(beginning)

        with contextlib.suppress(ConnectionResetError):
            assert opened.recv(1) == b""
        opened.close()


def test_a_client_that_is_slow_but_not_too_slow_is_answered(wire: Any, read: Any) -> None:
    body = b'{"registrationStatus":"REGISTERED"}'
    head = f"POST / HTTP/1.1\r\nX-Amz-Target: SimpleWorkflowService.ListDomains\r\nContent-Length: {len(body)}\r\n\r\n"
    opened = wire.raw()
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in head.encode() + body:
        opened.sendall(bytes([byte]))

    assert read(opened).json == {"domainInfos": []}
    opened.close()


def test_a_client_that_does_not_read_holds_nobody_up(engine: Engine, new_wire: Any) -> None:
    busy = Engine(SystemClock())
    with Server(Application(Regions(lambda _: busy), 0)) as server:
        wire = new_wire(server.url)
        deaf = wire.raw()
        request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        deaf.setblocking(False)
        with deaf:
            # Whether the server stops reading or drops such a client depends on who is quicker; both are right.
            with contextlib.suppress(BlockingIOError, ConnectionError):
                for _ in range(20_000):
                    deaf.send(request)

            assert wire.call("ListDomains", registrationStatus="REGISTERED") == {"domainInfos": []}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
OPERATIONS = st.sampled_from(
    [
        "CountOpenWorkflowExecutions",
        "DescribeActivityType",
        "GetWorkflowExecutionHistory",
        "ListClosedWorkflowExecutions",
        "ListTagsForResource",
        "PollForActivityTask",
        "PollForDecisionTask",
        "RegisterWorkflowType",
        "RespondActivityTaskCompleted",
        "RespondDecisionTaskCompleted",
        "StartWorkflowExecution",
        "TagResource",
    ]
)
MEMBERS = st.sampled_from(
    "decisions domain execution name nextPageToken resourceArn startTimeFilter tags taskList taskToken typeFilter "
    "version workflowType".split()
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS, st.dictionaries(MEMBERS, JSON, max_size=6))
def test_any_members_are_answered_with_a_fault_of_the_client(
    wire: Any, operation: str, members: dict[str, Any]
) -> None:
    answer = wire.post(operation, members)

    assert answer.status == 400, answer
    assert answer.kind in {"SerializationException", "UnknownResourceFault", "ValidationException"}

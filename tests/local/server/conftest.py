"""A server on a free port of this machine, and a client that knows nothing but HTTP."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from attrs import define, field
from tests.local.shop import DECIDERS, ORDER, REGISTRATIONS, WORKERS

from flowpy.local import Engine, SystemClock
from flowpy.local.server import Application, Regions, Server

HOLD = 20.0
"""Seconds: polls end before because of a task, or because the test ends."""

TARGET = "SimpleWorkflowService."


_raw: list[socket.socket] = []


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    while _raw:
        _raw.pop().close()


def scope(region: str = "us-east-1") -> str:
    return f"AWS4-HMAC-SHA256 Credential=AKID/20260101/{region}/swf/aws4_request, SignedHeaders=host, Signature=0"


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Waits for something that another thread brings about."""
    deadline = time.monotonic() + seconds
    nap = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        nap.wait(0.002)


@define
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """What went wrong, without the name space."""
        return str(self.json["__type"]).rpartition("#")[2]


@define
class Wire:
    """One connection after the other, or one that stays open."""

    url: str
    region: str = "us-east-1"
    connection: http.client.HTTPConnection | None = None

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    def send(self, body: bytes, *, method: str = "POST", path: str = "/", **headers: str) -> Answer:
        """Sends bytes; ``x_amz_target="…"`` is a header."""
        connection = self.connection or http.client.HTTPConnection(*self.address, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        reply = connection.getresponse()
        answer = Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        if self.connection is None:
            connection.close()
        return answer

    def post(self, operation: str, request: Any) -> Answer:
        return self.send(
            json.dumps(request).encode(), x_amz_target=TARGET + operation, authorization=scope(self.region)
        )

    def call(self, operation: str, **request: Any) -> Any:
        """The members of an answer that is none of a fault."""
        answer = self.post(operation, request)
        assert answer.status == 200, answer
        return answer.json if answer.body else {}

    def register(self) -> None:
        """Registers the domain ``shop``, and in it the types ``order`` and ``charge``."""
        for operation, request in REGISTRATIONS.items():
            self.call(operation, **request)

    def raw(self) -> socket.socket:
        """A socket that is closed with the test, also with one that fails: the next ones would be blamed for it."""
        opened = socket.create_connection(self.address, timeout=30)
        _raw.append(opened)
        return opened

    def open_poll(self, request: dict[str, Any] = DECIDERS, operation: str = "PollForDecisionTask") -> socket.socket:
        """A socket on which a poll was sent and nothing read."""
        body = json.dumps(request).encode()
        head = f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: {TARGET}{operation}\r\nContent-Length: {len(body)}\r\n\r\n"
        opened = self.raw()
        opened.sendall(head.encode() + body)
        return opened

    def start(self, workflow_id: str = "w") -> str:
        run_id: str = self.call(
            "StartWorkflowExecution",
            domain="shop",
            workflowId=workflow_id,
            workflowType=ORDER,
        )["runId"]
        return run_id


def read_answer(opened: socket.socket) -> Answer:
    reply = http.client.HTTPResponse(opened)
    reply.begin()
    return Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())


@define
class Polls:
    """Polls in threads of their own."""

    wire: Wire
    pool: ThreadPoolExecutor = field(factory=lambda: ThreadPoolExecutor(8))

    def decision(self) -> Future[Any]:
        return self.pool.submit(self.wire.call, "PollForDecisionTask", **DECIDERS)

    def activity(self) -> Future[Any]:
        return self.pool.submit(self.wire.call, "PollForActivityTask", **WORKERS)


@pytest.fixture
def engine() -> Engine:
    return Engine(SystemClock())


@pytest.fixture
def application(engine: Engine) -> Application:
    return Application(Regions(lambda _: engine), HOLD)


@pytest.fixture
def server(application: Application) -> Iterator[Server]:
    with Server(application) as server:
        yield server


@pytest.fixture
def wire(server: Server) -> Wire:
    return Wire(server.url)


@pytest.fixture
def shop(wire: Wire) -> Wire:
    """The wire to a service that has the domain ``shop``, and in it the types ``order`` and ``charge``."""
    wire.register()
    return wire


@pytest.fixture
def polls(shop: Wire, server: Server) -> Iterator[Polls]:
    polls = Polls(shop)
    yield polls
    polls.pool.shutdown(wait=False)


@pytest.fixture
def wait(application: Application) -> Callable[[int], None]:
    """Waits until so many polls wait."""
    return lambda count: until(lambda: application.waiting == count)


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., None]:
    return until


@pytest.fixture(scope="session")
def new_wire() -> Callable[..., Wire]:
    return Wire


@pytest.fixture(scope="session")
def read() -> Callable[[socket.socket], Answer]:
    """Reads an answer from a socket."""
    return read_answer

"""SWF's HTTP interface as a raw ASGI application."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from flowpy.errors import AccessDenied, InvalidRequest, ServiceError, ServiceUnavailable
from flowpy.local.engine import Engine
from flowpy.local.server.polls import Connection, LongPolls
from flowpy.local.server.regions import Regions
from flowpy.local.wire import (
    MOST_BYTES,
    answer_bytes,
    fault_bytes,
    operation_of,
    read_request,
    region_of,
    too_large,
)

__all__ = ["DEFAULT_HOLD", "Application", "Site"]

DEFAULT_HOLD: Final = 58.0
"""Seconds. SWF holds a poll for 60, which is boto3's read timeout too: a little less keeps clients from giving up."""

END_POLLS: Final = "FlowpyLocal.EndPolls"
"""``X-Amz-Target`` of what SWF does not have: answer the polls of an ``identity`` at once, for a client that stops."""

_HELLO: Final = b"Amazon SWF, embedded: point an SWF client's endpoint here.\n"
_MOST_DRAINED: Final = 16 * MOST_BYTES
_log = logging.getLogger("flowpy.local")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = dict[bytes, bytes]
Site = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
"""An ASGI application for what is no request to SWF, such as pages for people."""


class _Gone(Exception):
    """The client closed its connection before its request was complete."""


class Application:
    """Answers SWF's operations over ASGI; no signature is checked.

    It is to be served by one event loop. Under `flowpy.local.server.Server` it sees sockets that are closed before any
    task is handed out; another ASGI server tells it a little later.

    Args:
        regions: The engines.
        hold: Seconds a poll is held while there is no task.
        site: Answers what is not asked of SWF: all methods but POST, and POST to addresses other than ``/`` without
            ``X-Amz-Target``. Default a line of text at ``/``.
    """

    def __init__(self, regions: Regions, hold: float = DEFAULT_HOLD, site: Site | None = None) -> None:
        self.regions = regions
        self.hold = hold
        self.site = site
        self._polls: dict[Engine, LongPolls] = {}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"SWF speaks HTTP, not {scope['type']}")
        headers: Headers = dict(scope["headers"])
        is_swf = scope["method"] == "POST" and (b"x-amz-target" in headers or scope["path"] == "/")
        if self.site is not None and not is_swf:
            await self.site(scope, receive, send)
            return
        if scope["method"] != "POST":
            await _reply(send, 200 if scope["path"] == "/" else 404, _HELLO, b"text/plain; charset=utf-8")
            return
        legacy = headers.get(b"content-type", b"").startswith(b"application/json")
        try:
            answer = await self._answer(scope, headers, receive)
        except ServiceError as error:
            status, body = fault_bytes(error)
        except _Gone:
            return
        else:
            if answer is None:
                # The ASGI server may not have noticed yet what the socket has shown.
                await _closed(receive)
                return
            status, body = 200, answer_bytes(answer)
        await _reply(send, status, body, b"application/json" if legacy else b"application/x-amz-json-1.0")

    async def _answer(
        self, scope: MutableMapping[str, Any], headers: Headers, receive: Receive
    ) -> dict[str, Any] | None:
        body = await _body(receive)
        if not _is_of_this_machine(headers.get(b"origin", b"").decode("latin-1")):
            # A page of a site that gives its own name this machine's address (DNS rebinding); SDKs send no Origin.
            raise AccessDenied("Pages of other sites may not call this service", fault="AccessDeniedException")
        target = headers.get(b"x-amz-target", b"").decode("latin-1")
        if target == END_POLLS:
            return self._end_polls(read_request(body))
        operation = operation_of(target)
        if not operation:
            raise InvalidRequest("No X-Amz-Target header names an operation", fault="UnknownOperationException")
        region = region_of(headers.get(b"authorization", b"").decode("latin-1"))
        request = read_request(body)
        is_open = (scope.get("extensions") or {}).get("flowpy.local", {}).get("is_open", _always)
        try:
            polls = self.polls(self.regions.engine(region))
            return await polls.call(operation, request, Connection(is_open, lambda: _closed(receive)))
        except ServiceError:
            raise
        except Exception:
            _log.exception("%s: the embedded SWF failed; this is an error in flowpy.local", operation)
            raise ServiceUnavailable("Internal failure; the server's log has it", fault="InternalFailure") from None

    def _end_polls(self, request: dict[str, Any]) -> dict[str, Any]:
        identity = request.get("identity")
        if not isinstance(identity, str):
            raise InvalidRequest("identity names whose polls are to end", fault="ValidationException")
        return {"ended": sum(polls.end(identity) for polls in self._polls.values())}

    def polls(self, engine: Engine) -> LongPolls:
        """Where the polls on an engine wait."""
        found = self._polls.get(engine)
        if found is None:
            found = self._polls[engine] = LongPolls(engine, self.hold, asyncio.get_running_loop())
        return found

    def start(self) -> None:
        """Lets things happen that are due, in every region, though nobody calls."""
        for engine in self.regions:
            self.polls(engine).wake()

    @property
    def waiting(self) -> int:
        """How many polls wait for a task."""
        return sum(map(len, self._polls.values()))

    def close(self) -> None:
        """Answers the polls that wait."""
        for polls in self._polls.values():
            polls.close()


def _is_of_this_machine(origin: str) -> bool:
    """Whether a request is no browser's, or that of a page from the loopback interface."""
    if not origin:
        return True
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _always() -> bool:
    return True


async def _body(receive: Receive) -> bytes:
    """The body; one that is too long is read to its end, so that the client gets to read the answer, but not kept."""
    body, size, more = b"", 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= MOST_BYTES:
            body = body + chunk if body else chunk
        elif size > _MOST_DRAINED:
            break
    if size > MOST_BYTES:
        raise too_large()
    return body


async def _closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _reply(send: Send, status: int, body: bytes, content_type: bytes) -> None:
    headers = [
        (b"x-amzn-requestid", str(uuid.uuid4()).encode()),
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

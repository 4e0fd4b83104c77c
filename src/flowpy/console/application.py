"""The console as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any, Final

from flowpy.console.actions import ACTIONS, DONE, act
from flowpy.console.execution import execution, page, version_of
from flowpy.console.executions import domains, executions, task_lists
from flowpy.console.replies import Reply, address, moved, rendered, standalone
from flowpy.console.requests import MOST_BYTES, Refused, Request, check_action, check_visitor, read_request
from flowpy.console.service import Service
from flowpy.errors import ServiceError, UnknownResource

__all__ = ["Console"]

_log = logging.getLogger("flowpy.console")
_SEEN: Final = "x-seen"

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Console:
    """Shows an SWF of this machine to a person at a browser on it, who may signal, cancel and terminate.

    Nobody logs in, so it answers programs of its own machine only, and only if they call it by a name of the loopback
    interface; it acts only on forms of its own pages. Pages are made on threads, so that they hold up no worker.

    Args:
        services: The regions there are, the first one to be shown first. It is asked for each page.
    """

    def __init__(self, services: Callable[[], Mapping[str, Service]]) -> None:
        self._services = services
        self._token = secrets.token_urlsafe(32)
        self._one_page = asyncio.Lock()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers one request."""
        body = await _body(receive)
        if body is None:
            return
        # One page at a time: workers are served meanwhile, whatever number of windows is open.
        async with self._one_page:
            reply = await asyncio.to_thread(self._read_and_answer, scope, body)
        # Halves of surrogate pairs cannot be sent.
        sent = reply.body.encode("utf-8", "replace")
        headers = [(name.encode(), value.encode("latin-1")) for name, value in reply.headers]
        headers.append((b"content-length", str(len(sent)).encode()))
        await send({"type": "http.response.start", "status": int(reply.status), "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else sent})

    def _read_and_answer(self, scope: Mapping[str, Any], body: bytes) -> Reply:
        try:
            request = read_request(scope, body)
        except Refused as refused:
            return _failure(refused.status, str(refused))
        return self.answer(request)

    def answer(self, request: Request) -> Reply:
        """The page that a request asks for, or what came of an action."""
        try:
            check_visitor(request)
            if request.method == "POST":
                return self._act(request)
            return self._page(request)
        except Refused as refused:
            return _failure(refused.status, str(refused))
        except UnknownResource as error:
            return _failure(HTTPStatus.NOT_FOUND, str(error))
        except ServiceError as error:
            return _failure(HTTPStatus.BAD_REQUEST, str(error))
        except Exception:
            _log.exception("%s: the console failed; this is an error in flowpy.console", request.path)
            return _failure(HTTPStatus.INTERNAL_SERVER_ERROR, "The console failed; the log of the server says how.")

    def _page(self, request: Request) -> Reply:
        if request.method not in {"GET", "HEAD"}:
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "Pages are read with GET, forms are sent with POST.")
        if request.path == "/":
            return rendered("domains", host=request.header("host"), **domains(self._services()))
        region, service = self._service(request.query.get("region", ""))
        if request.path == "/executions":
            return rendered("executions", region=region, **executions(service, request))
        if request.path == "/task-lists":
            return rendered("task_lists", region=region, **task_lists(service, request))
        if request.path == "/timeline":
            return standalone(page(service, request))
        if request.path == "/execution":
            if request.header(_SEEN) and request.header(_SEEN) == version_of(service, request):
                return Reply(HTTPStatus.NO_CONTENT)
            done = DONE.get(request.query.get("done", ""), "")
            return rendered("execution", region=region, token=self._token, done=done, **execution(service, request))
        raise Refused(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _act(self, request: Request) -> Reply:
        if request.path not in ACTIONS:
            raise Refused(HTTPStatus.NOT_FOUND, "There is no such action.")
        check_action(request, self._token)
        region, service = self._service(request.form.get("region", ""))
        act(service, request.path, request.form)
        names = ("domain", "workflow_id", "run_id")
        asked = {name: request.form[name] for name in names}
        return moved(address("/execution", region=region, **asked, done=request.path[1:]))

    def _service(self, region: str) -> tuple[str, Service]:
        services = self._services()
        region = region or next(iter(services))
        if region not in services:
            raise Refused(HTTPStatus.NOT_FOUND, f"Region {region} has not been used here.")
        return region, services[region]


def _failure(status: HTTPStatus, text: str) -> Reply:
    return rendered("failure", status, text=text, phrase=status.phrase)


async def _body(receive: Receive) -> bytes | None:
    """The body, of one that is too long a little more than what is read; None if the browser has gone."""
    body, more = b"", True
    while more and len(body) <= MOST_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body

"""A proxy between workers and the embedded service that does to calls what a plan says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import define, field

from .faults import Fate, Plan

__all__ = ["FaultProxy", "faulty"]

_REFUSED = {
    "throttle": (400, "com.amazon.coral.availability#ThrottlingException", "Rate exceeded"),
    "fail": (500, "com.amazon.coral.service#InternalFailure", "An internal error has occurred"),
}


class _Lost(Exception):
    """The connection is to be closed without a word more."""


@define
class _Message:
    """A request or a reply, as it came."""

    head: bytes
    body: bytes

    @property
    def operation(self) -> str:
        """SWF's name of the operation that a request asks for."""
        for line in self.head.lower().split(b"\r\n"):
            if line.startswith(b"x-amz-target:"):
                at = self.head.lower().index(line)
                return self.head[at : at + len(line)].rpartition(b".")[2].decode().strip()
        return ""


@define(eq=False)
class _Connection:
    """One end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read(self) -> _Message:
        """The next message.

        Raises:
            EOFError: There is none.
        """
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return _Message(head, await self.reader.readexactly(length))

    async def write(self, *parts: bytes) -> None:
        self.writer.write(b"".join(parts))
        await self.writer.drain()

    def close(self) -> None:
        self.writer.close()


@define(eq=False)
class FaultProxy:
    """Listens on a port of the loopback interface and passes on what comes.

    Every connection has one of its own to the service, so that a client that dies is gone for the service too.

    Args:
        target: Port of the service.
        plan: What becomes of calls.
    """

    target: int
    plan: Plan
    port: int = field(default=0, init=False)
    calls: int = field(default=0, init=False)
    _tasks: set[asyncio.Task[None]] = field(factory=set, init=False)

    async def serve(self, ready: Callable[[], None], end: asyncio.Event) -> None:
        """Serve until told to end."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await end.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        client = _Connection(reader, writer)
        try:
            # Clients that are killed, connections that break: what the proxy is for.
            with contextlib.suppress(OSError, EOFError, _Lost, asyncio.CancelledError):
                await self._serve(client)
        finally:
            client.close()
            self._tasks.discard(task)

    async def _serve(self, client: _Connection) -> None:
        service = await self._connect()
        try:
            while True:
                request = await client.read()
                self.calls += 1
                fate = self.plan.fate(request.operation)
                reply = await self._unless_gone(client, self._answer(request, service, fate))
                if fate.kind == "cut":
                    await client.write(reply.head, reply.body[: len(reply.body) // 2])
                    raise _Lost
                await client.write(reply.head, reply.body)
        finally:
            service.close()

    async def _unless_gone(self, client: _Connection, answer: asyncio.Future[_Message]) -> _Message:
        """Wait for an answer as long as somebody is there to get it."""
        answering = asyncio.ensure_future(answer)
        gone = asyncio.ensure_future(client.reader.read(1))
        try:
            await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise _Lost
            return answering.result()
        finally:
            for task in (answering, gone):
                task.cancel()
            await asyncio.gather(answering, gone, return_exceptions=True)

    async def _answer(self, request: _Message, service: _Connection, fate: Fate) -> _Message:
        if fate.kind == "drop before":
            raise _Lost
        if fate.kind in _REFUSED:
            return _refusal(*_REFUSED[fate.kind])
        await asyncio.sleep(fate.seconds)
        if fate.kind == "duplicate":
            reply = await self._twice(request, service, fate)
        else:
            reply = await _ask(service, request)
        await asyncio.sleep(fate.after)
        if fate.kind == "drop after":
            raise _Lost
        return reply

    async def _twice(self, request: _Message, service: _Connection, fate: Fate) -> _Message:
        other = await self._connect()
        try:
            first, second = await asyncio.gather(_ask(service, request), _ask(other, request))
        finally:
            other.close()
        return second if fate.second else first

    async def _connect(self) -> _Connection:
        return _Connection(*await asyncio.open_connection("127.0.0.1", self.target))


async def _ask(service: _Connection, request: _Message) -> _Message:
    await service.write(request.head, request.body)
    return await service.read()


def _refusal(status: int, kind: str, message: str) -> _Message:
    body = json.dumps({"__type": kind, "message": message}).encode()
    head = f"HTTP/1.1 {status} No\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {len(body)}\r\n\r\n"
    return _Message(head.encode(), body)


@contextmanager
def faulty(target: int, plan: Plan) -> Iterator[FaultProxy]:
    """A proxy that serves, on a thread of its own, while a block runs."""
    proxy, ready, loop = FaultProxy(target, plan), threading.Event(), asyncio.new_event_loop()
    end = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(proxy.serve(ready.set, end)), name="fault-proxy")
    thread.start()
    try:
        assert ready.wait(10), "the proxy does not start"
        yield proxy
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(10)
        loop.close()

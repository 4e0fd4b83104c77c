"""uvicorn's HTTP protocol with what it lacks: limits for slow and endless requests, and a look at the socket."""

from __future__ import annotations

import select
from asyncio import TimerHandle, Transport
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["READ_TIMEOUT", "Protocol"]

READ_TIMEOUT: Final = 20.0
"""Seconds from the first byte of a request, or the begin of the connection, to the last of the request."""

_MOST_HEADER_BYTES: Final = 65_536
# Linux tells by POLLRDHUP that the other end is closed; elsewhere POLLHUP is what there is.
_HANG_UP: Final = getattr(select, "POLLRDHUP", select.POLLHUP)


class _Corked:
    """A transport that sends the head of an answer with its body: one packet, one wake-up of the client."""

    __slots__ = ("_held", "_transport")

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._held = b""

    def write(self, data: bytes) -> None:
        if self._held:
            data, self._held = self._held + data, b""
        elif data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 100 "):
            self._held = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        if self._held:
            self._transport.write(self._held)
            self._held = b""

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class Protocol(HttpToolsProtocol):
    """One connection."""

    read_timeout = READ_TIMEOUT
    _deadline: TimerHandle | None = None
    _is_reading = True
    _is_in_head = True
    _head_bytes = 0
    _poll: Any = None
    _corked: _Corked | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.read_timeout, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        super().connection_lost(exc)
        self._end_deadline()

    def data_received(self, data: bytes) -> None:
        """Some more of a request is there."""
        super().data_received(data)
        if not self._is_reading:
            if self._deadline is not None:
                self._end_deadline()
            return
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.read_timeout, self._give_up)
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _MOST_HEADER_BYTES:
                self._give_up()

    def on_message_begin(self) -> None:
        """The first byte of a request is there."""
        super().on_message_begin()
        self._is_reading = self._is_in_head = True
        self._head_bytes = 0
        self.scope["extensions"] = {"flowpy.local": {"is_open": self._is_open}}

    def on_headers_complete(self) -> None:
        """The head of a request is there; its answer is prepared."""
        self._is_in_head = False
        super().on_headers_complete()
        self.cycle.transport = self._corked = _Corked(self.transport)  # type: ignore[assignment]

    def on_response_complete(self) -> None:
        """An answer has been written."""
        if self._corked is not None:
            self._corked.flush()
        super().on_response_complete()

    def on_message_complete(self) -> None:
        """A request is there as a whole."""
        super().on_message_complete()
        self._is_reading = False

    def timeout_keep_alive_handler(self) -> None:
        """Nothing was asked for a while."""
        # close() would wait for ever for a client that does not read what it asked for.
        self._give_up()

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _is_open(self) -> bool:
        """Whether the client still listens: what the event loop has not heard of yet, the kernel knows."""
        if self.transport.is_closing():
            return False
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.transport.get_extra_info("socket").fileno(), _HANG_UP)
        return not self._poll.poll(0)

"""The HTTP server: uvicorn in this thread, or in one of its own."""

from __future__ import annotations

import socket
import threading
from ipaddress import ip_address
from types import TracebackType
from typing import Self

import uvicorn

from flowpy.local.server.application import Application
from flowpy.local.server.protocol import READ_TIMEOUT, Protocol

__all__ = ["Server", "listening_socket"]

_KEEP_ALIVE = 75
"""Seconds: longer than a poll is held, so that a worker's connection lives from poll to poll."""


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens, on a free port if `port` is 0.

    Raises:
        OSError: The address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm, which costs 40 ms a request, only where the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2_048)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, application: Application, ready: threading.Event) -> None:
        super().__init__(config)
        self._application = application
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._application.start()
        self._ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.close()
        await super().shutdown(sockets)


class Server:
    """The embedded SWF on a socket.

    ``with Server(application) as server:`` serves from a thread of its own until the block ends; `run` serves from
    this one until a signal.

    Args:
        application: What answers.
        host: Address to listen on. Whoever reaches it can do everything: nothing is authenticated.
        port: Port, 0 for a free one.
        read_timeout: Seconds a client may take to send a request.

    Raises:
        OSError: The address cannot be had.
    """

    def __init__(
        self, application: Application, host: str = "127.0.0.1", port: int = 0, *, read_timeout: float = READ_TIMEOUT
    ) -> None:
        self._socket = listening_socket(host, port)
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        protocol = type("_Protocol", (Protocol,), {"read_timeout": read_timeout})
        config = uvicorn.Config(
            application,
            http=protocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=5,
        )
        self._uvicorn = _Uvicorn(config, application, self._ready)

    @property
    def url(self) -> str:
        """The endpoint to give to clients."""
        host, port = self._socket.getsockname()[:2]
        address = ip_address(host)
        if address.is_unspecified:
            host = "127.0.0.1" if address.version == 4 else "::1"
        return f"http://{host}:{port}" if address.version == 4 else f"http://[{host}]:{port}"

    def run(self) -> None:
        """Serves until SIGINT or SIGTERM; the polls that wait are answered then."""
        self._uvicorn.run(sockets=[self._socket])

    def _run_in_thread(self) -> None:
        try:
            self.run()
        finally:
            # Whatever happened, nobody waits for it any longer.
            self._ready.set()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run_in_thread, name="flowpy.local.server", daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._socket.close()

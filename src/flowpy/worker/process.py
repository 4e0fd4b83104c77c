"""A process that runs activities, as the worker sees it."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final

from attrs import define, field

from flowpy.worker.child import NAME, serve
from flowpy.worker.signals import how_it_ended

__all__ = ["ActivityProcess"]

_LOOK_EVERY: Final = 0.01
_SPAWN: Final = multiprocessing.get_context("spawn")


@define(eq=False)
class ActivityProcess:
    """A process of its own, and the connection with it.

    Args:
        process: The process, started.
        connection: Where messages go and come.
        lifeline: What the process takes the worker's death from, when it is closed.
    """

    process: SpawnProcess
    connection: Connection
    lifeline: Connection
    _sending: threading.Lock = field(factory=threading.Lock, init=False)
    _looking: threading.Lock = field(factory=threading.Lock, init=False)
    _pid: int = field(init=False)
    _code: int | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        assert self.process.pid
        self._pid = self.process.pid

    @classmethod
    def start(cls) -> ActivityProcess:
        """Start one.

        Raises:
            OSError: The system has no place for it.
        """
        ours, theirs = _SPAWN.Pipe()
        watched, lifeline = _SPAWN.Pipe(duplex=False)
        # No daemon in multiprocessing's sense: those may not start processes, and an activity may want to.
        process = _SPAWN.Process(target=serve, args=(theirs, watched), name=NAME, daemon=False)
        try:
            process.start()
        except BaseException:
            ours.close()
            lifeline.close()
            raise
        finally:
            theirs.close()
            watched.close()
        return cls(process, ours, lifeline)

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        with self._looking:
            if self._code is None:
                self._code = self.process.exitcode
                if self._code is None:
                    return True
                # At once, not when the collector comes by: descriptors are few.
                self.process.close()
                self.lifeline.close()
            return False

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, from any thread.

        Raises:
            OSError: The process is dead.
        """
        with self._sending:
            self.connection.send_bytes(json.dumps(message).encode())

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None if none came in time.

        Raises:
            EOFError, OSError: The process is dead.
        """
        if self.connection.poll(seconds):
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
            return message
        # Something that it started may hold the other end open.
        if not self.is_alive:
            raise EOFError
        return None

    def kill(self) -> None:
        """End it, and what it started, at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        with self._looking:
            if self._code is None:
                # It has no group of its own yet while it starts.
                self.process.kill()

    def join(self, seconds: float) -> bool:
        """Wait for its end; gives whether it has ended."""
        deadline = time.monotonic() + seconds
        while self.is_alive:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_EVERY)
        return True

    def close(self) -> None:
        """Let an idle process end, or forget a dead one."""
        with suppress(OSError):
            self.connection.close()

    def __str__(self) -> str:
        if self.is_alive or self._code is None:
            return "runs"
        return how_it_ended(self._code)

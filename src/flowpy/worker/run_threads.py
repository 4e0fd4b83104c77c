"""Threads that own runs: what is kept of a run in memory is touched by one thread only (law L10)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

__all__ = ["PATIENCE", "Job", "RunThread"]

T = TypeVar("T")

PATIENCE: Final = 1.0
"""Seconds of one job after which a thread is taken to be stuck in workflow code that does not block."""


class Job(Generic[T]):
    """What a thread is to do, and what came of it.

    Two locks, where a ``concurrent.futures.Future`` makes a condition and a list of waiters: there is one job for every
    decision, and one that waits for it.

    Args:
        call: What to do.
    """

    __slots__ = ("_call", "_claimed", "_ended", "_error", "_value")

    def __init__(self, call: Callable[[], T]) -> None:
        self._call: Callable[[], T] | None = call
        self._claimed = threading.Lock()
        self._ended = threading.Lock()
        self._ended.acquire()
        self._error: BaseException | None = None
        self._value: T

    def run(self) -> None:
        """Do it, unless it was withdrawn."""
        call, self._call = self._call, None
        if call is None or not self._claimed.acquire(blocking=False):
            return
        try:
            self._value = call()
        except BaseException as error:
            self._error = error
        finally:
            self._ended.release()

    def wait(self, seconds: float) -> bool:
        """Wait for its end; returns whether it has ended."""
        if not self._ended.acquire(timeout=seconds):
            return False
        self._ended.release()
        return True

    def withdraw(self) -> bool:
        """Have it not done; returns False if it has begun."""
        return self._claimed.acquire(blocking=False)

    def result(self, seconds: float = -1) -> T:
        """What it gave, or raised; waits for its end.

        Raises:
            TimeoutError: It has not ended in that time.
        """
        if not self.wait(seconds):
            raise TimeoutError
        # Taken out: its traceback has this job in it, and so would keep it until the collector comes.
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._value


class RunThread:
    """One thread with a line of jobs.

    It is a daemon: workflow code that never ends must not keep the process alive.

    Args:
        name: Its name.
        patience: Seconds that a job waits in line before it is withdrawn.
    """

    def __init__(self, name: str, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._jobs: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._began: float | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def begin(self, call: Callable[[], T]) -> Job[T] | None:
        """Put a job in line and wait until it is begun or has ended; None if the thread is stuck in another one."""
        began = self._began
        if began is not None and time.monotonic() - began > self._patience:
            return None
        job = self.post(call)
        return None if not job.wait(self._patience) and job.withdraw() else job

    def post(self, call: Callable[[], T]) -> Job[T]:
        """Put a job in line."""
        job = Job(call)
        self._jobs.put(job)
        return job

    def close(self, seconds: float) -> bool:
        """Let the thread end after the jobs in line; returns whether it has within that time."""
        self._jobs.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._began = time.monotonic()
            job.run()
            self._began = None
            # A thread that waits must not keep the last run it decided from leaving memory.
            job = None

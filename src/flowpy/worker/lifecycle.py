"""Starting, draining and stopping: what a worker's threads share."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from queue import Empty, SimpleQueue
from typing import Final

from attrs import define, field

__all__ = ["Lifecycle", "Message", "Stop"]

_log = logging.getLogger("flowpy.worker")

WAKE: Final = 1.0
"""Seconds after which a thread that waits for messages wakes to handle signals."""


class Stop:
    """A message: somebody asked the worker to stop."""


Message = Stop | BaseException | None
"""A request to stop, the error that ends the worker, or None: something ended."""


@define(eq=False)
class Lifecycle:
    """Events, running work and counts of one worker.

    Args:
        wait: Waits for an event, at most that many seconds; true if it is set. Tests give one that does not wait.
    """

    wait: Callable[[threading.Event, float], bool] = threading.Event.wait
    stopping: threading.Event = field(factory=threading.Event, init=False)
    abandoned: threading.Event = field(factory=threading.Event, init=False)
    # SimpleQueue.put is reentrant, so signal handlers may use it; Event.set and Condition are not.
    mailbox: SimpleQueue[Message] = field(factory=SimpleQueue, init=False)
    _running: dict[int, str] = field(factory=dict, init=False)
    _keys: Iterator[int] = field(factory=itertools.count, init=False)
    _polls: int = field(default=0, init=False)
    _counts: Counter[str] = field(factory=Counter, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def pause(self, seconds: float) -> bool:
        """Wait before the next poll; true if the worker is stopping."""
        return self.wait(self.stopping, seconds)

    def pause_answer(self, seconds: float) -> bool:
        """Wait before an answer is sent again; true if the worker no longer waits for it."""
        return self.wait(self.abandoned, seconds)

    def fail(self, error: BaseException) -> None:
        """End the worker with an error that waiting does not cure."""
        self.mailbox.put(error)

    def message(self, deadline: float = inf) -> Message:
        """Wait for the next message.

        A signal that comes just before the main thread blocks is handled only when that wakes: it wakes each second.

        Args:
            deadline: When to give up, on the monotonic clock.

        Raises:
            Empty: None came in time.
        """
        while True:
            left = deadline - time.monotonic()
            try:
                return self.mailbox.get(timeout=max(0.0, min(left, WAKE)))
            except Empty:
                if left <= WAKE:
                    raise

    def begin(self, label: str) -> int:
        """The worker does not stop, within its grace, before ``end`` is called with what this gives."""
        key = next(self._keys)
        with self._lock:
            self._running[key] = label
        return key

    def end(self, key: int) -> None:
        """That task has ended."""
        with self._lock:
            del self._running[key]
        self._ended()

    @contextmanager
    def task(self, label: str) -> Iterator[None]:
        """``begin`` and ``end`` around a block."""
        key = self.begin(label)
        try:
            yield
        finally:
            self.end(key)

    @contextmanager
    def poll(self) -> Iterator[None]:
        """A poll is in flight: SWF may give it a task that would be lost if nobody took it."""
        with self._lock:
            self._polls += 1
        try:
            yield
        finally:
            with self._lock:
                self._polls -= 1
            self._ended()

    def drain(self, grace: float, *, wait_for_polls: bool = True) -> None:
        """Stop polling and wait until what is running has ended; then give up on the rest, by name.

        Args:
            grace: Longest wait in seconds; another request to stop ends it at once.
            wait_for_polls: Wait for polls in flight too: a task given to a closed connection is lost for a while.
        """
        self.stopping.set()
        _log.info(
            "worker stops: waiting up to %g s for %d tasks and %d polls in flight; a second signal stops at once",
            grace,
            len(self.tasks),
            self.polls if wait_for_polls else 0,
        )
        deadline = time.monotonic() + grace
        while self.tasks or (self.polls and wait_for_polls):
            try:
                message = self.message(deadline)
            except Empty:
                break
            if isinstance(message, Stop):
                break
        for label in self.tasks:
            _log.error("abandoned, SWF gives it out again or times it out: %s", label)
        if self.polls and wait_for_polls:
            _log.warning("%d polls abandoned: a task that SWF gives them now is lost until it times out", self.polls)
        self.abandoned.set()

    def _ended(self) -> None:
        if self.stopping.is_set():
            self.mailbox.put(None)

    @property
    def tasks(self) -> list[str]:
        """What is running, one text each, to be logged if it is abandoned."""
        with self._lock:
            return list(self._running.values())

    @property
    def polls(self) -> int:
        """Polls in flight."""
        return self._polls

    def count(self, what: str) -> None:
        """Count one of something, such as ``decisions_held``."""
        with self._lock:
            self._counts[what] += 1

    @property
    def counts(self) -> dict[str, int]:
        """The counts so far."""
        with self._lock:
            return dict(self._counts)

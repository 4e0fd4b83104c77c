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

from flowpy.worker.liveness import Liveness

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

    Three events follow each other when it stops: ``stopping`` (no new polls of what others may take), ``leaving`` (no
    new polls at all), ``abandoned`` (no waiting any more).

    Args:
        wait: Waits for an event, at most that many seconds; true if it is set. Tests give one that does not wait.
        counted: Told of everything that is counted.
    """

    wait: Callable[[threading.Event, float], bool] = threading.Event.wait
    counted: Callable[[str], None] | None = None
    stopping: threading.Event = field(factory=threading.Event, init=False)
    leaving: threading.Event = field(factory=threading.Event, init=False)
    abandoned: threading.Event = field(factory=threading.Event, init=False)
    liveness: Liveness = field(init=False)
    # SimpleQueue.put is reentrant, so signal handlers may use it; Event.set and Condition are not.
    mailbox: SimpleQueue[Message] = field(factory=SimpleQueue, init=False)
    _running: dict[int, str] = field(factory=dict, init=False)
    _keys: Iterator[int] = field(factory=itertools.count, init=False)
    _polls: int = field(default=0, init=False)
    _own_polls: int = field(default=0, init=False)
    _counts: Counter[str] = field(factory=Counter, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @liveness.default
    def _make_liveness(self) -> Liveness:
        return Liveness(count=self.count)

    def pause(self, seconds: float) -> bool:
        """Wait before the next poll; true if the worker is stopping."""
        return self.wait(self.stopping, seconds)

    def pause_poll(self, seconds: float) -> bool:
        """Wait for the turn of this thread's poll, which is no stall; true if the worker is stopping."""
        with self.liveness.resting():
            return self.pause(seconds)

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
    def poll(self, *, own: bool = False) -> Iterator[bool]:
        """A poll is in flight: SWF may give it a task that would be lost if nobody took it.

        Gives whether it may begin: a thread that looked just before the worker stopped is told here, where nobody can
        miss that it is about to poll.

        Args:
            own: It is for tasks that only this worker takes, so it may begin while the worker stops.
        """
        with self._lock:
            may = not (self.leaving if own else self.stopping).is_set()
            self._polls += may
            self._own_polls += own and may
        if not may:
            yield False
            return
        try:
            with self.liveness.poll():
                yield True
        finally:
            with self._lock:
                self._polls -= 1
                self._own_polls -= own
            self._ended()

    def drain(self, grace: float, *, wait_for_polls: bool = True) -> bool:
        """Stop polling and wait until what is running has ended; then give up on the rest, by name.

        Polls for tasks that only this worker takes go on while others, or tasks, are waited for.

        Args:
            grace: Longest wait in seconds; another request to stop ends it at once.
            wait_for_polls: Wait for polls in flight too: a task given to a closed connection is lost for a while.

        Returns:
            Whether it ended in its time: False if it was ended by another request to stop.
        """
        with self._lock:
            self.stopping.set()
        _log.info(
            "worker stops: waiting up to %g s for %d tasks and %d polls in flight%s; a second signal stops at once",
            grace,
            len(self.tasks),
            polls := self.polls if wait_for_polls else 0,
            ", which SWF may hold for a minute and still give a task to" * (polls > 0),
        )
        deadline, patient = time.monotonic() + grace, True
        while self._is_busy(wait_for_polls):
            try:
                message = self.message(deadline)
            except Empty:
                break
            if isinstance(message, Stop):
                patient = False
                break
        with self._lock:
            self.leaving.set()
        if self.polls and wait_for_polls:
            _log.warning("%d polls abandoned: a task that SWF gives them now is lost until it times out", self.polls)
        return patient

    def attend(self, work: Callable[[], object], seconds: float, threads: int = 4) -> bool:
        """Have threads do the last work, for a bounded time: a service that answers nobody must not keep the process.

        Args:
            work: Called in each thread.
            seconds: Longest wait; another request to stop ends it at once.
            threads: How many.

        Returns:
            Whether it ended in its time.
        """
        ended, deadline = SimpleQueue[None](), time.monotonic() + seconds

        def run() -> None:
            try:
                work()
            finally:
                ended.put(None)
                self.mailbox.put(None)

        for number in range(1, threads + 1):
            threading.Thread(target=run, name=f"flowpy-giving-back-{number}", daemon=True).start()
        while ended.qsize() < threads:
            try:
                message = self.message(deadline)
            except Empty:
                _log.error("giving back what was left takes more than %g s: the rest is left to its timeouts", seconds)
                return False
            if isinstance(message, Stop):
                return False
        return True

    def abandon(self, left: list[str] | None = None) -> list[str]:
        """Nothing is waited for any more.

        Args:
            left: What had not ended in its grace; default what is running.

        Returns:
            The same.
        """
        left = self.tasks if left is None else left
        self.abandoned.set()
        for label in left:
            _log.error("abandoned: %s", label)
        return left

    def _is_busy(self, wait_for_polls: bool) -> bool:
        with self._lock:
            others = self._polls - self._own_polls if wait_for_polls else 0
            if not self._running and not others:
                # Nothing is under way that could still bring a run of this worker back.
                self.leaving.set()
            return bool(self._running or (self._polls and wait_for_polls))

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
        if self.counted is not None:
            self.counted(what)

    @property
    def counts(self) -> dict[str, int]:
        """The counts so far."""
        with self._lock:
            return dict(self._counts)

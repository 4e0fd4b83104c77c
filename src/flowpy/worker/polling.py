"""The threads that poll, and their loop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from math import inf
from typing import Final

from attrs import define, evolve, field

from flowpy.errors import AccessDenied, InvalidRequest, ServiceUnavailable, Throttled, UnknownResource
from flowpy.service.protocol import Service
from flowpy.service.retrying import Backoff
from flowpy.worker.lifecycle import Lifecycle

__all__ = ["FATAL", "PollLoop", "Pollers", "end_polls"]

FATAL = (AccessDenied, InvalidRequest, UnknownResource)
"""Errors of a poll that waiting does not cure: no permission, a bad request, no such domain."""

MOST_REPLACED: Final = 16
"""Threads that may be stuck in workflow code and replaced, in one worker: each takes its share of the processor."""

_END_AGAIN: Final = 0.25
_HAND_BACK: Final = 1.0
_QUICK = 0.2
_QUIET = 60.0
"""Seconds after a line about failing polls in which there is no second one."""
_log = logging.getLogger("flowpy.worker")


@define(eq=False)
class PollLoop:
    """Calls ``step`` until the worker stops.

    Only polls that fail make it wait: what becomes of a task that was got is no matter of the next poll.

    Args:
        name: Of the thread, for logs.
        step: Polls once and handles what it got; true if that was a task.
        lifecycle: The worker's.
        failures: Waits after throttling, lost connections and unexpected errors.
        idle: Waits after an empty poll that came back at once, as from a service that does not hold polls.
        clock: Monotonic seconds.
        fail: Told of an error that waiting does not cure; default: the worker ends with it.
        kind: What it polls for, such as ``"activities"``.
        until: Ends it when it is set; default: ``lifecycle.stopping``.
    """

    name: str
    step: Callable[[], bool]
    lifecycle: Lifecycle
    failures: Backoff = field(factory=lambda: Backoff(initial=0.5, maximum=30.0))
    idle: Backoff = field(factory=lambda: Backoff(initial=0.02, maximum=1.0))
    clock: Callable[[], float] = time.monotonic
    fail: Callable[[BaseException], None] | None = None
    kind: str = "decisions"
    until: threading.Event = field()
    replaced: bool = field(default=False, init=False)
    _told: float = field(default=-inf, init=False)
    _is_told: bool = field(default=False, init=False)

    @until.default
    def _until_it_stops(self) -> threading.Event:
        return self.lifecycle.stopping

    def run(self) -> None:
        """Poll until the worker stops, a poll fails for good or another thread has taken over."""
        with self.lifecycle.liveness.poller(self.name, self.kind):
            self._run()

    def _run(self) -> None:
        failures, idle = self.failures.delays(), self.idle.delays()
        while not (self.until.is_set() or self.replaced):
            began = self.clock()
            try:
                busy = self.step()
            except FATAL as error:
                (self.fail or self.lifecycle.fail)(error)
                return
            except Exception as error:
                if failures.attempt == 0:
                    self._is_told = False
                self._report(error)
                self.lifecycle.wait(self.until, failures.next())
                continue
            if failures.attempt:
                _log.log(logging.INFO if self._is_told else logging.DEBUG, "%s: polling again", self.name)
                failures.reset()
            if busy or self.clock() - began > _QUICK:
                idle.reset()
            else:
                self.lifecycle.wait(self.until, idle.next())

    def _report(self, error: Exception) -> None:
        expected = isinstance(error, (Throttled, ServiceUnavailable))
        self.lifecycle.count("polls_throttled" if isinstance(error, Throttled) else "polls_failed")
        # An outage is one line when it begins and one when it is over; a service that throttles every other poll for
        # an hour is not a thousand outages.
        if not expected:
            _log.error("%s: unexpected error, polling goes on: %s", self.name, error, exc_info=True)
        elif not self._is_told and self.clock() - self._told >= _QUIET:
            self._is_told, self._told = True, self.clock()
            _log.warning("%s: %s; polling goes on with growing waits", self.name, error)


def end_polls(service: Service, identity: str, lifecycle: Lifecycle, keeps: bool) -> None:
    """Once the worker stops, have its polls answered if the service can do that: SWF cannot, the embedded one can.

    Args:
        service: The service; ``end_polls(identity)`` is a method of its own, and says whether it did so.
        identity: Of the worker's polls.
        lifecycle: The worker's.
        keeps: Whether it keeps runs: their next decision tasks get a second to come here and be handed back.
    """
    end: Callable[[str], bool] | None = getattr(service, "end_polls", None)
    if end is None:
        return

    def ending(end: Callable[[str], bool]) -> None:
        lifecycle.stopping.wait()
        lifecycle.abandoned.wait(_HAND_BACK if keeps else 0.0)
        # Again and again: a thread may just have begun another poll, and the worker's own list is polled on.
        while lifecycle.polls and end(identity) and not lifecycle.abandoned.wait(_END_AGAIN):
            pass

    threading.Thread(target=ending, args=(end,), name="flowpy-ending-polls", daemon=True).start()


@define(eq=False)
class Pollers:
    """The polling threads of a worker; one in which workflow code is stuck is replaced.

    Args:
        lifecycle: The worker's.
    """

    lifecycle: Lifecycle
    _loops: dict[int, PollLoop] = field(factory=dict, init=False)
    _replaced: int = field(default=0, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def start(self, kind: str, threads: int, loop: PollLoop) -> None:
        """Start threads for one kind of poll.

        Args:
            kind: What for, such as ``"activities"``.
            threads: How many.
            loop: Their loop; each gets one like it with a name of its own.
        """
        for number in range(1, threads + 1):
            self._start(evolve(loop, name=f"flowpy-{kind}-{number}", kind=kind))

    def replace(self, thread: int) -> None:
        """Start another thread instead of one that may never come back; it ends if it does.

        Args:
            thread: Its identity, as ``threading.get_ident()`` gives it there.
        """
        with self._lock:
            loop = self._loops.get(thread)
            if loop is None or loop.replaced or self._replaced >= MOST_REPLACED:
                return
            loop.replaced, self._replaced = True, self._replaced + 1
        self.lifecycle.liveness.forget(thread)
        self.lifecycle.count("pollers_replaced")
        self._start(evolve(loop))

    def _start(self, loop: PollLoop) -> None:
        # Daemons: an activity or a poll that never ends must not keep the process alive.
        threading.Thread(target=self._run, args=(loop,), name=loop.name, daemon=True).start()

    def _run(self, loop: PollLoop) -> None:
        thread = threading.get_ident()
        with self._lock:
            self._loops[thread] = loop
        try:
            loop.run()
        finally:
            with self._lock:
                self._loops.pop(thread, None)
                self._replaced -= loop.replaced

"""The loop of a thread that polls."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from attrs import define, field

from flowpy.errors import AccessDenied, InvalidRequest, ServiceUnavailable, Throttled, UnknownResource
from flowpy.service.retrying import Backoff
from flowpy.worker.lifecycle import Lifecycle

__all__ = ["FATAL", "PollLoop"]

FATAL = (AccessDenied, InvalidRequest, UnknownResource)
"""Errors of a poll that waiting does not cure: no permission, a bad request, no such domain."""

_QUICK = 0.2
_log = logging.getLogger("flowpy.worker")


@define(eq=False)
class PollLoop:
    """Calls ``step`` until the worker stops.

    Args:
        name: Of the thread, for logs.
        step: Polls once and handles what it got; true if that was a task.
        lifecycle: The worker's.
        failures: Waits after throttling, lost connections and unexpected errors.
        idle: Waits after an empty poll that came back at once, as from a service that does not hold polls.
        clock: Monotonic seconds.
    """

    name: str
    step: Callable[[], bool]
    lifecycle: Lifecycle
    failures: Backoff = field(factory=lambda: Backoff(initial=0.5, maximum=30.0))
    idle: Backoff = field(factory=lambda: Backoff(initial=0.02, maximum=1.0))
    clock: Callable[[], float] = time.monotonic

    def run(self) -> None:
        """Poll until the worker stops or a poll fails for good."""
        failures, idle = self.failures.delays(), self.idle.delays()
        while not self.lifecycle.stopping.is_set():
            began = self.clock()
            try:
                busy = self.step()
            except FATAL as error:
                self.lifecycle.fail(error)
                return
            except Exception as error:
                self._report(error, first=failures.attempt == 0)
                self.lifecycle.pause(failures.next())
                continue
            if failures.attempt:
                _log.info("%s: polling again", self.name)
                failures.reset()
            if busy or self.clock() - began > _QUICK:
                idle.reset()
            else:
                self.lifecycle.pause(idle.next())

    def _report(self, error: Exception, *, first: bool) -> None:
        expected = isinstance(error, (Throttled, ServiceUnavailable))
        self.lifecycle.count("polls_throttled" if isinstance(error, Throttled) else "polls_failed")
        # An outage is one line when it begins and one when it is over.
        if not expected:
            _log.error("%s: unexpected error, polling goes on: %s", self.name, error, exc_info=True)
        elif first:
            _log.warning("%s: %s; polling goes on with growing waits", self.name, error)

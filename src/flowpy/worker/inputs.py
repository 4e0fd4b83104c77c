"""Opening the inputs of activity tasks, and what a worker does that cannot."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from attrs import define, field

from flowpy.data.payloads import Payloads, is_sealed
from flowpy.errors import PayloadStoreUnavailable
from flowpy.service.retrying import Backoff, Delays
from flowpy.worker.lifecycle import Lifecycle

__all__ = ["Inputs"]

PATIENCE: Final = 30.0
"""Seconds that a store is waited for before the task is given back: it may just be starting again."""

_TRIES: Final = Backoff(initial=1.0, maximum=10.0)
_REST: Final = Backoff(initial=1.0, maximum=60.0)
_REMEMBERED: Final = 1_000
_RECENT: Final = 600.0
_log = logging.getLogger("flowpy.worker")


@define(eq=False)
class Inputs:
    """The inputs of one worker's activity tasks.

    A worker without the key polls as well as one with it, so after each task that it had to give back it rests, longer
    each time, until it can open one: the others get the tasks.

    Args:
        payloads: Opens them.
        lifecycle: The worker's.
        clock: Monotonic seconds.
    """

    payloads: Payloads
    lifecycle: Lifecycle
    clock: Callable[[], float] = time.monotonic
    _rest: Delays = field(factory=_REST.delays, init=False)
    _until: float = field(default=float("-inf"), init=False)
    _trouble: str = field(default="", init=False)
    _failed_at: float = field(default=0.0, init=False)
    _told: dict[str, None] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @property
    def reasons(self) -> list[str]:
        """Why the last input that had to be opened was not, for ``/healthz``; empty if it was, or long ago."""
        is_recent = self._trouble and self.clock() - self._failed_at < _RECENT
        return [f"activity tasks are given back, not begun: {self._trouble}"] if is_recent else []

    def rest(self) -> bool:
        """Leave the next task to others for a while if the last could not be begun; true if the worker stops."""
        left = self._until - self.clock()
        return left > 0 and self.lifecycle.pause_poll(left)

    def open(self, text: str, task: Any, is_over: Callable[[], bool]) -> str:
        """Open the input of a task.

        Args:
            text: The input as it was polled.
            task: The task, for the log.
            is_over: Whether nobody waits for the task any more.

        Returns:
            The input.

        Raises:
            Exception: It cannot be opened here, or not within half a minute if a store is out of reach: mostly a
                PayloadUnavailable, but codecs and stores of the user's raise what they like.
        """
        tries, waited = _TRIES.delays(), 0.0
        while True:
            try:
                opened = self.payloads.open(text, "input")
            except Exception as error:
                delay = tries.next()
                passes = isinstance(error, PayloadStoreUnavailable) and waited < PATIENCE
                if waited == 0.0:
                    self._failed(error, task)
                if not passes or is_over() or self.lifecycle.pause(delay):
                    raise
                waited += delay
                continue
            if is_sealed(text):
                self._succeeded()
            return opened

    def _failed(self, error: Exception, task: Any) -> None:
        self.lifecycle.count("activities_held")
        code, said = getattr(error, "code", type(error).__name__), str(error)
        with self._lock:
            self._until = self.clock() + self._rest.next()
            known = said in self._told
            self._told[said] = None
            if len(self._told) > _REMEMBERED:
                del self._told[next(iter(self._told))]
        self._trouble, self._failed_at = f"{said} [{code}]", self.clock()
        # A thousand tasks that lack one key are one thing to be repaired.
        _log.log(logging.INFO if known else logging.ERROR, "%r cannot be begun here [%s]: %s", task, code, said)

    def _succeeded(self) -> None:
        with self._lock:
            self._rest.reset()
            self._until = float("-inf")
            self._told.clear()
        self._trouble = ""

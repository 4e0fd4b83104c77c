"""Limits on how often a service is called, kept on this side of the wire."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from attrs import define, field

from flowpy.service.boto import POLLS
from flowpy.service.protocol import Service
from flowpy.service.retrying import Pause

__all__ = ["RateLimited", "TokenBucket"]

_UNLIMITED: Final = frozenset({"RecordActivityTaskHeartbeat"})
"""Never delayed: a heartbeat that comes late costs an activity."""


@define(eq=False)
class TokenBucket:
    """Lets something happen so many times a second, on average; what was not used for a second may come at once.

    Args:
        rate: Times a second.
        clock: Monotonic seconds.
    """

    rate: float
    clock: Callable[[], float] = time.monotonic
    _tokens: float = field(init=False)
    _filled: float = field(init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def __attrs_post_init__(self) -> None:
        """Begin full."""
        self._tokens, self._filled = self._most, self.clock()

    @property
    def _most(self) -> float:
        return max(1.0, self.rate)

    def take(self) -> float:
        """Take a token, which may be one that is still to come.

        Returns:
            Seconds until it is there. Who comes later waits longer.
        """
        with self._lock:
            now = self.clock()
            self._tokens = min(self._most, self._tokens + (now - self._filled) * self.rate) - 1
            self._filled = now
            return max(0.0, -self._tokens / self.rate)


@define(eq=False)
class RateLimited:
    """A service that is called no more often than allowed; SWF would answer what is over its own limits with a fault.

    Args:
        service: The service.
        polls: For polls, further pages aside; None without limit.
        calls: For all else but heartbeats.
        pause_poll: Waits before a poll; True gives the poll up, which is then an empty one.
        pause: Waits before another call, which is made in any case.
    """

    service: Service
    polls: TokenBucket | None
    calls: TokenBucket | None
    pause_poll: Pause
    pause: Pause

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one operation of SWF, when its turn has come."""
        if operation in POLLS and "nextPageToken" not in request:
            if self.polls is not None and (wait := self.polls.take()) and self.pause_poll(wait):
                return {}
        elif self.calls is not None and operation not in _UNLIMITED and (wait := self.calls.take()):
            self.pause(wait)
        return self.service.call(operation, request)

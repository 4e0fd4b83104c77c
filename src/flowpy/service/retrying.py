"""Trying again: back-off with jitter, and calls that go on until the service has decided."""

from __future__ import annotations

import random as _random
from collections.abc import Callable
from typing import Any, Final

from attrs import define, field, frozen

from flowpy.errors import ServiceError, ServiceUnavailable, Throttled
from flowpy.service.faults import NOT_SENT
from flowpy.service.protocol import Service

__all__ = ["PASSING", "Backoff", "Delays", "Pause", "persist", "retry_unsent"]

_LIMIT: Final = "LimitExceededFault"  # domains, types, open executions: waiting a little does not help

PASSING: Final[tuple[type[ServiceError], ...]] = (Throttled, ServiceUnavailable)
"""Errors that pass by themselves."""

Pause = Callable[[float], bool]
"""Waits that many seconds, or less if the caller has to give up: then it returns True."""


@frozen
class Backoff:
    """How long to wait between attempts.

    Args:
        initial: Seconds before the second attempt, on average three quarters of it; default 0.25.
        maximum: Upper bound in seconds; default 20.
        factor: Growth from one wait to the next; default 2.
        random: Source of the jitter, a function that gives numbers in [0, 1).
    """

    initial: float = 0.25
    maximum: float = 20.0
    factor: float = 2.0
    random: Callable[[], float] = field(default=_random.random, repr=False)

    def delays(self) -> Delays:
        """Begin a sequence of waits."""
        return Delays(self)


@define
class Delays:
    """The waits of one row of failures; ``next()`` gives seconds, ``reset()`` after a success."""

    backoff: Backoff
    attempt: int = 0

    def next(self) -> float:
        """Seconds to wait now: half fixed, half jitter, so that many workers do not come back together."""
        grown = self.backoff.initial * self.backoff.factor ** min(self.attempt, 64)
        self.attempt += 1
        return min(self.backoff.maximum, grown) * (0.5 + self.backoff.random() / 2)

    def reset(self) -> None:
        """Forget the failures so far."""
        self.attempt = 0


def persist(
    service: Service,
    operation: str,
    request: dict[str, Any],
    *,
    pause: Pause,
    backoff: Backoff,
    passing: tuple[type[ServiceError], ...] = PASSING,
) -> dict[str, Any]:
    """Call until the service has answered, waiting out throttling and lost connections.

    For calls that may safely be made twice: SWF takes one answer to a task and refuses the second.

    Args:
        service: The service.
        operation: SWF operation.
        request: Its request.
        pause: Waits between attempts; when it returns True the last error is raised.
        backoff: How long to wait.
        passing: What to wait out; default ``PASSING``.

    Returns:
        The reply.

    Raises:
        Throttled, ServiceUnavailable: ``pause`` said to give up.
        ServiceError: Any other fault, at once.
    """
    delays = backoff.delays()
    while True:
        try:
            return service.call(operation, request)
        except passing as error:
            if error.fault == _LIMIT or pause(delays.next()):
                raise


def retry_unsent(
    service: Service, operation: str, request: dict[str, Any], *, pause: Pause, backoff: Backoff, attempts: int = 5
) -> dict[str, Any]:
    """Call again only while it is certain that the service did not act, as for starts and signals.

    Args:
        service: The service.
        operation: SWF operation.
        request: Its request.
        pause: Waits between attempts; True gives up.
        backoff: How long to wait.
        attempts: At most that many calls; default 5.

    Returns:
        The reply.

    Raises:
        ServiceUnavailable: The request may have been received; calling again might act twice.
        ServiceError: Any other fault.
    """
    delays = backoff.delays()
    while True:
        try:
            return service.call(operation, request)
        except (Throttled, ServiceUnavailable) as error:
            unsent = (isinstance(error, Throttled) and error.fault != _LIMIT) or error.fault in NOT_SENT
            if not unsent or delays.attempt + 1 >= attempts or pause(delays.next()):
                raise

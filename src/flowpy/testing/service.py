"""A service that reads only, and politely: what a look at production may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.errors import CallError
from flowpy.service.protocol import Service
from flowpy.service.retrying import Backoff, persist

__all__ = ["READING", "ReadingService"]

READING: Final = frozenset(
    {
        "CountClosedWorkflowExecutions",
        "CountOpenWorkflowExecutions",
        "DescribeWorkflowExecution",
        "GetWorkflowExecutionHistory",
        "ListClosedWorkflowExecutions",
        "ListOpenWorkflowExecutions",
    }
)
"""The operations that only read about executions."""

_ATTEMPTS: Final = 8


class ReadingService:
    """Passes reading operations on to a service, spaced out; refuses all others before anything is sent.

    Args:
        service: The service.
        calls_per_second: At most that many calls a second. SWF's limits are those of the whole account: workers and
            their heartbeats draw on the same ones.
        sleep: Waits.
        clock: Seconds that ``sleep`` passes.
    """

    def __init__(
        self,
        service: Service,
        calls_per_second: float,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
    ) -> None:
        self._service = service
        self._gap = 1 / calls_per_second
        self._sleep = sleep
        self._clock = clock
        self._next = clock()
        self.calls = 0
        """How many calls were passed on."""

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform a reading operation, again with growing waits while the service is throttling or cannot be reached.

        Raises:
            CallError: The operation does more than read.
            ServiceError: The service answered with a fault, or throttles for long.
        """
        if operation not in READING:
            raise CallError(f"{operation} does more than read, and nothing is to be written to the service here")
        wait = self._next - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._next = max(self._next, self._clock()) + self._gap
        self.calls += 1
        attempts = 0

        def pause(delay: float) -> bool:
            nonlocal attempts
            attempts += 1
            if attempts >= _ATTEMPTS:
                return True
            self._sleep(delay)
            return False

        return persist(self._service, operation, request, pause=pause, backoff=Backoff(initial=self._gap))

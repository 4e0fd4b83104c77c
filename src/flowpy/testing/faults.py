"""Faults that a test can have happen."""

from __future__ import annotations

from flowpy.errors import ServiceUnavailable, Throttled
from flowpy.testing.driver import Driver

__all__ = ["Faults"]


class Faults:
    """What can go wrong in production, on demand; ``swf.faults``.

    Every one of them leaves the workflow's result as it would be without: that is what a test shows with it.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def time_out_decision_task(self, times: int = 1) -> None:
        """Have the next decisions made and never sent, as by a worker that hangs: the decision task times out.

        Args:
            times: How many.
        """
        self._driver.lost_decisions += times

    def kill_worker(self) -> None:
        """Have the worker die now, and another one take its place.

        No run is in memory any more: the next decision of each is made from event 1. Activities under way are left
        to their timeouts.
        """
        for live in self._driver.lives.values():
            live.leave()
        self._driver.work.abandon()

    def lose_response(self, operation: str = "RespondDecisionTaskCompleted", times: int = 1) -> None:
        """Have calls take effect and their answers be lost, so that the caller does not know.

        Args:
            operation: SWF's name of the call.
            times: How many.
        """
        error = ServiceUnavailable("the answer was lost (a fault of this test)", fault="ReadTimeout")
        self._driver.stage.engine.disrupt(operation, error, times=times, after=True)

    def throttle(self, operation: str, times: int = 1) -> None:
        """Have calls refused with ThrottlingException.

        Args:
            operation: SWF's name of the call, such as ``PollForDecisionTask``.
            times: How many.
        """
        error = Throttled("Rate exceeded", fault="ThrottlingException")
        self._driver.stage.engine.disrupt(operation, error, times=times)

    def refuse(self, decision_type: str, cause: str, times: int = 1) -> None:
        """Have decisions refused: SWF records a ``…Failed`` event with the cause.

        Args:
            decision_type: Such as ``ScheduleActivityTask``.
            cause: Such as ``OPEN_ACTIVITIES_LIMIT_EXCEEDED``.
            times: How many.
        """
        self._driver.stage.engine.refuse(decision_type, cause, times)

    def page(self, size: int) -> None:
        """Have histories come to the decider in pages of so many events.

        Args:
            size: 1 to 1000.
        """
        self._driver.page_size = size

"""Faults that a test can have happen."""

from __future__ import annotations

from flowpy.errors import DeclarationError, ServiceUnavailable, Throttled
from flowpy.local.engine.dispatch import OPERATIONS
from flowpy.service.paging import PAGE_SIZE
from flowpy.testing.building.model import causes_of
from flowpy.testing.driver import Driver
from flowpy.testing.given import number

__all__ = ["Faults"]


class Faults:
    """What can go wrong in production, on demand; ``swf.faults``.

    Every one of them leaves the workflow's result as it would be without: that is what a test shows with it. What can
    never happen, such as an operation that SWF does not have, is a ``DeclarationError``: such a test shows nothing.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def time_out_decision_task(self, times: int = 1) -> None:
        """Have the next decisions made and never sent, as by a worker that hangs: the decision task times out.

        Args:
            times: How many.
        """
        self._driver.lost_decisions += _counted("time_out_decision_task", times)

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
        _check_operation("lose_response", operation)
        times = _counted("lose_response", times)
        self._driver.stage.engine.disrupt(operation, error, times=times, after=True)

    def throttle(self, operation: str, times: int = 1) -> None:
        """Have calls refused with ThrottlingException.

        Args:
            operation: SWF's name of the call, such as ``PollForDecisionTask``.
            times: How many.
        """
        error = Throttled("Rate exceeded", fault="ThrottlingException")
        _check_operation("throttle", operation)
        self._driver.stage.engine.disrupt(operation, error, times=_counted("throttle", times))

    def refuse(self, decision_type: str, cause: str, times: int = 1) -> None:
        """Have decisions refused: SWF records a ``…Failed`` event with the cause.

        Args:
            decision_type: Such as ``ScheduleActivityTask``.
            cause: Such as ``OPEN_ACTIVITIES_LIMIT_EXCEEDED``.
            times: How many.
        """
        causes = causes_of(decision_type)
        if not causes:
            raise DeclarationError(
                f"refuse: {decision_type!r} is no decision", remedy="say for instance 'ScheduleActivityTask'"
            )
        if cause not in causes:
            raise DeclarationError(f"refuse: {decision_type} never fails with {cause!r}, but with {', '.join(causes)}")
        self._driver.stage.engine.refuse(decision_type, cause, _counted("refuse", times))

    def page(self, size: int) -> None:
        """Have histories come to the decider in pages of so many events.

        Args:
            size: 1 to 1000.
        """
        if not 1 <= number(size, "page: size", "number of events", least=None) <= PAGE_SIZE:
            raise DeclarationError(f"page: {size!r} events are no page", remedy=f"say 1 to {PAGE_SIZE}")
        self._driver.page_size = size


def _check_operation(fault: str, operation: str) -> None:
    if operation not in OPERATIONS:
        raise DeclarationError(
            f"{fault}: SWF has no operation {operation!r}", remedy="say for instance 'RespondDecisionTaskCompleted'"
        )


def _counted(fault: str, times: int) -> int:
    return number(times, f"{fault}: times", "number of times")

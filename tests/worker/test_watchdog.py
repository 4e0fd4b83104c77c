"""D10: a workflow that does not let go of its decision task is reported before SWF times the task out."""

from __future__ import annotations

import logging

import pytest

from flowpy.worker.watchdog import Watchdog, decision_timeout


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    return Clock()


def started(timeout: str):
    return [{"workflowExecutionStartedEventAttributes": {"taskStartToCloseTimeout": timeout}}]


def test_limit_comes_from_the_decision_timeout_of_the_run() -> None:
    assert decision_timeout(started("30")) == 30
    assert decision_timeout(started("NONE")) is None
    assert decision_timeout([]) is None


def test_honest_computation_is_left_in_peace(clock, caplog) -> None:
    dog = Watchdog(clock=clock)
    with dog.watching("order o-1", 30), caplog.at_level(logging.ERROR):
        clock.now = 3
        assert dog.check() == pytest.approx(19.5)
    assert not caplog.records


def test_code_that_holds_on_is_reported_once_with_where_it_stands(clock, caplog) -> None:
    reported = []
    dog = Watchdog(report=lambda: reported.append(1), clock=clock)
    with dog.watching("order o-1", 30), caplog.at_level(logging.ERROR):
        clock.now = 25
        dog.check()
        dog.check()
    assert reported == [1]
    (record,) = caplog.records
    assert "order o-1" in record.getMessage()
    assert "test_watchdog.py" in record.getMessage()


def test_run_without_decision_timeout_is_not_watched(clock) -> None:
    dog = Watchdog(clock=clock)
    with dog.watching("order o-1", None):
        assert dog.check() is None

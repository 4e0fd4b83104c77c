from __future__ import annotations

import pytest

from flowpy import errors
from flowpy.service.faults import fault
from flowpy.service.retrying import Backoff
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.polling import PollLoop


class Steps:
    """Plays a list of outcomes: True, False or an error; stops the worker after the last."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.pauses = []
        self.lifecycle = Lifecycle(wait=self.wait)

    def wait(self, event, seconds):
        self.pauses.append(seconds)
        return event.is_set()

    def __call__(self):
        outcome = self.outcomes.pop(0)
        if not self.outcomes:
            self.lifecycle.stopping.set()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


STEADY = Backoff(initial=1.0, random=lambda: 1.0)


def run(*outcomes, seconds=0.0):
    """Let a loop poll; each step takes ``seconds``. Gives the steps."""
    steps = Steps(*outcomes)
    ticks = iter(n * seconds for n in range(1000))
    PollLoop("poller", steps, steps.lifecycle, STEADY, STEADY, clock=lambda: next(ticks)).run()
    return steps


def test_tasks_are_polled_for_without_a_pause():
    assert run(True, True, True).pauses == []


def test_polls_that_the_service_holds_are_repeated_at_once():
    assert run(False, False, False, seconds=60.0).pauses == []


def test_empty_polls_that_come_back_at_once_do_not_spin():
    assert run(False, False, False, True, False).pauses == [1.0, 2.0, 4.0, 1.0]


def test_throttling_and_outages_are_waited_out_with_two_lines(caplog):
    caplog.set_level("INFO")
    down = errors.ServiceUnavailable("no answer")
    steps = run(fault("ThrottlingException", "Rate exceeded", "x"), down, down, True, True)
    assert steps.pauses == [1.0, 2.0, 4.0]
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert steps.lifecycle.counts == {"polls_throttled": 1, "polls_failed": 2}


def test_a_service_that_throttles_now_and_then_does_not_fill_the_log(caplog):
    throttled = fault("ThrottlingException", "Rate exceeded", "x")
    caplog.set_level("INFO")
    steps = run(*[throttled, True] * 20, True)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert steps.lifecycle.counts == {"polls_throttled": 20}


def test_an_outage_that_begins_soon_after_another_is_told_when_it_lasts(caplog):
    down = errors.ServiceUnavailable("no answer")
    caplog.set_level("INFO")
    # A look at the clock more or less for each: the second outage lasts for far more than a minute.
    run(down, True, *[down] * 30, True, True, seconds=5.0)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO", "WARNING", "INFO"]


def test_an_unexpected_error_does_not_end_the_thread(caplog):
    steps = run(KeyError("workflowType"), True, True)
    assert steps.outcomes == []
    assert caplog.records[0].exc_info


@pytest.mark.parametrize("code", ["AccessDeniedException", "UnrecognizedClientException", "UnknownResourceFault"])
def test_an_error_that_waiting_does_not_cure_ends_the_worker(code):
    steps = run(fault(code, "no", "PollForDecisionTask"), True)
    assert steps.outcomes == [True]
    assert steps.lifecycle.mailbox.get_nowait().fault == code

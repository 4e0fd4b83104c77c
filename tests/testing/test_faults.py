"""Faults: each can happen, and none of them changes what a workflow comes to."""

from __future__ import annotations

import datetime as dt

import pytest

import flowpy
from flowpy import workflow
from flowpy.testing import Environment

from .shop import add, approval, call, charge, count, order, pack


@pytest.fixture
def swf():
    with Environment() as swf:
        yield swf


def kinds(run):
    return [event["eventType"] for event in run.history()]


def test_a_decision_task_times_out_and_is_made_again(swf):
    swf.faults.time_out_decision_task()
    began = swf.now()
    run = swf.start(count)

    assert run.result() == 3
    assert kinds(run).count("DecisionTaskTimedOut") == 1
    assert swf.now() - began == dt.timedelta(seconds=30)


def test_it_may_time_out_later_and_more_than_once(swf):
    run = swf.start(order, "o-7")
    swf.faults.time_out_decision_task(times=2)
    run.signal(approval, True)

    assert run.result() == "o-7"
    assert kinds(run).count("DecisionTaskTimedOut") == 2


def test_code_notices_no_decision_that_was_lost(swf):
    seen = []

    @workflow
    async def noting() -> int:
        seen.append(flowpy.is_replaying())
        return await add(1)

    swf.faults.time_out_decision_task()
    assert swf.run(noting) == 2
    assert len(swf.calls(add)) == 1


def test_a_worker_dies_while_a_run_waits(swf):
    run = swf.start(order, "o-7")
    swf.faults.kill_worker()
    run.signal(approval, True)

    assert run.result() == "o-7"


def test_a_worker_dies_with_its_activities(swf):
    swf.stub(pack, returns="in a box", delay="1h")
    run = swf.start(call, "pack")
    swf.advance("10m")
    swf.faults.kill_worker()

    assert run.result() == ["HEARTBEAT", None]


def test_a_retried_activity_survives_its_worker(swf):
    @workflow
    async def packing() -> str:
        return await pack.options(retry=flowpy.Retry(attempts=2, initial=1))("lamp")

    swf.stub(pack, returns="first", delay="1h").then(returns="second")
    run = swf.start(packing)
    swf.faults.kill_worker()

    assert run.result() == "second"


@pytest.mark.parametrize("operation", ["RespondDecisionTaskCompleted", "RespondActivityTaskCompleted"])
def test_a_response_is_lost(swf, operation):
    swf.faults.lose_response(operation, times=2)
    assert swf.run(count) == 3
    assert swf.calls(add) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    "operation",
    [
        "PollForDecisionTask",
        "PollForActivityTask",
        "RespondDecisionTaskCompleted",
        "RespondActivityTaskCompleted",
        "StartWorkflowExecution",
    ],
)
def test_a_call_is_throttled(swf, operation):
    swf.faults.throttle(operation, times=3)
    assert swf.run(count) == 3


def test_a_poll_that_takes_effect_and_is_never_answered(swf):
    swf.faults.lose_response("PollForDecisionTask")
    run = swf.start(count)
    assert run.result() == 3
    assert kinds(run).count("DecisionTaskTimedOut") == 1


def test_decisions_are_refused(swf):
    @workflow
    async def refused() -> str:
        try:
            return str(await add(1))
        except flowpy.ActivityScheduleFailed as error:
            return error.cause

    swf.faults.refuse("ScheduleActivityTask", "OPEN_ACTIVITIES_LIMIT_EXCEEDED")
    assert swf.run(refused) == "OPEN_ACTIVITIES_LIMIT_EXCEEDED"


def test_pages_of_one_event(swf):
    swf.faults.page(1)
    assert swf.run(count) == 3


def test_a_page_is_throttled(swf):
    swf.faults.page(2)
    run = swf.start(order, "o-7")
    swf.faults.throttle("PollForDecisionTask", times=2)
    run.signal(approval, True)
    assert run.result() == "o-7"
    assert len(swf.calls(charge)) == 1


def test_an_answer_is_throttled_until_its_task_has_timed_out(swf):
    swf.faults.throttle("RespondDecisionTaskCompleted", times=40)
    run = swf.start(count)

    assert run.result() == 3
    assert kinds(run).count("DecisionTaskTimedOut") == 1


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda faults: faults.throttle("PollForDecisions"), "SWF has no operation 'PollForDecisions'"),
        (lambda faults: faults.lose_response("respond_decision_task_completed"), "SWF has no operation"),
        (lambda faults: faults.throttle("PollForDecisionTask", times=0), "times=0 is no number of times"),
        (lambda faults: faults.time_out_decision_task(times=-1), "times=-1 is no number of times"),
        (lambda faults: faults.refuse("ScheduleActivity", "LIMIT"), "'ScheduleActivity' is no decision"),
        (lambda faults: faults.refuse("StartTimer", "OPEN_ACTIVITIES_LIMIT_EXCEEDED"), "TIMER_CREATION_RATE_EXCEEDED"),
        (lambda faults: faults.page(0), "say 1 to 1000"),
    ],
)
def test_what_can_never_happen_is_no_fault(swf, fault, says):
    with pytest.raises(flowpy.DeclarationError, match=says):
        fault(swf.faults)

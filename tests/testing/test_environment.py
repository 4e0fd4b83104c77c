"""Workflows from start to end in one thread: time, signals, children, several runs at once."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
import unittest

import pytest

import flowpy
from flowpy import Retry, activity, workflow
from flowpy.testing import Environment

from .shop import add, approval, charge, child, count, order, parent, plain, ship


@pytest.fixture
def swf():
    with Environment() as swf:
        yield swf


def test_a_month_passes_in_a_moment(swf):
    began = swf.now()
    run = swf.start(order, "o-7")
    run.signal(approval, True)

    assert run.result() == "o-7"
    assert swf.now() - began == dt.timedelta(hours=1)


def test_a_workflow_of_a_year_takes_milliseconds():
    @workflow
    async def year() -> int:
        for _ in range(12):
            await flowpy.sleep("30d")
        return 12

    began = time.process_time()
    with Environment() as swf:
        assert swf.run(year) == 12
    assert time.process_time() - began < 1  # some 10 ms; the machine may be busy


def test_plain_workflows_and_async_activities_run_alike(swf):
    assert swf.run(plain, "o-7") == "o-7 is on its way"


def test_real_functions_run_unless_they_are_stubbed(swf):
    assert swf.run(count) == 3
    assert swf.calls(add) == [(0,), (1,), (2,)]


def test_what_is_told_is_handled_before_the_call_returns(swf):
    run = swf.start(order, "o-7")
    assert len(swf.calls(charge)) == 1

    run.signal(approval, False)

    assert run.describe().close_status == "FAILED"


def test_a_failed_run_raises_with_what_its_code_raised(swf):
    run = swf.start(order, "o-7")
    run.signal(approval, False)

    with pytest.raises(flowpy.WorkflowFailed, match="declined") as failed:
        run.result()

    assert isinstance(failed.value.__cause__, flowpy.ApplicationError)


def test_timeouts_pass_too(swf):
    began = swf.now()
    with pytest.raises(flowpy.WorkflowFailed, match="no signal approval arrived in time"):
        swf.run(order, "o-7")

    assert swf.now() - began == dt.timedelta(days=3)


def test_advance_stops_where_it_is_told(swf):
    run = swf.start(order, "o-7")
    began = swf.now()
    swf.advance("2d")
    assert swf.now() - began == dt.timedelta(days=2)
    assert run.describe().status == "OPEN"

    swf.advance("2d")
    assert run.describe().close_status == "FAILED"


def test_the_execution_timeout_strikes_when_time_passes_by_hand(swf):
    @workflow(execution_start_to_close_timeout="1h")
    async def forgetful() -> None:
        await approval.receive()

    run = swf.start(forgetful)
    swf.advance("1h")

    with pytest.raises(flowpy.WorkflowTimedOut):
        run.result()


def test_result_waits_no_longer_than_it_is_told(swf):
    run = swf.start(order, "o-7")
    began = swf.now()
    with pytest.raises(flowpy.ResultNotReady):
        run.result(timeout="1d")
    assert swf.now() - began == dt.timedelta(days=1)


def test_children_are_known_when_they_are_called(swf):
    assert swf.run(parent, 1) == 2
    assert swf.calls(child) == [(1,)]
    assert swf.calls("add") == [(1,)]


def test_a_child_can_be_told_something(swf):
    @workflow
    async def asked() -> bool:
        return await approval.receive()

    @workflow
    async def asking() -> bool:
        return await asked.options(workflow_id="the-child")()

    run = swf.start(asking)
    swf.signal("the-child", approval, True)
    assert run.result() is True


def test_a_run_that_continues_as_new_is_followed(swf):
    @workflow
    async def counting(left: int) -> str:
        if left:
            flowpy.continue_as_new(left - 1)
        return "done"

    assert swf.run(counting, 3) == "done"
    assert len(swf.histories()) == 4


def test_another_version_is_named_beforehand():
    @workflow(name="moving", version="2")
    async def new() -> str:
        return "new"

    @workflow(name="moving", version="1")
    async def old() -> str:
        flowpy.continue_as_new.options(version="2")()

    with Environment(workflows=[new]) as swf:
        assert swf.run(old) == "new"

    with Environment() as swf, pytest.raises(flowpy.WorkflowFailed, match="DOES_NOT_EXIST"):
        swf.run(old)


def test_cancelling_reaches_the_code(swf):
    run = swf.start(order, "o-7")
    run.cancel()
    with pytest.raises(flowpy.WorkflowCanceled):
        run.result()


def test_terminating_ends_it_without_asking(swf):
    run = swf.start(order, "o-7")
    run.terminate("enough")
    with pytest.raises(flowpy.WorkflowTerminated, match="enough"):
        run.result()


def test_queries_see_the_state_of_now(swf):
    @workflow
    class Stateful:
        def __init__(self) -> None:
            self.said = "nothing"

        @flowpy.execute
        async def run(self) -> None:
            await approval.receive()

        @flowpy.signal
        def say(self, text: str) -> None:
            self.said = text

        @flowpy.query
        def heard(self) -> str:
            return self.said

    run = swf.start(Stateful)
    run.signal("say", "hello")
    assert run.query("heard") == "hello"
    run.terminate()


def test_while_it_is_paused_all_arrives_together(swf):
    with swf.paused():
        run = swf.start(order, "o-7")
        run.signal(approval, True)
        assert [event["eventType"] for event in run.history()] == [
            "WorkflowExecutionStarted",
            "DecisionTaskScheduled",
            "WorkflowExecutionSignaled",
        ]
    assert run.result() == "o-7"


def test_every_run_of_a_test_is_the_same_event_for_event():
    def history():
        with Environment() as swf:
            run = swf.start(order, "o-7")
            run.signal(approval, True)
            run.result()
            return swf.histories()

    assert history() == history()


def test_task_lists_of_all_calls_are_served(swf):
    @workflow(task_list="west")
    async def elsewhere() -> str:
        return await ship.options(task_list="east")("o-7")

    assert swf.run(elsewhere, task_list="north") == "o-7 is on its way"


def test_two_of_one_name_are_an_error(swf):
    @workflow(name="count")
    async def other() -> None: ...

    swf.start(count)
    with pytest.raises(flowpy.DeclarationError, match=r"two are called count 1\.0"):
        swf.start(other)


def test_what_is_no_workflow_is_refused(swf):
    with pytest.raises(flowpy.DeclarationError, match="is no workflow"):
        swf.start(add)


def test_a_timer_of_no_time_fires_by_itself(swf):
    @workflow
    async def at_once() -> int:
        for _ in range(3):
            await flowpy.sleep(0)
        return 3

    began = swf.now()
    run = swf.start(at_once)
    assert run.describe().status == "CLOSED"
    assert (run.result(), swf.now()) == (3, began)


def test_a_retry_may_follow_at_once(swf):
    @activity(retry=Retry(attempts=3, initial=0))
    def flaky() -> str:
        raise NotImplementedError

    @workflow
    async def stubborn() -> str:
        return await flaky()

    swf.stub(flaky, raises=OSError("no line"), times=2).then(returns="done")
    assert swf.run(stubborn) == "done"


@pytest.mark.parametrize(("limit", "says"), [("MOST_STEPS", "after 50 steps"), ("MOST_RUNS", "has begun 50 runs")])
def test_a_circle_without_time_is_reported(swf, monkeypatch, limit, says):
    monkeypatch.setattr(f"flowpy.testing.driver.{limit}", 50)

    @workflow
    async def restless() -> None:
        flowpy.continue_as_new()

    with pytest.raises(flowpy.FlowpyError, match=rf"{says} .*goes round in a circle"):
        swf.start(restless)


def test_code_that_cannot_be_decided_raises_in_the_test(swf):
    @workflow
    async def spinning() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(flowpy.WorkflowBlocked, match=r"test_environment.py:\d+ in .*spinning: it spins"):
        swf.start(spinning)


def test_it_lets_go_of_suspended_code():
    closed = []

    @workflow
    async def patient() -> None:
        try:
            await approval.receive()
        finally:
            closed.append(True)

    with Environment() as swf:
        swf.start(patient)
        closed.clear()
    assert closed


def test_nothing_waits_while_it_is_paused(swf):
    with swf.paused():
        run = swf.start(count)
        with pytest.raises(flowpy.CallError, match=r"time does not pass inside of swf\.paused"):
            run.result()
    assert run.result() == 3


def test_an_activity_may_tell_runs_something(swf):
    @flowpy.activity
    def approve(workflow_id: str) -> None:
        swf.signal(workflow_id, approval, True)

    @workflow
    async def approving() -> bool:
        await approve(flowpy.info().workflow_id)
        return await approval.receive()

    assert swf.run(approving) is True


def test_an_activity_cannot_wait_for_runs(swf):
    @flowpy.activity
    def impatient() -> None:
        swf.advance("1d")

    @workflow
    async def waiting() -> None:
        await impatient()

    with pytest.raises(flowpy.WorkflowFailed, match="time does not pass inside of an activity"):
        swf.run(waiting)


def test_it_works_inside_of_a_running_loop(swf):
    async def main() -> int:
        return swf.run(count)

    assert asyncio.run(main()) == 3


class TestInUnittest(unittest.TestCase):
    def setUp(self) -> None:
        self.swf = self.enterContext(Environment())

    def test_a_workflow(self) -> None:
        self.assertEqual(self.swf.run(count), 3)  # noqa: PT009 - so do users of unittest


def test_a_run_that_continues_for_ever_is_reported():
    @workflow
    async def eternal(day: int) -> None:
        await flowpy.sleep("1d")
        flowpy.continue_as_new(day + 1)

    swf = Environment()
    run = swf.start(eternal, 1)
    with pytest.raises(flowpy.ResultNotReady, match=r"continued as new 1,000 times .* result\(timeout=...\)"):
        run.result()
    with pytest.raises(flowpy.ResultNotReady, match="is still open after"):
        run.result(timeout="3d")
    swf.close()


def test_nothing_happens_after_its_end():
    with Environment() as swf:
        run = swf.start(order, "o-7")

    for call in (run.result, lambda: run.signal(approval, True), lambda: swf.advance(1), lambda: swf.start(count)):
        with pytest.raises(flowpy.CallError, match="the environment is closed"):
            call()
    assert run.describe().status == "OPEN"


def test_arguments_by_name_where_options_stand_are_told_where_they_go(swf):
    with pytest.raises(flowpy.DeclarationError, match=r"order_id: keywords are options here; .*kwargs"):
        swf.run(order, order_id="o-7")

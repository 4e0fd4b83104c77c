"""Stubs: what they say, what does not fit, and that their outcomes are those that production records."""

from __future__ import annotations

import asyncio
import datetime as dt
from unittest.mock import Mock

import pytest

import flowpy
from flowpy import current_activity, workflow
from flowpy.testing import Environment

from .shop import (
    Receipt,
    add,
    approval,
    ask,
    call,
    charge,
    child,
    count,
    label,
    order,
    pack,
    parent,
    print_in_java,
    ship,
    shrink,
)


@pytest.fixture
def swf():
    with Environment() as swf:
        yield swf


def paid(swf, order_id="o-7"):
    run = swf.start(order, order_id)
    run.signal(approval, True)
    return run


class TestWhatTheySay:
    def test_a_result(self, swf):
        swf.stub(charge, returns=Receipt("other", 1))
        assert paid(swf).result() == "other"

    def test_an_error_is_retried_as_the_policy_says(self, swf):
        swf.stub(charge, raises=OSError("no line"))

        with pytest.raises(flowpy.WorkflowFailed, match="OSError: no line"):
            paid(swf).result()

        assert [made.attempt for made in swf.calls(charge)] == [1, 2, 3]

    def test_one_after_the_other(self, swf):
        swf.stub(charge, raises=OSError).then(raises=TimeoutError()).then(returns=Receipt("third", 1))
        assert paid(swf).result() == "third"

    def test_several_times_the_same(self, swf):
        swf.stub(charge, raises=OSError, times=2).then(returns=Receipt("third", 1))
        assert paid(swf).result() == "third"

    def test_the_last_one_goes_on(self, swf):
        swf.stub(add, returns=5).then(returns=7)
        assert swf.run(count) == 7
        assert swf.calls(add) == [(0,), (5,), (7,)]

    def test_used_up_is_an_error(self, swf):
        swf.stub(add, returns=5, times=1)
        with pytest.raises(flowpy.CallError, match=r"add was called 2 times.*first 1 calls end"):
            swf.run(count)

    def test_a_function_instead(self, swf):
        swf.stub(charge, by=lambda order_id, cents: Receipt(order_id * 2, cents))
        assert paid(swf).result() == "o-7o-7"

    def test_an_async_function_instead(self, swf):
        async def fake(order_id: str) -> str:
            await asyncio.sleep(0)
            return "async"

        @workflow
        async def shipping() -> str:
            return await ship("o-7")

        swf.stub(ship, by=fake)
        assert swf.run(shipping) == "async"

    def test_a_mock_instead(self, swf):
        mock = Mock(return_value=9)
        swf.stub(add, by=mock)
        assert swf.run(count) == 9
        mock.assert_called_with(9)

    def test_what_a_function_asserts_fails_the_test(self, swf):
        def picky(order_id, cents):
            assert cents == 1, "too dear"

        swf.stub(charge, by=picky)
        with pytest.raises(AssertionError, match="too dear"):
            swf.start(order, "o-7")

    def test_by_name(self, swf):
        swf.stub("add", returns=3)
        assert swf.run(count) == 3

    def test_an_object_comes_before_a_name(self, swf):
        swf.stub(add, returns=1)
        swf.stub("add", returns=2)
        assert swf.run(count) == 1

    def test_a_later_stub_takes_the_place_of_an_earlier_one(self, swf):
        swf.stub(add, returns=1)
        swf.stub(add, returns=2)
        assert swf.run(count) == 2


class TestTime:
    def test_work_takes_its_time(self, swf):
        began = swf.now()
        swf.stub(add, returns=1, delay="10d")
        assert swf.run(count) == 1
        assert swf.now() - began == dt.timedelta(days=30)

    def test_the_real_function_may_take_its_time(self, swf):
        swf.stub(add, delay="1d")
        assert swf.run(count) == 3

    def test_workers_heartbeat_for_work_that_takes_long(self, swf):
        swf.stub(pack, returns="late", delay="1d")  # its heartbeat timeout is a minute
        assert swf.run(call, "pack") == "late"

    @pytest.mark.parametrize("kind", ["START_TO_CLOSE", "SCHEDULE_TO_START"])
    def test_timeouts(self, swf, kind):
        swf.stub(charge, times_out=kind)
        run = swf.start(order, "o-7")
        run.signal(approval, True)
        with pytest.raises(flowpy.WorkflowFailed, match=kind):
            run.result()
        assert len(swf.calls(charge)) == 3

    def test_a_heartbeat_timeout_brings_the_last_details(self, swf):
        swf.stub(pack, times_out="HEARTBEAT", heartbeats=[1, 2], delay="1h")
        began = swf.now()
        assert swf.run(call, "pack") == ["HEARTBEAT", 2]
        assert swf.now() - began == dt.timedelta(hours=1, minutes=1)

    def test_schedule_to_close(self, swf):
        @workflow
        async def hurried() -> str:
            try:
                return await ship.options(schedule_to_close_timeout="1h")("o-7")
            except flowpy.ActivityTimedOut as error:
                return error.timeout_type

        swf.stub(ship, times_out="SCHEDULE_TO_CLOSE")
        assert swf.run(hurried) == "SCHEDULE_TO_CLOSE"

    def test_a_timeout_that_can_never_happen_is_an_error(self, swf):
        swf.stub(add, times_out="START_TO_CLOSE")
        with pytest.raises(flowpy.DeclarationError, match="has no start_to_close_timeout"):
            swf.start(count)

    def test_a_timeout_that_another_one_comes_before_is_an_error(self, swf):
        @workflow
        async def hurried() -> str:
            return await ship.options(schedule_to_close_timeout="1m", start_to_close_timeout="1h")("o-7")

        swf.stub(ship, times_out="START_TO_CLOSE")
        with pytest.raises(flowpy.DeclarationError, match="SCHEDULE_TO_CLOSE strikes after 60 s"):
            swf.start(hurried)


class TestCancelling:
    @workflow
    async def impatient() -> str:
        try:
            async with asyncio.timeout(60):
                return await pack.options(on_cancel="wait")("lamp")
        except TimeoutError:
            return "gave up"

    def test_it_reaches_work_that_takes_time(self, swf):
        swf.stub(pack, returns="late", delay="1d")
        run = swf.start(TestCancelling.impatient)
        assert run.result() == "gave up"
        assert "ActivityTaskCanceled" in [event["eventType"] for event in run.history()]

    def test_it_reaches_a_function_at_its_heartbeat(self, swf):
        seen = []

        def slow(item: str) -> str:
            seen.append(current_activity().cancel_requested)
            current_activity().heartbeat()
            return "not reached"

        swf.stub(pack, by=slow, delay="1h")
        run = swf.start(TestCancelling.impatient)
        assert run.result() == "gave up"
        assert seen == [True]


class TestWhatDoesNotFit:
    @pytest.mark.parametrize(
        ("target", "said", "message"),
        [
            (charge, {"returns": 7}, "what it returns does not fit its signature"),
            (add, {"returns": "seven"}, "what it returns does not fit"),
            (add, {"returns": object()}, "what it returns does not fit"),
            (add, {"raises": "no"}, "raises='no' is no exception"),
            (add, {"by": 7}, "by=7 is no function"),
            (add, {"by": lambda: 1}, "another signature: it takes \\(\\), calls give \\(number, by\\)"),
            (add, {"by": lambda number, by: 1}, "calls may leave out 'by', which it needs"),
            (add, {"by": lambda number, by=1, *, more: 1}, "it needs 'more', which no call gives"),
            (label, {"by": lambda order_id: ""}, "it does not take 'colour'"),
            (add, {"times_out": "LATE"}, "times_out='LATE' is none of START_TO_CLOSE"),
            (child, {"times_out": "HEARTBEAT"}, "is none of START_TO_CLOSE"),
            (child, {"returns": 1, "heartbeats": [1]}, "only activities record heartbeats"),
            (add, {"returns": 1, "heartbeats": [object()]}, "heartbeat details"),
            (add, {"returns": 1, "times": 0}, "times=0 is no number of calls"),
            (add, {"returns": 1, "times": 1.5}, "times=1.5 is no number of calls"),
            (add, {"returns": 1, "heartbeats": "half"}, "is no list of details"),
            (add, {"raises": UnicodeDecodeError}, r"raises=UnicodeDecodeError\(...\)"),
            (add, {}, "it says nothing; say one of returns, raises, by, times_out"),
            (add, {"returns": 1, "raises": OSError}, "it says returns and raises"),
            (print_in_java, {"delay": 1}, "there is no function here to run"),
            (charge.fn, {"returns": 1}, "is no activity, workflow or Lambda function"),
        ],
    )
    def test_it_is_an_error_at_once(self, swf, target, said, message):
        with pytest.raises(flowpy.DeclarationError, match=message):
            swf.stub(target, **said)

    def test_calls_are_those_of_something(self, swf):
        with pytest.raises(flowpy.DeclarationError, match="calls: 7 is no activity, workflow or Lambda function"):
            swf.calls(7)

    def test_a_name_is_checked_when_it_is_known_what_it_stands_for(self, swf):
        swf.stub("add", returns="seven")
        with pytest.raises(flowpy.DeclarationError, match="stub of add: what it returns does not fit"):
            swf.start(count)


class TestWhatOnlyAStubCanAnswer:
    @pytest.mark.parametrize(("name", "how"), [("print", "another SDK's worker"), ("ask", "completed from elsewhere")])
    def test_it_is_reported_with_the_line_of_the_call(self, swf, name, how):
        with pytest.raises(flowpy.NotStubbed, match=rf"called at tests/testing/shop\.py:\d+ in call, .*{how}"):
            swf.start(call, name)

    def test_the_test_may_go_on_once_it_is_stubbed(self, swf):
        with pytest.raises(flowpy.NotStubbed):
            swf.start(call, "print", workflow_id="printing")
        swf.stub(print_in_java, returns=3)

        assert swf.find("printing").result() == 3

    def test_an_external_activity(self, swf):
        swf.stub(print_in_java, returns=3)
        assert swf.run(call, "print") == 3

    def test_a_manual_activity_is_completed_by_its_token(self, swf):
        tokens = []
        swf.stub(ask, by=lambda question: tokens.append(current_activity().task_token))
        run = swf.start(call, "ask")

        swf.advance("3d")
        swf.client.activity(tokens[0]).complete("yes")

        assert run.result() == "yes"

    def test_a_manual_activity_may_just_have_a_result(self, swf):
        swf.stub(ask, returns="no", delay="3d")
        assert swf.run(call, "ask") == "no"

    def test_a_lambda_function(self, swf):
        with pytest.raises(flowpy.NotStubbed, match=r"Lambda function shrink .* say swf\.stub\(.shrink., \.\.\.\)"):
            swf.start(shrink, "a picture")


class TestChildren:
    def test_a_result(self, swf):
        swf.stub(child, returns=42)
        assert swf.run(parent, 1) == 42
        assert swf.calls(add) == []

    def test_it_takes_time_and_fails(self, swf):
        swf.stub(child, raises=flowpy.ApplicationError("no", type="Broken"), delay="10d")
        with pytest.raises(flowpy.WorkflowFailed, match=r"child workflow child .* failed: Broken: no"):
            swf.run(parent, 1)

    def test_a_function(self, swf):
        swf.stub(child, by=lambda number: number * 100)
        assert swf.run(parent, 2) == 200

    def test_a_timeout(self, swf):
        @workflow
        async def hurried() -> str:
            try:
                return str(await child.options(execution_start_to_close_timeout="1h")(1))
            except flowpy.ChildTimedOut as error:
                return error.timeout_type

        swf.stub(child, times_out="START_TO_CLOSE")
        assert swf.run(hurried) == "START_TO_CLOSE"

    def test_what_the_test_starts_itself_is_real(self, swf):
        swf.stub(child, returns=42)
        assert swf.run(child, 1) == 2


class TestLambdaFunctions:
    def test_a_result(self, swf):
        swf.stub("shrink", returns="small")
        assert swf.run(shrink, "a picture") == "small"
        assert swf.calls("shrink") == [("a picture",)]

    def test_by_object_and_function(self, swf):
        swf.stub(flowpy.lambda_function("shrink"), by=lambda picture: picture[:3], delay=30)
        assert swf.run(shrink, "a picture") == "a p"

    def test_a_failure(self, swf):
        swf.stub("shrink", raises=ValueError("too large"))
        with pytest.raises(flowpy.WorkflowFailed, match="UnhandledError"):
            swf.run(shrink, "a picture")

    def test_a_timeout(self, swf):
        swf.stub("shrink", times_out="START_TO_CLOSE")
        with pytest.raises(flowpy.WorkflowFailed, match="timed out: START_TO_CLOSE"):
            swf.run(shrink, "a picture")


class TestCalls:
    def test_they_know_when_and_by_whom(self, swf):
        began = swf.now()
        swf.stub(charge, raises=OSError).then(returns=Receipt("r", 1))
        run = paid(swf)
        run.result()
        first, second = swf.calls(charge)

        assert (first.args, first.kwargs, first.attempt) == (("o-7", 4200), {}, 1)
        assert first.at == began
        assert (second.id, second.attempt) == ("charge-1.r2", 2)
        assert second.at - began == dt.timedelta(seconds=2)
        assert (first.workflow_id, first.run_id) == (run.workflow_id, run.run_id)

    def test_arguments_are_what_the_function_gets(self, swf):
        @workflow
        async def labelling() -> str:
            return await label(order_id="o-7", colour="red")

        swf.run(labelling)
        (made,) = swf.calls(label)
        assert (made.args, made.kwargs) == (("o-7",), {"colour": "red"})
        assert made != ("o-7",)

    def test_they_read_well(self, swf):
        swf.stub(charge, raises=OSError)
        run = swf.start(order, "o-7")
        swf.advance(2)
        assert repr(swf.calls(charge)) == (
            "[<charge('o-7', 4200) at 2023-11-14 22:13:20>, <charge('o-7', 4200) at 2023-11-14 22:13:22, attempt 2>]"
        )
        run.terminate()


class TestWhatStopsATest:
    def test_ctrl_c_in_an_activity(self, swf):
        @flowpy.activity
        def interrupted() -> None:
            raise KeyboardInterrupt

        @workflow
        async def stopping() -> None:
            await interrupted()

        with pytest.raises(KeyboardInterrupt):
            swf.start(stopping)

    def test_pytest_fail_in_a_stub(self, swf):
        swf.stub(add, by=lambda number, by=1: pytest.fail("mine"))
        with pytest.raises(pytest.fail.Exception, match="mine"):
            swf.start(count)

    def test_an_assertion_in_the_stub_of_a_child(self, swf):
        def picky(number):
            raise AssertionError("mine")

        swf.stub(child, by=picky)
        with pytest.raises(AssertionError, match="mine"):
            swf.start(parent, 1)


class TestWorkWhoseRunIsGone:
    def test_a_stub_is_dropped(self, swf):
        swf.stub(pack, returns="late", delay="1h", heartbeats=[1])
        run = swf.start(call, "pack")
        run.terminate()
        swf.advance("2h")
        assert run.describe().close_status == "TERMINATED"

    def test_a_function_learns_it_at_its_second_heartbeat(self, swf):
        seen = []

        def slow(item: str) -> str:
            current_activity().heartbeat()
            seen.append(current_activity().gone)
            current_activity().heartbeat()
            return "not reached"

        swf.stub(pack, by=slow, delay="1h")
        swf.start(call, "pack").terminate()
        swf.advance("2h")
        assert seen == [True]

    def test_the_way_out_of_a_run_stops_its_activities(self, swf):
        @workflow
        async def leaving() -> None:
            pack("lamp")
            await flowpy.sleep(1)
            raise flowpy.ApplicationError("gone")

        swf.stub(pack, returns="late", delay="1d")
        began = swf.now()
        with pytest.raises(flowpy.WorkflowFailed, match="gone"):
            swf.run(leaving)
        assert swf.now() - began == dt.timedelta(seconds=1)


def test_a_stub_whose_name_is_misspelt_is_told_at_the_end() -> None:
    @flowpy.activity(name="deliver")
    def delivered() -> str:
        return "really delivered"

    @workflow
    async def delivery() -> str:
        return await delivered()

    told = "stub 'delivver': nothing of that name was called; did you mean 'deliver'"
    swf = Environment()
    swf.stub("delivver", returns="d-1")
    swf.stub("send_mail", returns=None)  # nothing is near: tests share stubs
    assert swf.run(delivery) == "really delivered"
    assert swf.unused_stubs() == {"delivver": "; did you mean 'deliver'?", "send_mail": ""}
    with pytest.warns(UserWarning, match=told):
        swf.__exit__(None)

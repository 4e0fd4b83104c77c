"""Whole histories with everything at once, whose decisions follow from the laws alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.pitfalls.build import Run, attributes_of, start_timer

import flowpy
from flowpy import Retry, activity, asynchronous, execute, query, signal, workflow
from flowpy.replay.hold import hold_decision

stop = flowpy.Signal("stop")
item = flowpy.Signal("item")
number = flowpy.Signal("number", int)


@activity
def step(value: Any = "") -> str: ...


@activity
def merge(values: Any) -> str: ...


@workflow
async def ship(order_id: str = "") -> str: ...


@workflow
async def logging_steps() -> list[Any]:
    log: list[Any] = []

    @item.handler
    def keep(value: Any) -> None:
        log.append(value)

    log.append(await step("a"))
    log.append(await step("b"))
    return log


def test_two_decision_tasks_time_out_with_events_landing_in_each() -> None:
    run = Run(logging_steps)
    for value in (1, 2):
        run.begin()
        run.signaled("item", value)
        run.decision_times_out()
    run.signaled("item", 3)
    run.begin()
    run.signaled("item", 4)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.begin()
    run.signaled("item", 5)
    run.completes("step-1", "A")
    run.decision_times_out()
    run.signaled("item", 6)
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.completes("step-2", "B")
    assert run.decide() == ['CompleteWorkflowExecution [1, 2, 3, 4, 5, "A", 6, "B"]']
    run.replays()


def test_holds_upon_holds_with_events_landing_in_each() -> None:
    run = Run(logging_steps)
    run.decided_elsewhere(start_timer("flowpy.hold-1", 60))
    run.signaled("item", 1)
    run.begin()
    run.signaled("item", 2)
    run.decided_elsewhere(start_timer("flowpy.hold-2", 120))
    run.fires("flowpy.hold-1")
    run.begin()
    run.signaled("item", 3)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.begin()
    run.completes("step-1", "A")
    run.decided_elsewhere(start_timer("flowpy.hold-3", 60))
    run.fires("flowpy.hold-2")
    run.begin()
    run.signaled("item", 4)
    run.decided_elsewhere(start_timer("flowpy.hold-4", 120))
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.fires("flowpy.hold-3")
    run.fires("flowpy.hold-4")
    run.begin()
    run.completes("step-2", "B")
    assert run.decide() == []
    assert run.decide() == ['CompleteWorkflowExecution [1, 2, 3, "A", 4, "B"]']
    run.replays()


def test_hold_timers_count_in_the_history_and_their_length_since_the_last_decision() -> None:
    run = Run(logging_steps)

    def held() -> Any:
        run.begin()
        decision = hold_decision(run.events)
        return decision and tuple(attributes_of(decision).values())

    for _ in range(3):
        assert held() is None
        run.decision_times_out()
    assert held() == ("flowpy.hold-1", "60")
    run.decided_elsewhere(start_timer("flowpy.hold-1", 60))
    run.signaled("item", 1)
    assert held() == ("flowpy.hold-2", "120")
    run.decided_elsewhere(start_timer("flowpy.hold-2", 120))
    run.fires("flowpy.hold-1")
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1")
    assert held() is None
    run.decision_times_out()
    for _ in range(2):
        assert held() is None
        run.decision_times_out()
    assert held() == ("flowpy.hold-3", "60")


def test_child_that_fails_to_start_after_it_was_initiated_and_one_that_is_refused_at_once() -> None:
    @workflow
    async def stubborn() -> list[Any]:
        causes = []
        for _ in range(2):
            try:
                await ship.options(workflow_id="c")()
            except flowpy.ChildStartFailed as error:
                causes.append([error.cause, error.id])
        return causes

    run = Run(stubborn)
    assert run.decide() == ["StartChildWorkflowExecution c"]
    initiated = len(run.events)
    run.event(
        "StartChildWorkflowExecutionFailed",
        workflowId="c",
        workflowType={"name": "ship", "version": "1.0"},
        cause="OPEN_CHILDREN_LIMIT_EXCEEDED",
        initiatedEventId=initiated,
        decisionTaskCompletedEventId=initiated - 1,
    )
    assert run.decide(refused={"c": "WORKFLOW_ALREADY_RUNNING"}) == ["StartChildWorkflowExecution c"]
    assert run.decide() == [
        'CompleteWorkflowExecution [["OPEN_CHILDREN_LIMIT_EXCEEDED", "c"], ["WORKFLOW_ALREADY_RUNNING", "c"]]'
    ]
    run.replays()


def test_given_ids_are_free_again_when_their_work_has_ended() -> None:
    @workflow
    async def repeating() -> int:
        for _ in range(3):
            await step.options(activity_id="a")("x")
            await flowpy.sleep(3, timer_id="t")
            await ship.options(workflow_id="c")("y")
        return 1

    run = Run(repeating)
    for _ in range(3):
        assert run.decide() == ["ScheduleActivityTask a"]
        run.completes("a")
        assert run.decide() == ["StartTimer t 3"]
        run.fires("t")
        assert run.decide() == ["StartChildWorkflowExecution c"]
        run.child_completes("c", "x")
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.replays()


def test_retry_ends_with_its_expiration_whatever_timed_out() -> None:
    @activity(retry=Retry(initial=10, coefficient=1, jitter=0, expiration=30))
    def flaky() -> None: ...

    @workflow
    async def trying() -> str:
        try:
            await flaky()
        except flowpy.ActivityTimedOut as error:
            return error.timeout_type
        return ""

    run = Run(trying)
    assert run.decide() == ["ScheduleActivityTask flaky-1"]
    run.times_out("flaky-1", "SCHEDULE_TO_START")
    assert run.decide() == ["StartTimer flaky-1.w2 10"]
    run.fires("flaky-1.w2")
    assert run.decide() == ["ScheduleActivityTask flaky-1.r2"]
    run.times_out("flaky-1.r2", "SCHEDULE_TO_CLOSE")
    assert run.decide() == ['CompleteWorkflowExecution "SCHEDULE_TO_CLOSE"']
    run.replays()


def test_deferred_call_waits_for_tasks_and_promises_nested_in_its_argument() -> None:
    async def inner() -> str:
        return await step("in a task")

    @workflow
    async def nesting() -> str:
        return await merge({"a": [asyncio.create_task(inner())], "b": (step("direct"), 3)})

    run = Run(nesting)
    assert run.decide() == ["ScheduleActivityTask step-1", "ScheduleActivityTask t1.step-1"]
    run.completes("step-1", "m")
    assert run.decide() == []
    run.completes("t1.step-1", "t")
    assert [attributes_of(d)["input"] for d in run.offered()] == ['[{"a": ["t"], "b": ["m", 3]}]']
    assert run.decide() == ["ScheduleActivityTask merge-1"]
    run.replays()


def test_plain_code_waits_three_frames_deep_and_under_c_code() -> None:
    def outer(value: int) -> int:
        return middle(value) + 1

    def middle(value: int) -> int:
        return inner(value) + 1

    def inner(value: int) -> int:
        return int(step(value).result())

    @workflow
    def sorting() -> list[int]:
        return sorted([3, 1, 2], key=outer)

    run = Run(sorting)
    for n, rank in enumerate(("9", "5", "7"), 1):
        assert run.decide() == [f"ScheduleActivityTask step-{n}"]
        run.completes(f"step-{n}", rank)
    assert run.decide() == ["CompleteWorkflowExecution [1, 2, 3]"]
    run.replays()


def test_plain_code_cleans_up_after_a_cancel() -> None:
    @workflow
    def tidy() -> None:
        try:
            step("work").result()
        finally:
            step("clean up").result()

    run = Run(tidy)
    run.decide()
    run.cancel_requested()
    assert run.decide() == ["RequestCancelActivityTask step-1", "ScheduleActivityTask step-2"]
    run.canceled("step-1")
    run.completes("step-2")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_nested_timeouts_end_from_the_outside() -> None:
    @workflow
    async def nesting() -> list[str]:
        ended = []
        try:
            async with asyncio.timeout(10):
                try:
                    async with asyncio.timeout(20):
                        await step()
                except TimeoutError:
                    ended.append("inner")
        except TimeoutError:
            ended.append("outer")
        return ended

    run = Run(nesting)
    assert run.decide() == ["StartTimer timer-1 10", "StartTimer timer-2 20", "ScheduleActivityTask step-1"]
    run.fires("timer-1")
    assert run.decide() == ["RequestCancelActivityTask step-1", "CancelTimer timer-2"]
    run.canceled("step-1")
    assert run.decide() == ['CompleteWorkflowExecution ["outer"]']
    run.replays()


def test_cancel_of_the_run_waits_for_a_child_that_is_to_be_waited_for() -> None:
    @workflow
    async def patient() -> None:
        shipped = await ship.options(workflow_id="c", on_cancel="wait")("a")
        await step(shipped)

    run = Run(patient)
    assert run.decide() == ["StartChildWorkflowExecution c"]
    run.child_starts("c")
    run.cancel_requested()
    assert run.decide() == ["RequestCancelExternalWorkflowExecution ship-1.cancel to c"]
    run.passed_on("ship-1.cancel")
    assert run.decide() == []
    run.child_completes("c", "done")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_exception_cancels_what_is_open_each_in_its_own_way() -> None:
    @workflow
    async def leaving() -> None:
        ship.options(workflow_id="a", on_cancel="abandon", child_policy="ABANDON")()
        ship.options(workflow_id="b")()
        step.options(on_cancel="abandon")()
        step.options(on_cancel="wait")()
        step().detach()
        step()
        await stop.receive()
        raise ValueError("x")

    run = Run(leaving)
    run.decide()
    run.child_starts("a")
    run.child_starts("b")
    run.decide()
    run.signaled("stop")
    assert run.decide() == [
        "RequestCancelExternalWorkflowExecution ship-2.cancel to b",
        "RequestCancelActivityTask step-2",
        "RequestCancelActivityTask step-4",
    ]
    run.canceled("step-2")
    run.completes("step-4")
    run.child_ends("b", "Canceled")
    assert run.decide() == ["FailWorkflowExecution ValueError: x"]
    run.replays()


def test_late_handler_decides_after_the_return_and_closes_fail_twice() -> None:
    @workflow
    async def late() -> int:
        await step("a")

        @item.handler
        async def handle(value: Any) -> None:
            await step(value)

        return 1

    run = Run(late)
    run.signaled("item", "x")
    run.signaled("other", 1)
    run.signaled("item", "y")
    run.decide()
    run.completes("step-1")
    assert run.decide() == ["ScheduleActivityTask s1.step-1", "ScheduleActivityTask s3.step-1"]
    run.completes("s3.step-1")
    run.completes("s1.step-1")
    run.begin()
    run.signaled("item", "z")
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.begin()
    run.signaled("item", "q")
    assert run.decide() == ["ScheduleActivityTask s4.step-1"]
    assert run.decide() == ["ScheduleActivityTask s5.step-1"]
    run.completes("s5.step-1")
    run.completes("s4.step-1")
    run.begin()
    run.signaled("other", 2)
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.replays()


def test_signals_carried_by_continue_as_new_are_the_raw_texts_nobody_received() -> None:
    @workflow
    async def counting(n: int = 0) -> None:
        try:
            await number.receive()
        except flowpy.PayloadNotDecodable:
            await step("bad")
        flowpy.continue_as_new(n + 1)

    run = Run(counting)
    run.signaled("number", input="not json")
    run.signaled("number", input='{"a":1')
    run.signaled("number", 3)
    run.signaled("undeclared", input=None)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1")
    run.begin()
    run.signaled("number", 4)
    (first,) = run.decide()
    signals = [{"name": "number", "input": '{"a":1'}, {"name": "number", "input": "3"}, {"name": "undeclared"}]
    assert json.loads(first.partition(" ")[2]) == {"args": [1], "signals": signals}
    (second,) = run.decide()
    signals.append({"name": "number", "input": "4"})
    assert json.loads(second.partition(" ")[2]) == {"args": [1], "signals": signals}
    run.replays()


def test_continue_as_new_refused_for_good_fails_the_run_with_the_cause() -> None:
    @workflow
    async def continuing(n: int = 0) -> None:
        flowpy.continue_as_new(n + 1)

    run = Run(continuing)
    assert run.decide(refused={"": "WORKFLOW_TYPE_DEPRECATED"}) == ["ContinueAsNewWorkflowExecution [1]"]
    (failure,) = run.decide()
    assert failure.startswith("FailWorkflowExecution ContinueAsNewFailed")
    assert "WORKFLOW_TYPE_DEPRECATED" in failure
    run.replays()


def test_class_with_signals_asynchronous_methods_and_plain_code() -> None:
    @workflow
    class Clerk:
        def __init__(self) -> None:
            self.log: list[Any] = []

        @signal
        async def add(self, value: int) -> None:
            self.log.append(value)
            await step(value)

        @signal(name="x.y")
        def sub(self) -> None:
            self.log.append("sub")
            step("p").result()

        @query
        def status(self) -> list[Any]:
            return self.log

        @asynchronous
        async def both(self, a: str, b: int) -> list[Any]:
            return [a, b, self.later(a)]

        @asynchronous
        def later(self, a: str) -> str:
            return step(a).result() + "!"

        @execute
        async def work(self, n: int) -> list[Any]:
            return [*await self.both(step("m"), n), self.log]  # type: ignore[arg-type]

    run = Run(Clerk, 5)
    run.signaled("add", 1)
    run.signaled("x.y")
    run.signaled("add", "not a number")
    assert run.decide() == [
        "ScheduleActivityTask step-1",
        "ScheduleActivityTask s1.step-1",
        "ScheduleActivityTask s2.step-1",
    ]
    run.completes("step-1", "M")
    assert run.decide() == ["ScheduleActivityTask t1.t1.step-1"]
    run.completes("t1.t1.step-1", "L")
    assert run.decide() == []
    run.completes("s1.step-1")
    run.completes("s2.step-1")
    assert run.decide() == ['CompleteWorkflowExecution ["M", 5, "L!", [1, "sub"]]']
    run.replays()


def test_every_way_a_lambda_function_fails_is_its_own_error() -> None:
    @workflow
    async def calling() -> list[str]:
        errors = []
        for n in range(3):
            try:
                await flowpy.lambda_function("resize")({"n": n})
            except flowpy.FlowpyError as error:
                errors.append(type(error).__name__)
        return errors

    run = Run(calling)
    assert run.decide(refused={"lambda-1": "ID_ALREADY_IN_USE"}) == ["ScheduleLambdaFunction lambda-1"]
    assert run.decide() == ["ScheduleLambdaFunction lambda-2"]
    run.event("StartLambdaFunctionFailed", scheduledEventId=len(run.events), cause="ASSUME_ROLE_FAILED", message="no")
    assert run.decide() == ["ScheduleLambdaFunction lambda-3"]
    scheduled = len(run.events)
    started = run.event("LambdaFunctionStarted", scheduledEventId=scheduled)
    run.event(
        "LambdaFunctionTimedOut", scheduledEventId=scheduled, startedEventId=started, timeoutType="START_TO_CLOSE"
    )
    errors = '["LambdaScheduleFailed", "LambdaStartFailed", "LambdaTimedOut"]'
    assert run.decide() == [f"CompleteWorkflowExecution {errors}"]
    run.replays()


@pytest.mark.parametrize(("size", "fits"), [(32_764, True), (32_765, False)])
def test_input_may_have_exactly_as_many_characters_as_swf_takes(size: int, fits: bool) -> None:
    @workflow
    async def filling(n: int) -> None:
        await step("x" * n)

    (decision,) = Run(filling, size).decide()
    expected = (
        "ScheduleActivityTask step-1" if fits else "FailWorkflowExecution PayloadTooLarge: input of activity step-1"
    )
    assert decision.startswith(expected)

"""Refused schedules, retries and what user code sees of them (rows A*)."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .build import Run, attributes_of


@activity
def step(name: str) -> str: ...


@activity
def fallback(name: str) -> str: ...


@activity(retry=flowpy.Retry(attempts=5, initial=1, coefficient=1, jitter=0))
def flaky(name: str) -> str: ...


def test_a07_refused_schedule_is_an_error_at_the_await_and_counts_as_its_decision() -> None:
    @workflow
    async def careful() -> list:
        first, second = step("a"), step("b")
        try:
            return [await first, await second]
        except flowpy.ActivityScheduleFailed as error:
            return [error.cause, await fallback("a"), await second]

    run = Run(careful)
    run.decide(refused={"step-1": "ACTIVITY_TYPE_DOES_NOT_EXIST"})
    assert run.decide() == ["ScheduleActivityTask fallback-1"]
    run.completes("step-2", "B")
    run.completes("fallback-1", "F")
    assert run.decide() == ['CompleteWorkflowExecution ["ACTIVITY_TYPE_DOES_NOT_EXIST", "F", "B"]']
    run.replays()


def test_a08_activity_over_the_open_limit_is_not_sent_again_by_itself() -> None:
    @workflow
    async def patient() -> str:
        while True:
            try:
                return await step("a")
            except flowpy.ActivityScheduleFailed:
                await flowpy.sleep(5)

    run = Run(patient)
    run.decide(refused={"step-1": "OPEN_ACTIVITIES_LIMIT_EXCEEDED"})
    assert run.decide() == ["StartTimer timer-1 5"]
    run.fires("timer-1")
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.completes("step-2", "A")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    run.replays()


def test_a08_no_more_than_a_thousand_activities_are_open() -> None:
    @workflow
    async def wide() -> int:
        return len(await asyncio.gather(*(step(str(i)) for i in range(1003))))

    run = Run(wide)
    sent = list(run.decide())
    while sent and sent[-1].startswith("StartTimer flowpy.again"):
        again = sent.pop().split()[1]
        run.fires(again)
        batch = run.decide()
        assert len(batch) <= 100
        sent += batch
    assert len(sent) == 1000
    run.completes("step-7")
    run.completes("step-5")
    assert run.decide() == ["ScheduleActivityTask step-1001", "ScheduleActivityTask step-1002"]


def test_a09_three_of_ten_throttled_schedules_fail_alone() -> None:
    @workflow
    async def ten() -> list:
        out = await asyncio.gather(*(step(str(i)) for i in range(1, 11)), return_exceptions=True)
        failed = [e for e in out if isinstance(e, flowpy.ActivityScheduleFailed)]
        await flowpy.sleep(1)
        return [e.id for e in failed] + [await step(f"again {e.id}") for e in failed]

    run = Run(ten)
    refused = ("step-2", "step-5", "step-9")
    run.decide(refused=dict.fromkeys(refused, "ACTIVITY_CREATION_RATE_EXCEEDED"))
    assert run.decide() == []
    for i in (1, 3, 4, 6, 7, 8, 10):
        run.completes(f"step-{i}", str(i))
    assert run.decide() == ["StartTimer timer-1 1"]
    run.fires("timer-1")
    for n in (11, 12, 13):
        assert run.decide() == [f"ScheduleActivityTask step-{n}"]
        run.completes(f"step-{n}", str(n))
    assert run.decide() == ['CompleteWorkflowExecution ["step-2", "step-5", "step-9", "11", "12", "13"]']
    run.replays()


def test_a14_callback_on_a_failure_runs_once_in_every_replay() -> None:
    calls: list[bool] = []

    @workflow
    async def watching() -> None:
        work = step("a")
        work.add_done_callback(lambda _: calls.append(flowpy.is_replaying()))
        await asyncio.wait([work])
        work.exception()
        for _ in range(3):
            await step("more")

    run = Run(watching)
    run.decide()
    run.fails("step-1")
    seen = []
    for n in (2, 3, 4):
        calls.clear()
        assert run.decide() == [f"ScheduleActivityTask step-{n}"]
        run.completes(f"step-{n}")
        seen.append(list(calls))
    assert seen == [[False], [True], [True]]


def test_a15_input_changed_for_the_next_attempt_is_the_same_on_replay() -> None:
    @workflow
    async def adapting() -> str:
        name = "big"
        while True:
            try:
                return await step(name)
            except flowpy.ActivityFailed as error:
                name = f"{error.type} small"
                await flowpy.sleep(1)

    run = Run(adapting)
    run.decide()
    run.fails("step-1", "MemoryError")
    assert run.decide() == ["StartTimer timer-1 1"]
    run.fires("timer-1")
    (decision,) = run.offered()
    assert attributes_of(decision)["input"] == '["MemoryError small"]'
    run.decide()
    run.completes("step-2", "A")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    run.replays()


def test_a18_timeouts_and_failures_are_counted_together_and_success_ends_the_gather() -> None:
    @workflow
    async def both() -> list:
        return await asyncio.gather(flaky("a"), step("b"))

    run = Run(both)
    run.decide()
    run.completes("step-1", "B")
    endings: list[Any] = [run.times_out, run.fails, run.times_out, run.fails]
    for attempt, end in enumerate(endings, 2):
        end("flaky-1" if attempt == 2 else f"flaky-1.r{attempt - 1}")
        assert run.decide() == [f"StartTimer flaky-1.w{attempt} 1"]
        run.fires(f"flaky-1.w{attempt}")
        assert run.decide() == [f"ScheduleActivityTask flaky-1.r{attempt}"]
    run.completes("flaky-1.r5", "A")
    assert run.decide() == ['CompleteWorkflowExecution ["A", "B"]']
    run.replays()

"""Durable timers (rows T*)."""

from __future__ import annotations

import asyncio

import pytest

import flowpy
from flowpy import activity, workflow

from .build import Run

go = flowpy.Signal("go", int)


@activity
def step(name: str) -> str: ...


def test_t03_timer_started_and_cancelled_in_one_decision_is_never_sent_and_keeps_its_number() -> None:
    @workflow
    async def restless() -> None:
        flowpy.sleep(600).cancel()
        await step("a")
        await flowpy.sleep(5)

    run = Run(restless)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1")
    assert run.decide() == ["StartTimer timer-2 5"]
    run.fires("timer-2")
    run.decide()
    run.replays()


def test_t06_sleep_cut_off_by_a_timeout_cancels_its_timer() -> None:
    @workflow
    async def impatient() -> str:
        try:
            await asyncio.wait_for(asyncio.sleep(3600), 5)
        except TimeoutError:
            await step("late")
        return "late"

    run = Run(impatient)
    assert run.decide() == ["StartTimer timer-1 5", "StartTimer timer-2 3600"]
    run.fires("timer-1")
    assert run.decide() == ["CancelTimer timer-2", "ScheduleActivityTask step-1"]
    run.completes("step-1")
    assert run.decide() == ['CompleteWorkflowExecution "late"']
    run.replays()


def test_t06_timer_the_code_cancels_is_cancelled_in_the_answer_that_closes() -> None:
    @workflow
    async def brief() -> str:
        try:
            async with asyncio.timeout(60):
                return await step("a")
        except TimeoutError:
            return "late"

    run = Run(brief)
    assert run.decide() == ["StartTimer timer-1 60", "ScheduleActivityTask step-1"]
    run.completes("step-1", "A")
    assert run.decide() == ["CancelTimer timer-1", 'CompleteWorkflowExecution "A"']
    run.replays()


def test_t07_refused_timer_fails_its_own_promise_with_the_cause() -> None:
    @workflow
    async def pair() -> list:
        first = flowpy.sleep(60, timer_id="grace")
        try:
            flowpy.sleep(60, timer_id="grace")
        except flowpy.DuplicateId:
            said = ["open already"]
        try:
            await flowpy.sleep(60, timer_id="grace-2")
        except flowpy.TimerStartFailed as error:
            said += [error.cause, error.id]
        await first
        return said

    run = Run(pair)
    decided = run.decide(refused={"grace-2": "TIMER_CREATION_RATE_EXCEEDED"})
    assert decided == ["StartTimer grace 60", "StartTimer grace-2 60"]
    assert run.decide() == []
    run.fires("grace")
    expected = '["open already", "TIMER_CREATION_RATE_EXCEEDED", "grace-2"]'
    assert run.decide() == [f"CompleteWorkflowExecution {expected}"]
    run.replays()


def test_t08_refused_cancel_of_a_timer_does_no_harm() -> None:
    @workflow
    async def canceling() -> str:
        timer = flowpy.sleep(60)
        await go.receive()
        timer.cancel()
        return await step("a")

    run = Run(canceling)
    run.decide()
    run.signaled("go", 1)
    assert run.decide(refused={"timer-1": "TIMER_ID_UNKNOWN"}) == ["CancelTimer timer-1", "ScheduleActivityTask step-1"]
    assert run.decide() == []
    run.completes("step-1", "A")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    run.replays()


def test_t11_fired_timer_is_found_by_its_started_event_though_the_id_is_used_again() -> None:
    @workflow
    async def twice() -> str:
        await flowpy.sleep(5, timer_id="tick")
        await flowpy.sleep(7, timer_id="tick")
        return "ticked"

    run = Run(twice)
    assert run.decide() == ["StartTimer tick 5"]
    run.fires("tick")
    assert run.decide() == ["StartTimer tick 7"]
    run.fires("tick")
    assert run.decide() == ['CompleteWorkflowExecution "ticked"']
    run.replays()


def test_t12_timer_reset_in_one_answer_cancels_first_and_starts_then() -> None:
    @workflow
    async def reset() -> str:
        timer = flowpy.sleep(60, timer_id="idle")
        seconds = await go.receive()
        timer.cancel()
        await flowpy.sleep(seconds, timer_id="idle")
        return "idle"

    run = Run(reset)
    run.decide()
    run.signaled("go", 90)
    assert run.decide() == ["CancelTimer idle", "StartTimer idle 90"]
    run.fires("idle")
    assert run.decide() == ['CompleteWorkflowExecution "idle"']
    run.replays()


def test_t13_back_off_without_a_maximum_doubles() -> None:
    @activity(retry=flowpy.Retry(attempts=4, initial=2, coefficient=2, jitter=0))
    def fetch() -> str: ...

    @workflow
    async def fetching() -> str:
        return await fetch()

    run = Run(fetching)
    assert run.decide() == ["ScheduleActivityTask fetch-1"]
    run.fails("fetch-1")
    for attempt, seconds in ((2, 2), (3, 4), (4, 8)):
        assert run.decide() == [f"StartTimer fetch-1.w{attempt} {seconds}"]
        run.fires(f"fetch-1.w{attempt}")
        assert run.decide() == [f"ScheduleActivityTask fetch-1.r{attempt}"]
        run.fails(f"fetch-1.r{attempt}")
    (close,) = run.decide()
    assert close.startswith("FailWorkflowExecution")
    run.replays()


def test_t14_timer_of_more_than_a_year_is_refused_at_the_call() -> None:
    @workflow
    async def patient() -> None:
        with pytest.raises(flowpy.DurationError, match="year"):
            flowpy.sleep("400d")
        await flowpy.sleep("365d")

    assert Run(patient).decide() == ["StartTimer timer-1 31536000"]

"""Cancellation where two things of one name, or two ways to end, meet."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.pitfalls.build import Run

import flowpy
from flowpy import Retry, activity, workflow

stop = flowpy.Signal("stop")
item = flowpy.Signal("item")


@activity
def step(value: Any = "") -> str: ...


@activity(retry=Retry(attempts=3, initial=2, coefficient=2, jitter=0))
def fetch(name: str = "") -> str: ...


def test_abandoned_attempt_is_not_followed_by_another() -> None:
    @workflow
    async def giving_up() -> int:
        fetched = fetch.options(on_cancel="abandon")("a")
        await stop.receive()
        fetched.cancel()
        await step()
        return 1

    run = Run(giving_up)
    assert run.decide() == ["ScheduleActivityTask fetch-1"]
    run.signaled("stop")
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.fails("fetch-1")
    assert run.decide() == []
    run.completes("step-1")
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.replays()


def test_old_timer_that_fires_late_does_not_take_back_the_cancel_of_the_new_one() -> None:
    @workflow
    async def rearmed() -> None:
        grace = flowpy.sleep(10, timer_id="grace")
        await item.receive()
        grace.cancel()
        grace = flowpy.sleep(100, timer_id="grace")
        await item.receive()
        grace.cancel()
        await stop.receive()

    run = Run(rearmed)
    assert run.decide() == ["StartTimer grace 10"]
    run.signaled("item")
    run.begin()
    run.signaled("item")
    run.fires("grace")
    assert run.decide() == ["CancelTimer grace", "StartTimer grace 100"]
    assert run.decide() == ["CancelTimer grace"]
    run.replays()


def test_callback_that_reads_a_cancelled_promise_harms_nobody_else() -> None:
    @workflow
    async def watching() -> None:
        slow = step()
        slow.add_done_callback(lambda promise: promise.result())
        await stop.receive()
        slow.cancel()
        await flowpy.sleep(5)

    run = Run(watching)
    run.decide()
    run.signaled("stop")
    assert run.decide()[0] == "RequestCancelActivityTask step-1"


def test_value_two_tasks_wait_for_is_not_queued_again_when_one_of_them_is_cancelled() -> None:
    @workflow
    async def shared() -> list[Any]:
        got = []
        value = item.receive()

        async def first() -> None:
            got.append(await value)
            second_task.cancel()

        async def second() -> None:
            got.append(await value)

        first_task, second_task = asyncio.create_task(first()), asyncio.create_task(second())
        await asyncio.wait([first_task, second_task])
        got.append(await item.receive())
        return got

    run = Run(shared)
    assert run.decide() == []
    run.signaled("item", 1)
    assert run.decide() == []
    run.signaled("item", 2)
    assert run.decide() == ["CompleteWorkflowExecution [1, 2]"]
    run.replays()


def test_cancel_of_a_timer_that_was_refused_in_the_same_transaction_sends_nothing() -> None:
    @workflow
    async def refused_twice() -> None:
        first, second = flowpy.sleep(5), flowpy.sleep(6)
        try:
            await asyncio.gather(first, second)
        except flowpy.TimerStartFailed:
            second.cancel()
            await step()

    run = Run(refused_twice)
    run.decide(refused=dict.fromkeys(("timer-1", "timer-2"), "TIMER_CREATION_RATE_EXCEEDED"))
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.replays()

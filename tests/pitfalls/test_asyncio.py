"""asyncio's primitives decide alike on every Python (law L8): what is expected here is 3.13's order."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow

from .build import Run

go = flowpy.Signal("go")
item = flowpy.Signal("item", str)


@activity
def step(name: str = "") -> str: ...


@workflow
async def ship(order_id: str) -> str: ...


ship_as_s = ship.options(workflow_id="s")


def test_waiters_of_one_event_resume_in_the_order_they_came() -> None:
    @workflow
    async def waiting() -> list:
        log: list[str] = []
        gate = asyncio.Event()

        async def plain(name: str) -> None:
            await gate.wait()
            log.append(await step(name))

        async def bounded(name: str) -> None:
            await asyncio.wait_for(gate.wait(), 60)
            log.append(await step(name))

        tasks = [asyncio.create_task(f(n)) for f, n in ((bounded, "a"), (plain, "b"), (bounded, "c"), (plain, "d"))]
        await go.receive()
        gate.set()
        await asyncio.wait(tasks)
        return log

    run = Run(waiting)
    assert run.decide() == ["StartTimer t1.timer-1 60", "StartTimer t3.timer-1 60"]
    run.signaled("go")
    assert run.decide() == [
        "CancelTimer t1.timer-1",
        "ScheduleActivityTask t1.step-1",
        "ScheduleActivityTask t2.step-1",
        "CancelTimer t3.timer-1",
        "ScheduleActivityTask t3.step-1",
        "ScheduleActivityTask t4.step-1",
    ]
    for i in (4, 2, 3, 1):
        run.completes(f"t{i}.step-1", f"t{i}")
    assert run.decide() == ['CompleteWorkflowExecution ["t4", "t2", "t3", "t1"]']
    run.replays()


def test_wait_for_takes_the_numbers_of_its_caller() -> None:
    @workflow
    async def bounded() -> list:
        async def inner() -> str:
            return await step("inner")

        out = [await asyncio.wait_for(inner(), 30), await asyncio.wait_for(step("promise"), None)]
        task = asyncio.create_task(inner())
        return [*out, await asyncio.wait_for(task, 30)]

    run = Run(bounded)
    assert run.decide() == ["StartTimer timer-1 30", "ScheduleActivityTask step-1"]
    run.completes("step-1", "A")
    assert run.decide() == ["CancelTimer timer-1", "ScheduleActivityTask step-2"]
    run.completes("step-2", "B")
    assert run.decide() == ["StartTimer timer-2 30", "ScheduleActivityTask t1.step-1"]
    run.completes("t1.step-1", "C")
    assert run.decide() == ["CancelTimer timer-2", 'CompleteWorkflowExecution ["A", "B", "C"]']
    run.replays()


def test_semaphore_lets_two_at_a_time_through() -> None:
    @workflow
    async def throttled() -> int:
        places = asyncio.Semaphore(2)

        async def one(name: str) -> None:
            async with places:
                await step(name)

        await asyncio.gather(*(one(n) for n in "abcd"))
        return 4

    run = Run(throttled)
    assert run.decide() == ["ScheduleActivityTask t1.step-1", "ScheduleActivityTask t2.step-1"]
    run.completes("t2.step-1")
    assert run.decide() == ["ScheduleActivityTask t3.step-1"]
    run.completes("t3.step-1")
    run.completes("t1.step-1")
    assert run.decide() == ["ScheduleActivityTask t4.step-1"]
    run.completes("t4.step-1")
    assert run.decide() == ["CompleteWorkflowExecution 4"]
    run.replays()


def test_queue_feeds_workers_in_order() -> None:
    @workflow
    async def pooled() -> list:
        queue: asyncio.Queue[str] = asyncio.Queue()
        log: list[str] = []

        async def worker() -> None:
            while True:
                log.append(await step(await queue.get()))
                queue.task_done()

        workers = [asyncio.create_task(worker()) for _ in range(2)]
        for name in "abc":
            queue.put_nowait(name)
        await queue.join()
        for each in workers:
            each.cancel()
        return log

    run = Run(pooled)
    assert run.decide() == ["ScheduleActivityTask t1.step-1", "ScheduleActivityTask t2.step-1"]
    run.completes("t2.step-1", "b")
    assert run.decide() == ["ScheduleActivityTask t2.step-2"]
    run.completes("t2.step-2", "c")
    run.completes("t1.step-1", "a")
    assert run.decide() == ['CompleteWorkflowExecution ["b", "c", "a"]']
    run.replays()


def test_promises_as_completed_come_in_the_order_of_events() -> None:
    @workflow
    async def racing() -> list:
        return [await each for each in asyncio.as_completed([step("a"), step("b"), step("c")])]

    run = Run(racing)
    run.decide()
    for i, name in ((3, "c"), (1, "a"), (2, "b")):
        run.completes(f"step-{i}", name)
    assert run.decide() == ['CompleteWorkflowExecution ["c", "a", "b"]']
    run.replays()


def test_coroutines_given_to_as_completed_are_refused_with_the_remedy() -> None:
    @workflow
    async def racing() -> list:
        async def one(name: str) -> str:
            return await step(name)

        return [await each for each in asyncio.as_completed([one("a"), one("b")])]

    (close,) = Run(racing).decide()
    assert close.startswith("FailWorkflowExecution NotDeterministic")
    assert "create_task" in close
    gc.collect()  # a coroutine left behind would warn in another test


def test_cancel_that_meets_a_failing_group_is_raised_at_the_next_await() -> None:
    @workflow
    async def grouped() -> str:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(failing())
                await go.receive()
        except* flowpy.ActivityFailed:
            pass
        return await step("after")

    async def failing() -> None:
        try:
            await step("a")
        except asyncio.CancelledError:
            raise flowpy.ActivityFailed("late") from None

    run = Run(grouped)
    run.decide()
    run.cancel_requested()
    decided = run.decide()
    assert decided == ["RequestCancelActivityTask t1.step-1"]
    run.canceled("t1.step-1")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


@pytest.mark.parametrize("where", ["body", "exit"])
def test_failure_in_a_group_does_not_cancel_what_comes_after_it(where: str) -> None:
    @workflow
    async def grouped() -> str:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(failing())
                if where == "body":
                    await go.receive()
        except* flowpy.ActivityFailed:
            await step("handler")
        task = asyncio.current_task()
        return f"{await step('after')} {task.cancelling() if task else None}"

    async def failing() -> None:
        await step("a")

    run = Run(grouped)
    run.decide()
    run.fails("t1.step-1")
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1")
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.completes("step-2", "done")
    assert run.decide() == ['CompleteWorkflowExecution "done 0"']
    run.replays()


def test_timeout_around_a_child_asks_it_to_stop() -> None:
    @workflow
    async def impatient() -> str:
        try:
            async with asyncio.timeout(60):
                return await ship_as_s("o")
        except TimeoutError:
            return "late"

    run = Run(impatient)
    assert run.decide() == ["StartTimer timer-1 60", "StartChildWorkflowExecution s"]
    run.child_starts("s")
    assert run.decide() == []
    run.fires("timer-1")
    assert run.decide() == ["RequestCancelExternalWorkflowExecution ship-1.cancel to s"]
    run.passed_on("ship-1.cancel")
    run.child_ends("s", "Canceled")
    assert run.decide() == ['CompleteWorkflowExecution "late"']
    run.replays()


def test_receive_with_a_timeout_gives_the_value_or_the_error() -> None:
    @workflow
    async def receiving() -> list:
        first = await item.receive(timeout=60)
        try:
            await item.receive(timeout="2m")
        except TimeoutError:
            return [first, "none"]
        return []

    run = Run(receiving)
    assert run.decide() == ["StartTimer timer-1 60"]
    run.signaled("item", "x")
    assert run.decide() == ["CancelTimer timer-1", "StartTimer timer-2 120"]
    run.fires("timer-2")
    assert run.decide() == ['CompleteWorkflowExecution ["x", "none"]']
    run.replays()


def test_value_given_to_a_receive_that_is_cancelled_goes_back_to_the_front() -> None:
    @workflow
    async def receiving() -> list:
        waiting = asyncio.create_task(taking())
        await go.receive()
        waiting.cancel()
        return [await item.receive(), await item.receive()]

    async def taking() -> str:
        return await item.receive()

    run = Run(receiving)
    run.decide()
    run.signaled("go")
    run.signaled("item", "a")
    run.signaled("item", "b")
    assert run.decide() == ['CompleteWorkflowExecution ["a", "b"]']
    run.replays()


def test_all_of_and_any_of() -> None:
    @workflow
    async def combined() -> Any:
        both = await flowpy.all_of([step("a"), step("b")])
        pair = [step("c"), step("d")]
        await flowpy.any_of(pair)
        return [*both, [p.done() for p in pair], await pair[0]]

    run = Run(combined)
    run.decide()
    run.completes("step-2", "B")
    run.completes("step-1", "A")
    assert run.decide() == ["ScheduleActivityTask step-3", "ScheduleActivityTask step-4"]
    run.completes("step-4", "D")
    assert run.decide() == []
    run.completes("step-3", "C")
    assert run.decide() == ['CompleteWorkflowExecution ["A", "B", [false, true], "C"]']
    run.replays()


def test_sets_of_tasks_iterate_alike_on_every_python() -> None:
    @workflow
    async def sets() -> list:
        async def one(i: int) -> int:
            await asyncio.wait_for(asyncio.sleep(0), 60)
            return i

        for _ in range(3):
            await asyncio.wait_for(one(0), 60)
        tasks = {asyncio.create_task(one(i)) for i in range(20)}
        done, _ = await asyncio.wait(tasks)
        return [t.result() for t in done]

    (close,) = Run(sets).decide()
    assert sorted(json.loads(close.removeprefix("CompleteWorkflowExecution "))) == list(range(20))
    assert close == Run(sets).decide()[0]


@pytest.mark.parametrize(
    "forbidden",
    [
        lambda: asyncio.to_thread(print),
        lambda: asyncio.get_running_loop().run_in_executor(None, print),
        lambda: asyncio.open_connection("127.0.0.1", 1),
        lambda: asyncio.create_subprocess_exec("true"),
    ],
    ids=["to_thread", "executor", "socket", "subprocess"],
)
def test_what_cannot_be_replayed_is_refused(forbidden: Callable[[], Any]) -> None:
    @workflow
    async def reaching_out() -> None:
        await forbidden()

    (close,) = Run(reaching_out).decide()
    assert close.startswith("FailWorkflowExecution NotDeterministic")


def test_cancel_in_back_off_cancels_the_timer_and_no_attempt_follows() -> None:
    @activity(retry=flowpy.Retry(attempts=5, initial=10, jitter=0))
    def flaky() -> str: ...

    @workflow
    async def giving_up() -> str:
        work = flaky()
        await go.receive()
        work.cancel()
        work.cancel()
        try:
            await work
        except asyncio.CancelledError:
            return await step("instead")
        return "done"

    in_back_off = Run(giving_up)
    in_back_off.decide()
    in_back_off.fails("flaky-1")
    assert in_back_off.decide() == ["StartTimer flaky-1.w2 10"]
    in_back_off.signaled("go")
    assert in_back_off.decide() == ["CancelTimer flaky-1.w2", "ScheduleActivityTask step-1"]
    in_back_off.completes("step-1", "S")
    assert in_back_off.decide() == ['CompleteWorkflowExecution "S"']
    in_back_off.replays()

    in_attempt = Run(giving_up)
    in_attempt.decide()
    in_attempt.signaled("go")
    assert in_attempt.decide() == ["RequestCancelActivityTask flaky-1", "ScheduleActivityTask step-1"]
    in_attempt.fails("flaky-1")
    assert in_attempt.decide() == []
    in_attempt.completes("step-1", "S")
    assert in_attempt.decide() == ['CompleteWorkflowExecution "S"']
    in_attempt.replays()


def test_abandoned_activity_is_neither_asked_to_stop_nor_waited_for() -> None:
    @workflow
    async def leaving() -> str:
        return await step.options(on_cancel="abandon")("a")

    run = Run(leaving)
    run.decide()
    run.cancel_requested()
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()

"""Law L8: asyncio's own primitives on a run's loop, alike on every Python."""

from __future__ import annotations

import asyncio
import contextvars
from contextlib import aclosing
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow

from .driver import Driver

OPEN = flowpy.Signal("open")


@activity
def work(name: str = "") -> int: ...


def test_a_sleep_is_a_durable_timer_of_whole_seconds() -> None:
    @workflow
    async def sleeps() -> float:
        before = flowpy.now()
        await asyncio.sleep(1.2)
        return (flowpy.now() - before).total_seconds()

    run = Driver(sleeps)
    assert run.decide() == ["StartTimer timer-1 2"]
    run.advance(2)
    assert run.decide() == ["CompleteWorkflowExecution 2.0"]
    run.finished()


def test_a_sleep_of_nothing_only_lets_others_go() -> None:
    @workflow
    async def yields() -> list[str]:
        seen: list[str] = []

        async def other(name: str) -> None:
            seen.append(name)
            await asyncio.sleep(-1)
            seen.append(name)

        await asyncio.gather(other("a"), other("b"))
        return seen

    assert Driver(yields).to_the_end() == ["a", "b", "a", "b"]


def test_a_timeout_cancels_what_it_limits() -> None:
    @workflow
    async def limited() -> str:
        try:
            async with asyncio.timeout(5):
                await work()
        except TimeoutError:
            return "late"
        return "in time"

    run = Driver(limited, uses=(work,))
    assert run.decide() == ["StartTimer timer-1 5", "ScheduleActivityTask work-1"]
    run.advance(5)
    assert run.decide() == ["RequestCancelActivityTask work-1"]
    assert run.decide() == ['CompleteWorkflowExecution "late"']
    run.finished()


def test_a_timeout_that_was_not_needed_cancels_its_timer() -> None:
    @workflow
    async def limited() -> int:
        async with asyncio.timeout(5):
            return await work()

    run = Driver(limited, uses=(work,))
    run.decide()
    run.complete("work-1", 3)
    assert run.decide() == ["CancelTimer timer-1", "CompleteWorkflowExecution 3"]
    run.finished()


def test_gather_gives_results_in_order_and_errors_as_values() -> None:
    @workflow
    async def gathers() -> list[str]:
        results = await asyncio.gather(work("a"), work("b"), work("c"), return_exceptions=True)
        return [type(result).__name__ for result in results]

    run = Driver(gathers, uses=(work,))
    run.decide()
    run.complete("work-3", 1)
    run.fail("work-1")
    assert run.decide() == []
    run.complete("work-2", 2)
    assert run.decide() == ['CompleteWorkflowExecution ["ActivityFailed", "int", "int"]']
    run.finished()


def test_a_cancelled_gather_ends_although_its_last_child_had_a_result() -> None:
    @workflow
    async def gathers() -> str:
        async def nothing() -> None:
            return

        everything = asyncio.gather(work(), nothing(), return_exceptions=True)
        await asyncio.sleep(1)
        everything.cancel()
        try:
            await everything
        except asyncio.CancelledError:
            return "cancelled"
        return "not cancelled"

    run = Driver(gathers, uses=(work,))
    run.decide()
    run.advance(1)
    assert run.decide() == ["RequestCancelActivityTask work-1"]
    assert run.decide() == ['CompleteWorkflowExecution "cancelled"']
    run.finished()


def test_wait_gives_what_is_done_first_and_what_a_timeout_left() -> None:
    @workflow
    async def waits() -> list[int]:
        promises = [work("a"), work("b"), work("c")]
        done, pending = await asyncio.wait(promises, return_when=asyncio.FIRST_COMPLETED)
        later, left = await asyncio.wait(pending, timeout=3)
        for promise in left:
            promise.cancel()
        return [len(done), len(later), len(left)]

    run = Driver(waits, uses=(work,))
    run.decide()
    run.complete("work-2", 1)
    assert run.decide() == ["StartTimer timer-1 3"]
    run.complete("work-1", 1)
    run.advance(3)
    assert run.decide() == ["RequestCancelActivityTask work-3"]
    run.acknowledge("work-3")
    assert run.decide() == ["CompleteWorkflowExecution [1, 1, 1]"]
    run.finished()


def test_a_task_group_numbers_its_tasks_and_gives_their_results() -> None:
    @workflow
    async def groups() -> int:
        async def double(name: str) -> int:
            return 2 * await work(name)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(double(name)) for name in "ab"]
        return sum(task.result() for task in tasks)

    run = Driver(groups, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask t1.work-1", "ScheduleActivityTask t2.work-1"]
    run.complete("t2.work-1", 1)
    run.complete("t1.work-1", 2)
    assert run.decide() == ["CompleteWorkflowExecution 6"]
    run.finished()


def test_a_failing_task_cancels_the_group_in_order_of_creation() -> None:
    @workflow
    async def groups() -> list[str]:
        seen: list[str] = []
        try:
            async with asyncio.TaskGroup() as group:
                for name in "abcdefghij":
                    group.create_task(_awaiting(name))
        except* flowpy.ActivityFailed as errors:
            seen += [type(error).__name__ for error in errors.exceptions]
        return seen

    run = Driver(groups, uses=(work,))
    run.decide()
    run.fail("t4.work-1")
    assert run.decide() == [f"RequestCancelActivityTask t{n}.work-1" for n in (1, 2, 3, 5, 6, 7, 8, 9, 10)]
    for n in (1, 2, 3, 5, 6, 7, 8, 9, 10):
        run.acknowledge(f"t{n}.work-1")
    assert run.decide() == ['CompleteWorkflowExecution ["ActivityFailed"]']
    run.finished()


async def _awaiting(name: str) -> int:
    return await work(name)


def test_a_cancellation_that_meets_a_failing_group_is_raised_at_the_next_await() -> None:
    @workflow
    async def groups() -> list[str]:
        seen: list[str] = []

        async def fails_when_cancelled() -> None:
            try:
                await work()
            except asyncio.CancelledError:
                raise ValueError from None

        async def inner() -> None:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(fails_when_cancelled())
                    await work("body")
            except* ValueError:
                seen.append("group failed")
            try:
                await asyncio.sleep(0)
                seen.append("went on")
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        task = asyncio.create_task(inner())
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        return [*seen, str(task.cancelled())]

    run = Driver(groups, uses=(work,))
    run.decide()
    run.take()
    run.advance(1)
    run.decide()
    for id in run.take():
        run.acknowledge(id)
    assert run.decide() == ['CompleteWorkflowExecution ["group failed", "cancelled", "True"]']
    run.finished()


def test_queues_events_locks_and_their_like() -> None:
    @workflow
    async def synchronises() -> list[str]:
        seen: list[str] = []
        queue: asyncio.Queue[int] = asyncio.Queue(maxsize=1)
        event, lock, condition = asyncio.Event(), asyncio.Lock(), asyncio.Condition()
        semaphore, barrier = asyncio.Semaphore(2), asyncio.Barrier(2)

        async def produce() -> None:
            for number in range(3):
                await queue.put(number)
            event.set()

        async def consume() -> None:
            for _ in range(3):
                seen.append(f"got {await queue.get()}")
                queue.task_done()
            await event.wait()
            await barrier.wait()

        async def critical(name: str) -> None:
            async with semaphore, lock:
                seen.append(f"in {name}")
                await asyncio.sleep(1)
                seen.append(f"out {name}")
            async with condition:
                condition.notify_all()

        async def waits() -> None:
            async with condition:
                await condition.wait()
                seen.append("notified")
            await barrier.wait()

        async with asyncio.TaskGroup() as group:
            for coroutine in (produce(), consume(), critical("a"), critical("b"), critical("c"), waits()):
                group.create_task(coroutine)
        await queue.join()
        return seen

    assert Driver(synchronises).to_the_end() == [
        "got 0", "in a", "got 1", "got 2", "out a", "in b", "notified", "out b", "in c", "out c",
    ]  # fmt: skip


def test_as_completed_takes_promises_and_tasks() -> None:
    @workflow
    async def completes() -> list[int]:
        tasks = [work("a"), asyncio.create_task(_awaiting("b")), work("c")]
        return [await future for future in asyncio.as_completed(tasks)]

    run = Driver(completes, uses=(work,))
    run.decide()
    run.complete("work-2", 3)
    run.complete("t1.work-1", 2)
    run.complete("work-1", 1)
    assert run.decide() == ["CompleteWorkflowExecution [3, 2, 1]"]
    run.finished()


def test_as_completed_refuses_coroutines() -> None:
    @workflow
    async def completes() -> str:
        try:
            for future in asyncio.as_completed([_awaiting("a"), _awaiting("b")]):
                await future
        except flowpy.NotDeterministic as error:
            return str(error)
        return ""

    run = Driver(completes, uses=(work,))
    assert "create_task" in run.decide()[0]


def test_wait_for_takes_no_number_of_a_task() -> None:
    @workflow
    async def limits() -> list[str]:
        seen = [str(await asyncio.wait_for(_awaiting("a"), 5))]
        for awaited, limit in ((work("b"), 2), (work("c"), 0)):
            try:
                await asyncio.wait_for(awaited, limit)
            except TimeoutError:
                seen.append("late")
        seen.append(str(await asyncio.wait_for(work("d"), None)))
        return seen

    run = Driver(limits, uses=(work,))
    assert run.decide() == ["StartTimer timer-1 5", "ScheduleActivityTask work-1"]
    run.complete("work-1", 7)
    assert run.decide() == [
        "CancelTimer timer-1", "ScheduleActivityTask work-2", "ScheduleActivityTask work-3", "StartTimer timer-2 2",
    ]  # fmt: skip
    run.take()
    run.advance(2)
    decided = run.decide()
    assert decided == [
        "RequestCancelActivityTask work-2", "RequestCancelActivityTask work-3", "ScheduleActivityTask work-4",
    ]  # fmt: skip
    run.complete("work-4", 8)
    for id in ("work-2", "work-3"):
        run.acknowledge(id)
    assert run.decide() == ['CompleteWorkflowExecution ["7", "late", "late", "8"]']
    run.finished()


def test_an_async_generator_left_early_is_closed_at_once_and_decides_nothing() -> None:
    @workflow
    async def leaves() -> list[str]:
        seen: list[str] = []

        async def numbers() -> Any:
            try:
                yield 1
                yield 2
            finally:
                try:
                    work("clean-up")
                except Exception as error:
                    seen.append(type(error).__name__)

        async for _ in numbers():
            break
        seen.append("after")
        async with aclosing(numbers()) as closing:
            async for _ in closing:
                break
        await work("last")
        return seen

    run = Driver(leaves, uses=(work,))
    with pytest.warns(RuntimeWarning, match="aclosing"):
        assert run.decide() == ["ScheduleActivityTask work-1", "ScheduleActivityTask work-2"]
    run.complete("work-2", 2)
    run.complete("work-1", 1)
    with pytest.warns(RuntimeWarning, match="aclosing"):
        assert run.decide() == ['CompleteWorkflowExecution ["NotInTask", "after"]']


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: asyncio.get_running_loop().run_in_executor(None, print),
        lambda: asyncio.get_running_loop().call_soon_threadsafe(print),
        lambda: asyncio.get_running_loop().getaddrinfo("localhost", 1),
        lambda: asyncio.get_running_loop().create_connection(None, "localhost", 1),
        lambda: asyncio.get_running_loop().subprocess_exec(None, "ls"),
        lambda: asyncio.get_running_loop().run_forever(),
        lambda: asyncio.get_running_loop().stop(),
        lambda: asyncio.get_running_loop().set_task_factory(None),
        lambda: asyncio.get_running_loop().add_signal_handler(1, print),
        lambda: asyncio.get_running_loop().add_reader(0, print),
    ],
)
def test_what_no_replay_can_repeat_is_refused(attempt: Any) -> None:
    @workflow
    async def attempts() -> str:
        try:
            await attempt()
        except flowpy.NotDeterministic as error:
            return str(error)
        return ""

    assert "cannot be replayed" in Driver(attempts).to_the_end()


def test_threads_are_refused_through_asyncio_too() -> None:
    @workflow
    async def attempts() -> str:
        try:
            await asyncio.to_thread(print)
        except flowpy.NotDeterministic as error:
            return str(error)
        return ""

    assert "activity" in Driver(attempts).to_the_end()


COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


def test_tasks_have_copies_of_the_context() -> None:
    @workflow
    async def colours() -> list[str]:
        async def paint(colour: str) -> str:
            before = COLOUR.get()
            COLOUR.set(colour)
            await asyncio.sleep(1)
            return f"{before} {COLOUR.get()}"

        COLOUR.set("red")
        return [*await asyncio.gather(paint("green"), paint("blue")), COLOUR.get()]

    assert Driver(colours).to_the_end() == ["red green", "red blue", "red"]
    assert COLOUR.get() == "none"


def test_plain_code_shares_the_context_of_its_task() -> None:
    @workflow
    def colours() -> list[str]:
        COLOUR.set("red")
        flowpy.sleep(1).result()
        return [COLOUR.get()]

    assert Driver(colours).to_the_end() == ["red"]
    assert COLOUR.get() == "none"


def test_tasks_know_each_other() -> None:
    @workflow
    async def introspects() -> list[int | bool]:
        async def waits() -> None:
            await asyncio.sleep(1)

        task = asyncio.create_task(waits(), name="waits")
        here = asyncio.current_task()
        everyone = asyncio.all_tasks()
        await task
        return [len(everyone), task in everyone, here in everyone, len(asyncio.all_tasks()), task.get_name() == "waits"]

    assert Driver(introspects).to_the_end() == [2, True, True, 1, True]


def test_the_loop_tells_the_run_s_time() -> None:
    @workflow
    async def times() -> list[float]:
        loop = asyncio.get_running_loop()
        before = loop.time() - flowpy.now().timestamp()
        future = loop.create_future()
        loop.call_later(2, future.set_result, None)
        loop.call_at(loop.time() + 1, lambda: None)
        await future
        return [before, loop.time() - flowpy.info().started_at.timestamp()]  # type: ignore[union-attr]

    assert Driver(times).to_the_end() == [0.0, 2.0]


def test_an_error_in_a_callback_fails_the_run() -> None:
    @workflow
    async def calls() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)

    assert Driver(calls).decide() == ["FailWorkflowExecution ZeroDivisionError"]


def test_calls_outside_of_tasks_are_refused() -> None:
    @workflow
    async def calls() -> str:
        refused: list[str] = []

        def back(_done: Any) -> None:
            try:
                work()
            except flowpy.NotInTask as error:
                refused.append(str(error))

        promise = flowpy.sleep(1)
        promise.add_done_callback(back)
        await promise
        await asyncio.sleep(0)
        return refused[0]

    assert "await it in a task" in Driver(calls).to_the_end()

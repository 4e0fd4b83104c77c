"""Law L6: cancelling activities, children and tasks, in the three modes of ``on_cancel``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import flowpy
from flowpy import Retry, Signal, activity, workflow

from .driver import Driver

STOP = Signal("stop")


@activity
def work(name: str = "") -> int: ...


@activity(retry=Retry(attempts=3, initial="10s", jitter=0))
def retried() -> int: ...


@workflow
async def child() -> int:
    return await work()


CALLS = {"activity": work, "child": child}
REQUEST = {
    "activity": "RequestCancelActivityTask work-1",
    "child": "RequestCancelExternalWorkflowExecution child-1.cancel",
}


@workflow
async def stops(kind: str, mode: str) -> str:
    promise = CALLS[kind].options(on_cancel=mode)()  # type: ignore[attr-defined]
    await STOP.receive()
    promise.cancel()
    try:
        await promise
    except asyncio.CancelledError:
        await work("after")
        return "cancelled"
    return "not cancelled"


def begun(kind: str, mode: str) -> Driver:
    run = Driver(stops, kind, mode, uses=(work, child))
    run.decide()
    run.decide()
    run.take()
    run.signal("stop")
    return run


def end(run: Driver, kind: str, how: str) -> None:
    """The cancelled work ends."""
    if kind == "activity":
        run.acknowledge("work-1") if how == "cancelled" else run.complete("work-1", 5)
        return
    if how == "cancelled":
        run.close_child("CancelWorkflowExecution")
    else:
        run.close_child("CompleteWorkflowExecution", result="5")


def soon(run: Driver) -> list[str]:
    """The next decisions there are; some events only tell of what happened on the way."""
    return next(filter(None, (run.decide() for _ in range(4))), [])


AFTER = {"activity": "ScheduleActivityTask work-2", "child": "ScheduleActivityTask work-1"}


@pytest.mark.parametrize("how", ["cancelled", "completed"])
@pytest.mark.parametrize("kind", CALLS)
def test_try_goes_on_at_once_and_the_run_waits_for_the_end(kind: str, how: str) -> None:
    run = begun(kind, "try")
    assert run.decide() == [REQUEST[kind], AFTER[kind]]
    run.complete(AFTER[kind].split()[1], 1)
    assert run.decide() == []
    end(run, kind, how)
    assert (soon(run)) == ['CompleteWorkflowExecution "cancelled"']
    assert run.finished() == "cancelled"


@pytest.mark.parametrize("kind", CALLS)
def test_wait_goes_on_when_the_cancellation_is_acknowledged(kind: str) -> None:
    run = begun(kind, "wait")
    assert run.decide() == [REQUEST[kind]]
    end(run, kind, "cancelled")
    decided = soon(run)
    assert decided == [AFTER[kind]]
    run.complete(AFTER[kind].split()[1], 1)
    run.decide()
    assert run.finished() == "cancelled"


@pytest.mark.parametrize("kind", CALLS)
def test_wait_keeps_the_result_of_what_ended_all_the_same(kind: str) -> None:
    run = begun(kind, "wait")
    run.decide()
    end(run, kind, "completed")
    decided = soon(run)
    assert decided == ['CompleteWorkflowExecution "not cancelled"']
    run.finished()


@pytest.mark.parametrize("kind", CALLS)
def test_abandon_asks_nothing_and_waits_for_nothing(kind: str) -> None:
    run = begun(kind, "abandon")
    assert run.decide() == [AFTER[kind]]
    run.complete(AFTER[kind].split()[1], 1)
    assert run.decide() == ['CompleteWorkflowExecution "cancelled"']
    run.finished()


@workflow
async def cancelled_in_a_task(mode: str) -> list[str]:
    seen: list[str] = []

    async def inner() -> None:
        seen.append(f"got {await work.options(on_cancel=mode)()}")
        try:
            await asyncio.sleep(0)
            seen.append("went on")
        except asyncio.CancelledError:
            seen.append("cancelled at the next await")
            raise

    task = asyncio.create_task(inner())
    await STOP.receive()
    task.cancel()
    await asyncio.wait([task])
    return [*seen, "cancelled" if task.cancelled() else "ended"]


def test_a_task_that_waited_for_the_end_is_cancelled_at_its_next_await() -> None:
    run = Driver(cancelled_in_a_task, "wait", uses=(work,))
    run.decide()
    run.take()
    run.signal("stop")
    assert run.decide() == ["RequestCancelActivityTask t1.work-1"]
    run.complete("t1.work-1", 5)
    assert run.decide() == ['CompleteWorkflowExecution ["got 5", "cancelled at the next await", "cancelled"]']
    run.finished()


@workflow
async def twice() -> str:
    promise = work()
    await STOP.receive()
    assert promise.cancel()
    assert not promise.cancel()
    await STOP.receive()
    promise.cancel()
    return "done"


def test_cancelling_twice_asks_once() -> None:
    run = Driver(twice, uses=(work,))
    run.decide()
    run.take()
    run.signal("stop")
    assert run.decide() == ["RequestCancelActivityTask work-1"]
    run.signal("stop")
    assert run.decide() == []
    run.acknowledge("work-1")
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    run.finished()


@workflow
async def unsent() -> str:
    promise, timer, kid = work(), flowpy.sleep(5), child()
    for each in (promise, timer, kid):
        each.cancel()
    return f"{promise.cancelled()} {timer.cancelled()} {kid.cancelled()}"


def test_what_is_cancelled_before_it_is_sent_never_was() -> None:
    run = Driver(unsent, uses=(work, child))
    assert run.decide() == ['CompleteWorkflowExecution "True True True"']
    run.finished()


@workflow
async def retries() -> str:
    promise = retried()
    await STOP.receive()
    promise.cancel()
    return f"{promise.cancelled()}"


def test_a_cancel_in_back_off_cancels_the_timer_and_no_attempt_follows() -> None:
    run = Driver(retries, uses=(retried,))
    run.decide()
    run.fail("retried-1")
    assert run.decide() == ["StartTimer retried-1.w2 10"]
    run.signal("stop")
    assert run.decide() == ["CancelTimer retried-1.w2", 'CompleteWorkflowExecution "True"']
    run.finished()


def test_a_cancel_in_an_attempt_cancels_that_attempt() -> None:
    run = Driver(retries, uses=(retried,))
    run.decide()
    run.fail("retried-1")
    run.decide()
    run.advance(10)
    assert run.decide() == ["ScheduleActivityTask retried-1.r2"]
    run.take()
    run.signal("stop")
    assert run.decide() == ["RequestCancelActivityTask retried-1.r2"]
    run.fail("retried-1.r2")
    assert run.decide() == ['CompleteWorkflowExecution "True"']
    run.finished()


@workflow
async def cancellable() -> str:
    try:
        await work()
    except asyncio.CancelledError:
        await flowpy.shield(work("clean up"))
        raise
    return "done"


def test_the_run_s_cancel_reaches_the_main_task_once() -> None:
    run = Driver(cancellable, uses=(work,))
    run.decide()
    run.take()
    run.cancel()
    assert run.decide() == ["RequestCancelActivityTask work-1", "ScheduleActivityTask work-2"]
    run.cancel()
    assert run.decide() == []
    run.acknowledge("work-1")
    run.complete("work-2", 1)
    assert run.decide() == ["CancelWorkflowExecution"]


def test_a_shield_outlives_the_function_s_failure() -> None:
    @workflow
    async def fails() -> None:
        async def clean_up() -> None:
            await work("first")
            await work("second")

        flowpy.shield(clean_up())
        unshielded = work("third")
        await asyncio.sleep(5)
        unshielded.add_done_callback(lambda _: None)
        raise ValueError

    run = Driver(fails, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask work-1", "StartTimer timer-1 5", "ScheduleActivityTask t1.work-1"]
    run.take()
    run.advance(5)
    assert run.decide() == ["RequestCancelActivityTask work-1"]
    run.acknowledge("work-1")
    run.complete("t1.work-1", 1)
    assert run.decide() == ["ScheduleActivityTask t1.work-2"]
    run.complete("t1.work-2", 1)
    assert run.decide() == ["FailWorkflowExecution ValueError"]


def test_cancelling_the_wait_for_a_shield_leaves_it_alone() -> None:
    @workflow
    async def limits() -> str:
        promise = flowpy.shield(work())
        try:
            async with asyncio.timeout(5):
                await promise
        except TimeoutError:
            return "late"
        return "in time"

    run = Driver(limits, uses=(work,))
    run.decide()
    run.advance(5)
    assert run.decide() == []
    run.complete("work-1", 1)
    assert run.decide() == ['CompleteWorkflowExecution "late"']
    run.finished()


def test_a_run_waits_for_what_it_spawned_unless_detached() -> None:
    @workflow
    async def leaves() -> str:
        work("kept")
        work("detached").detach()
        asyncio.create_task(_sleeping()).detach()  # type: ignore[attr-defined]
        asyncio.create_task(_sleeping())
        return "done"

    run = Driver(leaves, uses=(work,))
    assert len(run.decide()) == 4
    run.complete("work-1", 1)
    assert run.decide() == []
    run.advance(100)
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    run.finished()


def test_a_run_does_not_wait_for_the_next_attempts_of_what_it_detached() -> None:
    @workflow
    async def leaves() -> str:
        retried().detach()
        await STOP.receive()
        return "done"

    run = Driver(leaves, uses=(retried,))
    run.decide()
    run.fail("retried-1")
    assert run.decide() == ["StartTimer retried-1.w2 10"]
    run.advance(10)
    assert run.decide() == ["ScheduleActivityTask retried-1.r2"]
    run.signal("stop")
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    run.finished()


def test_a_run_waits_for_the_next_attempts_of_what_it_kept() -> None:
    @workflow
    async def leaves() -> str:
        retried()
        return "done"

    run = Driver(leaves, uses=(retried,))
    run.decide()
    run.fail("retried-1")
    assert run.decide() == ["StartTimer retried-1.w2 10"]
    run.advance(10)
    run.decide()
    run.complete("retried-1.r2", 1)
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    run.finished()


async def _sleeping() -> None:
    await asyncio.sleep(100)


@pytest.mark.parametrize(
    ("look", "close"),
    [
        ("nobody", "FailWorkflowExecution ActivityFailed"),
        ("detached", 'CompleteWorkflowExecution "done"'),
        ("awaited", 'CompleteWorkflowExecution "done"'),
        ("called back", 'CompleteWorkflowExecution "done"'),
    ],
)
def test_a_failed_promise_that_nobody_observed_fails_the_run(look: str, close: str) -> None:
    @workflow
    async def ignores(look: str) -> str:
        promise = work()
        if look == "detached":
            promise.detach()
        if look == "called back":
            promise.add_done_callback(lambda _: None)
        await STOP.receive()
        if look == "awaited":
            await asyncio.wait([promise])
        return "done"

    run = Driver(ignores, look, uses=(work,))
    run.decide()
    run.fail("work-1")
    run.signal("stop")
    assert run.decide() == [close]


def test_a_failed_task_that_nobody_observed_fails_the_run() -> None:
    @workflow
    async def ignores() -> str:
        async def fails() -> None:
            raise KeyError("x")

        asyncio.create_task(fails())
        await asyncio.sleep(1)
        return "done"

    run = Driver(ignores)
    run.decide()
    run.advance(1)
    assert run.decide() == ["FailWorkflowExecution KeyError"]


def test_an_error_leaving_a_handler_fails_the_run_at_once() -> None:
    @workflow
    async def handles() -> None:
        @STOP.handler
        async def stop(_value: Any) -> None:
            raise KeyError("x")

        await work()

    run = Driver(handles, uses=(work,))
    run.decide()
    run.take()
    run.signal("stop")
    assert run.decide() == ["RequestCancelActivityTask work-1"]
    run.acknowledge("work-1")
    assert run.decide() == ["FailWorkflowExecution KeyError"]

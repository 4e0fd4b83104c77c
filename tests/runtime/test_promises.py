"""Promises as arguments and results, ``all_of`` and ``any_of``, in async and in plain code."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import flowpy
from flowpy import Signal, activity, asynchronous, workflow
from flowpy.testing import Environment

from .driver import Driver

GO = Signal("go")


@activity
def work(value: Any = None) -> int: ...


@activity
def merge(parts: list[int], by_name: dict[str, int]) -> int: ...


@asynchronous
async def passes_on(value: int) -> int:
    return value


@workflow
async def child(value: int = 0) -> int: ...


@workflow
async def merges() -> int:
    first, second = work("a"), work("b")
    return await merge([first, second], {"first": first})


@workflow
def merges_plainly() -> int:
    first, second = work("a"), work("b")
    return merge([first, second], {"first": first}).result()


@pytest.mark.parametrize("merging", [merges, merges_plainly])
def test_a_call_waits_for_the_promises_among_its_arguments(merging: Any) -> None:
    run = Driver(merging, uses=(work, merge))
    assert run.decide() == ["ScheduleActivityTask work-1", "ScheduleActivityTask work-2"]
    run.complete("work-2", 2)
    assert run.decide() == []
    run.complete("work-1", 1)
    assert run.decide() == ["ScheduleActivityTask merge-1"]
    assert run.last("ActivityTaskScheduled")["input"] == '[[1, 2], {"first": 1}]'
    run.complete("merge-1", 3)
    assert run.decide() == ["CompleteWorkflowExecution 3"]
    run.finished()


def test_a_deferred_call_keeps_the_number_of_its_call() -> None:
    @workflow
    async def defers() -> int:
        first = work("a")
        second, third = work(first), work("c")
        return await first + await second + await third

    run = Driver(defers, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask work-1", "ScheduleActivityTask work-3"]
    run.complete("work-1", 1)
    assert run.decide() == ["ScheduleActivityTask work-2"]
    run.complete("work-3", 3)
    run.complete("work-2", 2)
    assert run.decide() == ["CompleteWorkflowExecution 6"]
    run.finished()


CALLS: dict[str, Any] = {
    "activity": work,
    "child": child,
    "signal": lambda value: flowpy.external("other").signal("go", value),
    "lambda": flowpy.lambda_function("resize"),
    "asynchronous": passes_on,
}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("wrapped", [False, True], ids=["promise", "any_of"])
def test_a_failed_argument_is_the_call_s_failure_and_nothing_is_sent(kind: str, wrapped: bool) -> None:
    @workflow
    async def defers(kind: str, wrapped: bool) -> str:
        first = work("a")
        call = CALLS[kind](flowpy.any_of(first) if wrapped else first)
        try:
            await call
        except flowpy.ActivityFailed:
            return "failed"
        return "went on"

    run = Driver(defers, kind, wrapped, uses=(work, child))
    run.decide()
    run.fail("work-1")
    assert run.decide() == ['CompleteWorkflowExecution "failed"']
    run.finished()


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("wrapped", [False, True], ids=["promise", "any_of"])
def test_a_cancelled_argument_cancels_the_call(kind: str, wrapped: bool) -> None:
    @workflow
    async def defers(kind: str, wrapped: bool) -> str:
        first = flowpy.sleep(5)
        call = CALLS[kind](flowpy.any_of(first) if wrapped else first)
        await GO.receive()
        first.cancel()
        try:
            await call
        except asyncio.CancelledError:
            return f"cancelled {call.cancelled()}"
        return "went on"

    run = Driver(defers, kind, wrapped, uses=(work, child))
    run.decide()
    run.signal("go")
    assert run.decide() == ["CancelTimer timer-1", 'CompleteWorkflowExecution "cancelled True"']
    run.finished()


def test_a_deferred_call_that_is_cancelled_is_never_sent() -> None:
    @workflow
    async def defers() -> str:
        first = work("a")
        second = work(first)
        second.cancel()
        await first
        await asyncio.sleep(0)
        return f"{second.cancelled()}"

    run = Driver(defers, uses=(work,))
    run.decide()
    run.complete("work-1", 1)
    assert run.decide() == ['CompleteWorkflowExecution "True"']
    run.finished()


def test_a_deferred_argument_that_does_not_fit_fails_the_promise() -> None:
    @workflow
    async def defers() -> str:
        first = passes_on(object())  # type: ignore[arg-type]
        try:
            await work(first)
        except flowpy.PayloadError:
            return "does not fit"
        return "went on"

    run = Driver(defers, uses=(work,))
    assert run.decide() == ['CompleteWorkflowExecution "does not fit"']
    run.finished()


def test_promises_returned_are_waited_for_and_replaced() -> None:
    @asynchronous
    async def starts() -> Any:
        return {"later": work("b")}

    @workflow
    async def returns() -> Any:
        return [work("a"), (starts(),)]

    run = Driver(returns, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask work-1", "ScheduleActivityTask t1.work-1"]
    run.complete("work-1", 1)
    run.complete("t1.work-1", 2)
    assert run.decide() == ['CompleteWorkflowExecution [1, [{"later": 2}]]']
    run.finished()


def test_all_of_fails_with_the_first_failure_and_any_of_gives_the_first_to_end() -> None:
    @workflow
    async def joins() -> list[Any]:
        first, second, third = work("a"), work("b"), work("c")
        fastest = await flowpy.any_of(first, second, third)
        try:
            await flowpy.all_of([first, second, third])
        except flowpy.ActivityFailed as error:
            return [fastest is second, error.id]
        return []

    run = Driver(joins, uses=(work,))
    run.decide()
    run.complete("work-2", 1)
    run.decide()
    run.fail("work-3")
    assert run.decide() == []
    run.complete("work-1", 1)
    assert run.decide() == ['CompleteWorkflowExecution [true, "work-3"]']
    run.finished()


def test_async_code_is_told_to_await() -> None:
    @workflow
    async def forgets() -> str:
        promise = work("a")
        try:
            promise.result()
        except flowpy.AwaitNeeded as error:
            promise.cancel()
            return str(error)
        return ""

    assert "await" in Driver(forgets, uses=(work,)).to_the_end()


def test_what_is_done_with_a_promise_instead_of_its_value_names_a_promise(swf: Environment) -> None:
    @workflow
    async def adds() -> object:
        return work("a") + 1  # type: ignore[operator]

    @workflow
    async def iterates() -> object:
        return [*work("a")]  # type: ignore[misc]

    with pytest.raises(flowpy.WorkflowFailed, match="'ActivityPromise' and 'int'"):
        swf.run(adds)
    with pytest.raises(flowpy.WorkflowFailed, match="Await it before it is iterated over"):
        swf.run(iterates)


@workflow
async def joins(which: str) -> None:
    coroutine = asyncio.sleep(1)
    try:
        match which:
            case "all_of numbers":
                await flowpy.all_of([1, 2])
            case "all_of coroutine":
                await flowpy.all_of(work(), coroutine)
            case "any_of activity":
                await flowpy.any_of(work)
            case _:
                await flowpy.shield(work)
    finally:
        coroutine.close()


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("all_of numbers", "flowpy.all_of joins promises and tasks, not 1: give what a call returned"),
        ("all_of coroutine", "make a task of sleep() with create_task"),
        ("any_of activity", "flowpy.any_of joins promises and tasks, not <activity"),
        ("shield activity", "flowpy.shield protects a coroutine or a promise, not <activity"),
    ],
)
def test_what_is_no_promise_is_told_apart(which: str, said: str) -> None:
    run = Driver(joins, which, uses=(work,))

    run.decide()

    assert said in run.last("WorkflowExecutionFailed")["reason"]


@workflow
async def joins_what_gather_made() -> list[Any]:
    return await flowpy.all_of(asyncio.gather(work("a"), work("b")), work("c"))


def test_what_gather_made_is_joined_and_fails_like_a_promise() -> None:
    run = Driver(joins_what_gather_made, uses=(work,))
    run.decide()
    run.complete("work-1", 1)
    run.complete("work-2", 2)
    run.complete("work-3", 3)
    assert run.decide() == ["CompleteWorkflowExecution [[1, 2], 3]"]

    run = Driver(joins_what_gather_made, uses=(work,))
    run.decide()
    run.fail("work-2", "broken")
    run.complete("work-1", 1)
    run.complete("work-3", 3)
    run.decide()

    assert run.last("WorkflowExecutionFailed")["reason"].startswith("ActivityFailed: activity work (work-2) failed")

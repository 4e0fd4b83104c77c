"""Tasks, groups, shields and joins when one of several fails, is cancelled, or ends too late."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import asynchronous, workflow

from .declared import ship, slow, step, stop, tidy
from .played import Case, play, table


async def clean() -> None:
    await tidy(1)
    await tidy(2)


@workflow
async def grouping() -> int:
    async def child() -> None:
        await ship.options(workflow_id="c")()

    async def each(promise: Any) -> None:
        await promise()

    failed = 0
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(each(slow))
            group.create_task(child())
            group.create_task(each(lambda: flowpy.sleep(9)))
            group.create_task(each(step))
    except* flowpy.ActivityFailed as errors:
        failed = len(errors.exceptions)
    return failed


@workflow
async def locking() -> list[bool]:
    lock = asyncio.Lock()

    async def one(n: int) -> None:
        async with lock:
            await step(n)

    tasks = [asyncio.create_task(one(n)) for n in range(3)]
    await stop.receive()
    tasks[0].cancel()
    tasks[1].cancel()
    await asyncio.wait(tasks)
    return [task.cancelled() for task in tasks]


@workflow
async def gathering() -> list[Any]:
    return await asyncio.gather(ship.options(workflow_id="a")(), ship.options(workflow_id="b")())


@table(
    (
        grouping,
        """
        > ScheduleActivityTask t1.slow-1 | StartChildWorkflowExecution c | StartTimer t3.timer-1 9 \
            | ScheduleActivityTask t4.step-1
        fails t4.step-1
        > RequestCancelActivityTask t1.slow-1 | RequestCancelExternalWorkflowExecution t2.ship-1.cancel to c \
            | CancelTimer t3.timer-1
        canceled t1.slow-1
        child_ends c Canceled
        > CompleteWorkflowExecution 1
        """,
    ),
    (
        locking,
        """
        > ScheduleActivityTask t1.step-1
        signaled stop
        > RequestCancelActivityTask t1.step-1 | ScheduleActivityTask t3.step-1
        completes t3.step-1
        canceled t1.step-1
        > CompleteWorkflowExecution [true, true, false]
        """,
    ),
    (
        gathering,
        """
        > StartChildWorkflowExecution a | StartChildWorkflowExecution b
        child_ends a Terminated
        > RequestCancelExternalWorkflowExecution ship-2.cancel to b
        passed_on ship-2.cancel
        child_ends b Completed
        > FailWorkflowExecution ChildTerminated: child workflow ship (a) was terminated
        """,
    ),
)
def test_one_of_several_that_ends_cancels_the_others_in_order_of_creation(case: Case) -> None:
    play(case)


@workflow
async def limited() -> str:
    try:
        async with asyncio.timeout(10):
            await flowpy.shield(clean())
    except TimeoutError:
        return "late"
    return ""


@workflow
async def leaving() -> None:
    try:
        await step()
    finally:
        await flowpy.shield(clean())


@workflow
async def holding_on() -> list[Any]:
    promise = step()
    try:
        return [await flowpy.shield(promise)]
    except asyncio.CancelledError:
        return ["cancelled", await promise]


@table(
    (
        limited,
        """
        > StartTimer timer-1 10 | ScheduleActivityTask t1.tidy-1
        fires timer-1
        >
        completes t1.tidy-1
        > ScheduleActivityTask t1.tidy-2
        completes t1.tidy-2
        > CompleteWorkflowExecution "late"
        """,
    ),
    (
        leaving,
        """
        > ScheduleActivityTask step-1
        fails step-1
        > ScheduleActivityTask t1.tidy-1
        cancel_requested
        completes t1.tidy-1
        > ScheduleActivityTask t1.tidy-2
        completes t1.tidy-2
        > CancelWorkflowExecution
        """,
    ),
    (
        holding_on,
        """
        > ScheduleActivityTask step-1
        cancel_requested
        >
        completes step-1 7
        > CompleteWorkflowExecution ["cancelled", 7]
        """,
    ),
)
def test_shield_keeps_what_it_holds_from_every_cancellation(case: Case) -> None:
    play(case)


@workflow
async def joining() -> Any:
    @asynchronous
    def join(a: Any, b: Any) -> Any:
        return [a, step(b).result()]

    try:
        return await join(step(1), step(2))
    except flowpy.ActivityFailed:
        return "failed"


@workflow
async def passing_on() -> int:
    first, second = step(1), step(2)
    other = flowpy.external("other")
    await asyncio.gather(other.signal("go", first), other.signal("go", [second]))
    return 1


@table(
    (
        joining,
        """
        > ScheduleActivityTask step-1 | ScheduleActivityTask step-2
        completes step-2 5
        completes step-1 4
        > ScheduleActivityTask t1.step-1
        completes t1.step-1 6
        > CompleteWorkflowExecution [4, 6]
        """,
    ),
    (
        joining,
        """
        > ScheduleActivityTask step-1 | ScheduleActivityTask step-2
        fails step-1
        >
        completes step-2
        > CompleteWorkflowExecution "failed"
        """,
    ),
    (
        passing_on,
        """
        > ScheduleActivityTask step-1 | ScheduleActivityTask step-2
        completes step-2 2
        > SignalExternalWorkflowExecution signal-2 to other
        completes step-1 1
        passed_on signal-2
        > SignalExternalWorkflowExecution signal-1 to other
        passed_on signal-1
        > CompleteWorkflowExecution 1
        """,
    ),
)
def test_what_waits_for_its_arguments_keeps_its_number(case: Case) -> None:
    play(case)

"""Two things that happen at once: which one counts, and what is then not asked for any more."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import workflow

from .declared import flaky, item, ship, slow, step, stop, stubborn, tidy
from .played import Case, play, table


@workflow
async def sleeping() -> str:
    try:
        await flowpy.sleep(10)
        await flowpy.sleep(20)
    except asyncio.CancelledError:
        return "cancelled"
    return "slept"


@workflow
async def working() -> Any:
    try:
        return [await step(), await tidy()]
    except asyncio.CancelledError:
        return "cancelled"


@workflow
async def cleaning() -> None:
    try:
        await step()
    except asyncio.CancelledError:
        await tidy()
        await tidy()
        raise


@workflow
async def starting() -> None:
    child = ship()
    flowpy.external("other").signal("go")
    try:
        await child
    finally:
        await tidy()


@table(
    (
        sleeping,
        """
        > StartTimer timer-1 10
        fires timer-1
        cancel_requested
        > CompleteWorkflowExecution "cancelled"
        """,
    ),
    (
        sleeping,
        """
        > StartTimer timer-1 10
        cancel_requested
        fires timer-1
        > CompleteWorkflowExecution "cancelled"
        """,
    ),
    (
        working,
        """
        > ScheduleActivityTask step-1
        cancel_requested
        completes step-1
        > CompleteWorkflowExecution "cancelled"
        """,
    ),
    (
        working,
        """
        > ScheduleActivityTask step-1
        completes step-1
        begin
        cancel_requested
        > ScheduleActivityTask tidy-1
        completes tidy-1 2
        > CompleteWorkflowExecution "cancelled"
        """,
    ),
    (
        cleaning,
        """
        > ScheduleActivityTask step-1
        cancel_requested
        cancel_requested
        > RequestCancelActivityTask step-1 | ScheduleActivityTask tidy-1
        canceled step-1
        cancel_requested
        completes tidy-1
        > ScheduleActivityTask tidy-2
        completes tidy-2
        begin
        cancel_requested
        > CancelWorkflowExecution
        > CancelWorkflowExecution
        """,
    ),
    (
        starting,
        """
        cancel_requested
        > SignalExternalWorkflowExecution signal-1 to other | ScheduleActivityTask tidy-1
        completes tidy-1
        > CancelWorkflowExecution
        """,
    ),
)
def test_cancel_of_the_run_and_what_it_waits_for(case: Case) -> None:
    play(case)


@workflow
async def retrying() -> None:
    await flaky()


BACK_OFF = """
    > ScheduleActivityTask flaky-1
    fails flaky-1
    > StartTimer flaky-1.w2 10
"""


@table(
    (retrying, f"{BACK_OFF}\n cancel_requested\n > CancelTimer flaky-1.w2 | CancelWorkflowExecution"),
    (retrying, f"{BACK_OFF}\n cancel_requested\n fires flaky-1.w2\n > CancelWorkflowExecution"),
    (retrying, f"{BACK_OFF}\n fires flaky-1.w2\n cancel_requested\n > CancelWorkflowExecution"),
    (
        retrying,
        f"""
        {BACK_OFF}
        cancel_requested
        begin
        fires flaky-1.w2
        > CancelTimer flaky-1.w2 | CancelWorkflowExecution
        > CancelWorkflowExecution
        """,
    ),
    (retrying, "> ScheduleActivityTask flaky-1\n fails flaky-1\n cancel_requested\n > CancelWorkflowExecution"),
    (retrying, "> ScheduleActivityTask flaky-1\n cancel_requested\n fails flaky-1\n > CancelWorkflowExecution"),
    (
        retrying,
        """
        > ScheduleActivityTask flaky-1
        cancel_requested
        > RequestCancelActivityTask flaky-1
        fails flaky-1
        > CancelWorkflowExecution
        """,
    ),
)
def test_cancel_of_the_run_at_every_point_of_a_retry(case: Case) -> None:
    play(case)


@workflow
async def waiting() -> Any:
    promise = slow()
    await stop.receive()
    promise.cancel()
    return await promise


@workflow
async def insisting() -> Any:
    promise = stubborn()
    await stop.receive()
    promise.cancel()
    try:
        return await promise
    except flowpy.ActivityFailed as error:
        return error.reason


@workflow
async def resetting() -> str:
    timer = flowpy.sleep(10, timer_id="grace")
    await stop.receive()
    timer.cancel()
    try:
        await flowpy.sleep(30, timer_id="grace")
    except flowpy.TimerStartFailed as error:
        return error.cause
    return "late"


@table(
    (
        waiting,
        """
        > ScheduleActivityTask slow-1
        signaled stop
        begin
        completes slow-1 "X"
        > RequestCancelActivityTask slow-1
        > CompleteWorkflowExecution "X"
        """,
    ),
    (
        waiting,
        """
        > ScheduleActivityTask slow-1
        signaled stop
        > RequestCancelActivityTask slow-1 !! slow-1 OPERATION_NOT_PERMITTED
        >
        completes slow-1 5
        > CompleteWorkflowExecution 5
        """,
    ),
    (
        insisting,
        """
        > ScheduleActivityTask stubborn-1
        signaled stop
        begin
        fails stubborn-1
        > RequestCancelActivityTask stubborn-1
        > CompleteWorkflowExecution "ValueError: no"
        """,
    ),
    (
        resetting,
        """
        > StartTimer grace 10
        signaled stop
        begin
        fires grace
        > CancelTimer grace | StartTimer grace 30
        >
        fires grace
        > CompleteWorkflowExecution "late"
        """,
    ),
    (
        resetting,
        """
        > StartTimer grace 10
        signaled stop
        > CancelTimer grace | StartTimer grace 30 !! grace TIMER_ID_ALREADY_IN_USE
        > CompleteWorkflowExecution "TIMER_ID_ALREADY_IN_USE"
        """,
    ),
)
def test_cancel_that_comes_too_late_or_is_refused(case: Case) -> None:
    play(case)


@workflow
async def dispatching() -> Any:
    child = ship.options(workflow_id="c")()
    await stop.receive()
    child.cancel()
    try:
        return await child
    except asyncio.CancelledError:
        return "stopped"


STARTED = """
    > StartChildWorkflowExecution c
    child_starts c
    >
"""


@table(
    (dispatching, f'{STARTED}\n signaled stop\n child_completes c 1\n > CompleteWorkflowExecution "stopped"'),
    (dispatching, f"{STARTED}\n child_completes c 1\n signaled stop\n > CompleteWorkflowExecution 1"),
    (
        dispatching,
        f"""
        {STARTED}
        signaled stop
        > RequestCancelExternalWorkflowExecution ship-1.cancel to c
        not_passed_on ship-1.cancel REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED
        >
        child_completes c 1
        > CompleteWorkflowExecution "stopped"
        """,
    ),
    (
        dispatching,
        f"""
        {STARTED}
        signaled stop
        begin
        child_completes c 1
        > RequestCancelExternalWorkflowExecution ship-1.cancel to c
        not_passed_on ship-1.cancel
        > CompleteWorkflowExecution "stopped"
        """,
    ),
)
def test_cancel_of_a_child_and_its_end(case: Case) -> None:
    play(case)


@workflow
async def expecting() -> Any:
    try:
        return await item.receive(timeout=10)
    except TimeoutError:
        return ["late", await item.receive()]


@workflow
async def choosing() -> str:
    left = {"activity": step(), "timer": flowpy.sleep(5), "signal": item.receive()}
    seen = []
    while left:
        first = await flowpy.any_of(left.values())
        seen.append(next(name for name, promise in left.items() if promise is first))
        del left[seen[-1]]
    return " ".join(seen)


@table(
    (expecting, "> StartTimer timer-1 10\n signaled item 1\n fires timer-1\n > CompleteWorkflowExecution 1"),
    (expecting, '> StartTimer timer-1 10\n fires timer-1\n signaled item 1\n > CompleteWorkflowExecution ["late", 1]'),
    (
        expecting,
        """
        > StartTimer timer-1 10
        signaled item 1
        begin
        fires timer-1
        > CancelTimer timer-1 | CompleteWorkflowExecution 1
        > CompleteWorkflowExecution 1
        """,
    ),
    (
        choosing,
        """
        > ScheduleActivityTask step-1 | StartTimer timer-1 5
        signaled item
        fires timer-1
        completes step-1
        > CompleteWorkflowExecution "signal timer activity"
        """,
    ),
    (
        choosing,
        """
        > ScheduleActivityTask step-1 | StartTimer timer-1 5
        completes step-1
        begin
        fires timer-1
        >
        signaled item
        > CompleteWorkflowExecution "activity timer signal"
        """,
    ),
)
def test_signal_timer_and_completion_of_one_decision_task(case: Case) -> None:
    play(case)

"""Cancellation of runs, activities and children (rows X*)."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

import flowpy
from flowpy import activity, workflow
from flowpy.testing import replay

from .build import Run

stop = flowpy.Signal("stop")


@activity
def step(name: str = "") -> str: ...


@activity
def report(names: list) -> str: ...


@activity(name="cleanup")
def tidy() -> str: ...


@workflow
async def ship(order_id: str) -> str: ...


def test_x01_code_runs_to_its_first_await_before_an_early_cancel_reaches_it() -> None:
    @workflow
    async def cautious() -> None:
        try:
            await stop.receive()
        finally:
            await tidy()

    run = Run(cautious)
    run.cancel_requested()
    assert run.decide() == ["ScheduleActivityTask cleanup-1"]
    run.completes("cleanup-1")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_x02_result_that_comes_with_the_cancel_is_kept_and_the_cancel_is_not_lost() -> None:
    @workflow
    async def looping() -> None:
        done = []
        try:
            while True:
                done.append(await step())
        except asyncio.CancelledError:
            await report(done)
            raise

    run = Run(looping)
    run.decide()
    run.completes("step-1", "one")
    run.cancel_requested()
    (decision,) = run.offered()
    assert decision["scheduleActivityTaskDecisionAttributes"]["input"] == '[["one"]]'
    assert run.decide() == ["ScheduleActivityTask report-1"]
    run.completes("report-1")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_x03_cancel_between_two_awaits_keeps_the_child_from_starting() -> None:
    @workflow
    async def then_ship() -> str:
        await step()
        return await ship("o")

    run = Run(then_ship)
    run.decide()
    run.completes("step-1")
    run.cancel_requested()
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_x04_cancel_while_a_child_is_starting_reaches_child_and_parent() -> None:
    @workflow
    async def shipping() -> str:
        return await ship.options(workflow_id="s")("o")

    run = Run(shipping)
    assert run.decide() == ["StartChildWorkflowExecution s"]
    run.cancel_requested()
    run.child_starts("s")
    assert run.decide() == ["RequestCancelExternalWorkflowExecution ship-1.cancel to s"]
    run.passed_on("ship-1.cancel")
    assert run.decide() == []
    run.child_ends("s", "Canceled")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_x06_code_that_spins_on_the_loop_is_an_error_not_a_hang() -> None:
    @workflow
    async def spinning() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)

    run = Run(spinning)
    run.begin()
    with pytest.raises(flowpy.WorkflowBlocked, match="spinning"):
        replay(spinning, run.events, **run.ids)


def test_x07_completion_after_the_cancel_only_ends_the_activity() -> None:
    @workflow
    async def hasty() -> str:
        work = step()
        await stop.receive()
        work.cancel()
        try:
            return await work
        except asyncio.CancelledError:
            return "canceled"

    run = Run(hasty)
    run.decide()
    run.signaled("stop")
    assert run.decide() == ["RequestCancelActivityTask step-1"]
    run.completes("step-1", "late")
    assert run.decide() == ['CompleteWorkflowExecution "canceled"']
    run.replays()


def test_x09_cancel_of_an_activity_nobody_took_frees_the_code_at_once() -> None:
    @workflow
    async def hasty() -> str:
        work = step()
        await stop.receive()
        work.cancel()
        await report([])
        return "gone on"

    run = Run(hasty)
    run.decide()
    run.signaled("stop")
    assert run.decide() == ["RequestCancelActivityTask step-1", "ScheduleActivityTask report-1"]
    scheduled = next(e["eventId"] for e in run.events if e["eventType"] == "ActivityTaskScheduled")
    run.event("ActivityTaskCanceled", scheduledEventId=scheduled, startedEventId=0)
    assert run.decide() == []
    run.completes("report-1")
    assert run.decide() == ['CompleteWorkflowExecution "gone on"']
    run.replays()


def test_x10_cancellation_nobody_asked_for_fails_the_run() -> None:
    @workflow
    async def quitting() -> None:
        raise asyncio.CancelledError

    run = Run(quitting)
    (close,) = run.decide()
    assert close.startswith("FailWorkflowExecution CancelledError")
    run.replays()


def test_x10_cancellation_asked_for_cancels_the_run() -> None:
    @workflow
    async def obeying() -> None:
        await stop.receive()

    run = Run(obeying)
    run.cancel_requested()
    assert run.decide() == ["CancelWorkflowExecution"]


def test_x12_cancel_during_a_decision_leads_to_one_close_that_is_last() -> None:
    @workflow
    async def working() -> None:
        await asyncio.gather(step("a"), step("b"))

    run = Run(working)
    run.begin()
    run.cancel_requested()
    run.decide()
    run.cancel_requested()
    assert run.decide() == ["RequestCancelActivityTask step-1", "RequestCancelActivityTask step-2"]
    run.canceled("step-2")
    assert run.decide() == []
    run.canceled("step-1")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_x15_cancel_request_without_attributes_is_an_ordinary_one() -> None:
    @workflow
    async def obeying() -> None:
        await stop.receive()

    run = Run(obeying)
    run.decide()
    run.event("WorkflowExecutionCancelRequested")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_x17_waiting_cancel_ends_with_the_acknowledgement_and_its_details() -> None:
    @workflow
    async def waiting() -> list:
        work = step.options(on_cancel="wait")()
        await stop.receive()
        work.cancel()
        try:
            await work
        except flowpy.WorkCanceled as error:
            return [error.details, error.id]
        return []

    run = Run(waiting)
    run.decide()
    run.signaled("stop")
    assert run.decide() == ["RequestCancelActivityTask step-1"]
    run.canceled("step-1", {"rows": 7})
    assert run.decide() == ['CompleteWorkflowExecution [{"rows": 7}, "step-1"]']
    run.replays()


def test_x17_waiting_cancel_keeps_a_result_that_comes_instead() -> None:
    @workflow
    async def waiting() -> list:
        work = asyncio.create_task(outcome())
        await stop.receive()
        work.cancel()
        return await work

    async def outcome() -> list:
        got = await step.options(on_cancel="wait")()
        try:
            await flowpy.sleep(60)
        except asyncio.CancelledError:
            return [got, "cancelled at the next await"]
        return [got]

    run = Run(waiting)
    assert run.decide() == ["ScheduleActivityTask t1.step-1"]
    run.signaled("stop")
    assert run.decide() == ["RequestCancelActivityTask t1.step-1"]
    run.completes("t1.step-1", "done")
    assert run.decide() == ['CompleteWorkflowExecution ["done", "cancelled at the next await"]']
    run.replays()

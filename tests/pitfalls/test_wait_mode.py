"""X17: a cancellation that waits for its acknowledgement, under asyncio's own timeouts, alike on every Python."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .build import Run


@activity(on_cancel="wait")
def job() -> str: ...


def test_x17_acknowledgement_under_a_timeout_is_that_timeout_with_the_details() -> None:
    @workflow
    async def limited() -> Any:
        try:
            async with asyncio.timeout(10):
                await job()
        except TimeoutError as late:
            acknowledged = late.__cause__
            return acknowledged.details if isinstance(acknowledged, flowpy.WorkCanceled) else "no acknowledgement"
        return "in time"

    run = Run(limited)
    run.decide()
    run.fires("timer-1")
    assert run.decide() == ["RequestCancelActivityTask job-1"]
    run.canceled("job-1", details={"done": 3})
    (closed,) = run.decide()
    assert closed.startswith("CompleteWorkflowExecution")
    assert "done" in closed
    run.replays()


def test_x17_outcome_that_comes_instead_of_the_acknowledgement_is_kept() -> None:
    @workflow
    async def limited() -> str:
        return await asyncio.wait_for(job(), 10)

    run = Run(limited)
    run.decide()
    run.fires("timer-1")
    assert run.decide() == ["RequestCancelActivityTask job-1"]
    run.completes("job-1", "made it")
    assert run.decide() == ['CompleteWorkflowExecution "made it"']
    run.replays()


def test_x02_cancelled_run_gets_the_outcome_first_and_the_cancellation_at_the_next_await() -> None:
    @workflow
    async def careful() -> None:
        kept.append(await job())
        try:
            await flowpy.sleep(60)
        except asyncio.CancelledError:
            kept.append("cancelled")
            raise

    kept: list[str] = []
    run = Run(careful)
    run.decide()
    run.cancel_requested()
    assert run.decide() == ["RequestCancelActivityTask job-1"]
    run.completes("job-1", "made it")
    kept.clear()
    assert run.decide() == ["CancelWorkflowExecution"]
    assert kept == ["made it", "cancelled"]
    run.replays()


def test_x17_cancelled_group_counts_the_acknowledgement_as_a_cancellation() -> None:
    @workflow
    async def group() -> str:
        try:
            async with asyncio.TaskGroup():
                await job()
        except asyncio.CancelledError:
            return "cancelled"
        return "done"

    run = Run(group)
    run.decide()
    run.cancel_requested()
    assert run.decide() == ["RequestCancelActivityTask job-1"]
    run.canceled("job-1")
    assert run.decide() == ['CompleteWorkflowExecution "cancelled"']
    run.replays()

"""Results that cannot be written, and promises taken for coroutines: errors that say what to do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import activity, workflow


@activity
def step() -> str: ...


@activity
def ship(order: Any) -> str: ...


def test_result_without_a_json_form_fails_the_run() -> None:
    @workflow
    async def opaque() -> object:
        return object()

    run = Run(opaque)
    (closed,) = run.decide()
    assert closed.startswith("FailWorkflowExecution PayloadNotEncodable")
    run.replays()


def test_result_that_is_too_long_holds_the_run() -> None:
    @workflow
    async def wordy() -> str:
        return "x" * 40_000

    run = Run(wordy)
    with pytest.raises(flowpy.PayloadTooLarge, match="result of workflow"):
        run.offered()


def test_promise_needs_no_task() -> None:
    @workflow
    async def eager() -> str:
        return await asyncio.create_task(step())  # type: ignore[arg-type]

    (closed,) = Run(eager).offered()
    failed = closed["failWorkflowExecutionDecisionAttributes"]
    assert failed["reason"].startswith("TypeError")
    assert "needs no task" in failed["details"]


def test_plain_code_waits_for_what_gather_made() -> None:
    @workflow
    def plainly() -> list[str]:
        return asyncio.gather(step(), step()).result()  # type: ignore[no-any-return]

    run = Run(plainly)
    assert run.decide() == ["ScheduleActivityTask step-1", "ScheduleActivityTask step-2"]
    run.completes("step-2", "b")
    run.completes("step-1", "a")
    assert run.decide() == ['CompleteWorkflowExecution ["a", "b"]']
    run.replays()


def test_async_code_is_told_to_await_what_gather_made() -> None:
    @workflow
    async def hasty() -> list[str]:
        return asyncio.gather(step(), step()).result()

    (closed,) = Run(hasty).offered()
    assert closed["failWorkflowExecutionDecisionAttributes"]["reason"].startswith("AwaitNeeded")


def test_reasons_hold_no_addresses_that_differ_from_process_to_process() -> None:
    async def helper() -> None: ...

    @workflow
    async def passing() -> str:
        coroutine = helper()
        try:
            return await ship(coroutine)
        finally:
            coroutine.close()

    (closed,) = Run(passing).offered()
    reason = closed["failWorkflowExecutionDecisionAttributes"]["reason"]
    assert reason.startswith("TypeError")
    assert "0x" not in reason

"""Results that cannot be written, and promises taken for coroutines: errors that say what to do."""

from __future__ import annotations

import asyncio

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import activity, workflow


@activity
def step() -> str: ...


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

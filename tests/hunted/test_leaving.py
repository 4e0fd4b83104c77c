"""Ways out of the workflow function, and code that goes on after it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from typing import Any

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import activity, workflow

stop = flowpy.Signal("stop")


@activity
def step(value: Any = "") -> str: ...


def test_continue_as_new_in_a_task_group_continues() -> None:
    @workflow
    async def paging(page: int) -> None:
        async with asyncio.TaskGroup():
            flowpy.continue_as_new(page + 1)

    run = Run(paging, 1)
    assert run.decide() == ["ContinueAsNewWorkflowExecution [2]"]
    run.replays()


def test_detached_task_is_closed_when_the_run_leaves_memory() -> None:
    closed = []

    @workflow
    async def leaving() -> None:
        async def background() -> None:
            try:
                await stop.receive()
            finally:
                closed.append(threading.current_thread().name)

        asyncio.create_task(background()).detach()  # type: ignore[attr-defined]
        await step()

    gc.disable()
    try:
        assert Run(leaving).decide() == ["ScheduleActivityTask step-1"]
        assert closed
    finally:
        gc.enable()
        gc.collect()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_finalizer_cannot_decide() -> None:
    class Careless:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            step("collected")

    @workflow
    async def littering() -> int:
        Careless()
        gc.collect()
        return 1

    run = Run(littering)
    assert run.decide() == ["CompleteWorkflowExecution 1"]


def test_other_thread_cannot_decide() -> None:
    @workflow
    async def threading_workflow() -> int:
        context = contextvars.copy_context()
        errors = []

        def meddle() -> None:
            try:
                context.run(step, "from a thread")
            except flowpy.FlowpyError as error:
                errors.append(error)

        thread = threading.Thread(target=meddle)
        thread.start()
        thread.join()
        return len(errors)

    run = Run(threading_workflow)
    assert run.decide() == ["CompleteWorkflowExecution 1"]

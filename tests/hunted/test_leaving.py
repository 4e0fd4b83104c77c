"""Ways out of the workflow function, and code that goes on after it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
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


_STUBBORN = """
import asyncio, sys, flowpy
from flowpy import activity, workflow
from tests.pitfalls.build import Run
item = flowpy.Signal("item")
@activity
def step(): ...
async def inner():
    await step()
{kind} stubborn():
    while True:
        try:
            {body}
        except BaseException:
            pass
Run(workflow(stubborn)).decide()
print("decided")
"""


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("async def", "await item.receive()"),
        ("async def", "await step()"),
        ("async def", "await asyncio.sleep(5)"),
        ("async def", "await asyncio.gather(step(), asyncio.create_task(inner()))"),
        ("def", "step().result()"),
        pytest.param(
            "async def",
            "async with asyncio.timeout(5): await step()",
        ),
        pytest.param(
            "async def",
            "async with asyncio.TaskGroup() as group: await step()",
        ),
    ],
)
def test_code_that_swallows_everything_is_kept_and_reported(kind: str, body: str) -> None:
    program = _STUBBORN.format(kind=kind, body=body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=20)
    assert done.stdout == "decided\n"
    assert "refuses to be closed" in done.stderr


@pytest.mark.parametrize(("kind", "body"), [("def", "step().result()"), ("async def", "await asyncio.sleep(5)")])
def test_code_that_refuses_to_die_is_reported_by_its_own_line(kind: str, body: str, tmp_path: Path) -> None:
    program = tmp_path / "stubborn.py"
    program.write_text(_STUBBORN.format(kind=kind, body=body))
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert f"{program}:13" in done.stderr


def test_exception_cancels_timers_of_tasks_and_activities_in_order_of_creation() -> None:
    @workflow
    async def failing() -> None:
        async def napping() -> None:
            await flowpy.sleep(100)

        async def working() -> None:
            await step("in a task")

        tasks = [asyncio.create_task(napping()), asyncio.create_task(working())]
        await asyncio.sleep(0)
        step("in main")
        await stop.receive()
        raise ValueError(f"with {len(tasks)} tasks")

    run = Run(failing)
    assert run.decide() == [
        "StartTimer t1.timer-1 100",
        "ScheduleActivityTask t2.step-1",
        "ScheduleActivityTask step-1",
    ]
    run.signaled("stop")
    assert run.decide() == [
        "CancelTimer t1.timer-1",
        "RequestCancelActivityTask t2.step-1",
        "RequestCancelActivityTask step-1",
    ]

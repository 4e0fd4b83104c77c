"""asyncio's primitives behave as on Python 3.13, in the same order in every process (law L8)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import activity, workflow

stop = flowpy.Signal("stop")
item = flowpy.Signal("item")


@activity
def step(value: Any = "") -> str: ...


def test_notification_of_a_condition_is_passed_on_when_its_waiter_is_cancelled() -> None:
    @workflow
    async def conditional() -> list[str]:
        condition, got = asyncio.Condition(), []

        async def waiter(name: str) -> None:
            async with condition:
                await condition.wait()
                got.append(name)

        first, second = asyncio.create_task(waiter("first")), asyncio.create_task(waiter("second"))
        await stop.receive()
        async with condition:
            condition.notify(1)
        first.cancel()
        await item.receive()
        second.cancel()
        return got

    run = Run(conditional)
    run.decide()
    run.signaled("stop")
    run.decide()
    run.signaled("item")
    assert run.decide() == ['CompleteWorkflowExecution ["second"]']
    run.replays()


_PROGRAM = """
import asyncio, sys, flowpy
from flowpy import activity, workflow
from tests.pitfalls.build import Run
stop = flowpy.Signal("stop")
@activity
def step(value): ...
junk = [bytearray(100 + 16 * (i % int(sys.argv[2]))) for i in range(int(sys.argv[2]) * 37)]
@workflow
async def waiting():
    work = [step(i) for i in range(8)]
    futures = []
    for promise in work:
        junk.append([None] * int(sys.argv[2]))
        futures.append(getattr(asyncio, sys.argv[1])(promise))
    await stop.receive()
    done, _ = await asyncio.wait(futures)
    return [one.result() for one in done]
run = Run(waiting)
run.decide()
for number in range(1, 9):
    run.completes(f"step-{number}", number)
run.signaled("stop")
print(run.decide())
"""


@pytest.mark.parametrize("kind", ["shield", "gather"])
def test_sets_of_the_librarys_own_futures_iterate_alike_in_every_process(kind: str) -> None:
    seen = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, kind, str(noise)], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        for noise in (1, 3, 7, 11)
    }
    assert len(seen) == 1, seen

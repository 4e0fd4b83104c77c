"""What the worker processes of the deploy test run."""

from __future__ import annotations

import time

import flowpy


@flowpy.activity(heartbeat_timeout=20)
def step(number: int) -> int:
    time.sleep(0.05)
    return number + 1


@flowpy.workflow(task_start_to_close_timeout=20)
async def chain(steps: int) -> int:
    number = 0
    for _ in range(steps):
        number = await step(number)
    return number

"""What the tests of telemetry run: an order with a retried activity, a child with an activity, and a second run."""

from __future__ import annotations

import asyncio

import flowpy

failing: list[str] = []
"""Activities that fail the next time they run."""


@flowpy.activity(name="charge", retry=flowpy.Retry(attempts=3, initial="1s", jitter=0))
def charge(cents: int) -> str:
    if "charge" in failing:
        failing.remove("charge")
        raise ConnectionError("busy")
    return f"{cents} charged"


@flowpy.activity(name="pack")
async def pack(order_id: str) -> str:
    await asyncio.sleep(0)
    return f"{order_id} packed"


@flowpy.activity(name="weigh", external=True)
def weigh(order_id: str) -> int: ...


@flowpy.workflow(name="ship", task_list="main")
async def ship(order_id: str) -> str:
    return await pack(order_id)


@flowpy.workflow(name="order", task_list="main")
async def order(order_id: str) -> str:
    receipt = await charge(42)
    return f"{receipt}, {await ship(order_id)}"


@flowpy.workflow(name="twice", task_list="main")
def twice(count: int) -> str:
    pack(f"o-{count}").result()
    if count > 1:
        flowpy.continue_as_new(count - 1)
    return "done"


@flowpy.workflow(name="weighing", task_list="main")
async def weighing(order_id: str) -> int:
    return await weigh(order_id)


WORKFLOWS = [order, ship, twice, weighing]
ACTIVITIES = [charge, pack]

"""Things that customers send back: what the order sample has no use for, in a few workflows."""

from __future__ import annotations

import asyncio

import flowpy
from flowpy import Signal, activity, execute, query, signal, workflow

arrived = Signal("arrived", str)
COURIERS = [f"courier {number}" for number in range(13)]  # more than fit into a set of the smallest size


@activity
def label(customer: str) -> str:
    return f"label for {customer}"


@activity
def appraise(item: str) -> int:
    return 100 * len(item)


@activity
def restock(item: str) -> str:
    return f"{item} is on the shelf"


@activity
def refund(customer: str, cents: int) -> str:
    return f"{cents} to {customer}"


@activity
def thank(customer: str) -> str:
    return f"thanks, {customer}"


@activity
def pick_up(courier: str) -> int:
    return len(courier)


@workflow(version="1.0")
async def inspection(item: str) -> int:
    """What an item that came back is worth."""
    cents = await appraise(item)
    if cents > 300:
        await restock(item)
    else:
        await thank(item)
    return cents


@workflow(version="1.0")
async def stock() -> str:
    """The shelf, which is told what came back."""
    return await Signal("returned", str).receive()


@workflow(version="1.0")
async def take_back(customer: str, items: list[str]) -> str:
    """Send a label, wait for the parcel, look at each item in a run of its own, and pay."""
    number = flowpy.side_effect(lambda: 4711)
    await label(f"{customer}, number {number}")
    try:
        sender = await arrived.receive(timeout="14d")
    except TimeoutError:
        return "nothing came back"
    values = await asyncio.gather(*[inspection(item) for item in items])
    paid = await refund(sender, sum(values))
    if flowpy.patched("thanks"):
        await thank(customer)
    await flowpy.external("stock").signal("returned", paid)
    return paid


async def collected(courier: str, fee: int) -> int:
    """One courier's round, a task of its own."""
    await asyncio.sleep(fee)
    return await pick_up(courier)


@workflow(version="1.0")
async def rounds(fee: int) -> int:
    """All couriers at once, in tasks."""
    tasks = [asyncio.create_task(collected(courier, fee)) for courier in sorted(set(COURIERS))]
    parcels = [await task for task in tasks]
    return sum(parcels)


@workflow(version="1.0")
def nightly(items: list[str]) -> int:
    """Appraise what lies around; plain ``def`` code."""
    values = [appraise(item) for item in items]
    flowpy.sleep("1h").result()
    total = sum(value.result() for value in values)
    refund("the house", total).result()
    return total


@workflow(version="1.0")
class Complaint:
    """What a customer has to say, until that is all."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.over = asyncio.Event()

    @execute
    async def run(self, customer: str) -> str:
        await self.over.wait()
        cents = await appraise(" ".join(self.said))
        return await refund(customer, cents)

    @signal
    def say(self, what: str) -> None:
        self.said.append(what)

    @signal
    async def enough(self) -> None:
        await thank("you")
        self.over.set()

    @query
    def length(self) -> int:
        return len(self.said)

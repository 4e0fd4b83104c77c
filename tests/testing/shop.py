"""What the tests of the kit run: activities of each kind, and workflows that call them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import flowpy
from flowpy import Retry, Signal, activity, current_activity, workflow

approval = Signal("approval", bool)


@dataclass
class Receipt:
    order_id: str
    cents: int


@activity(start_to_close_timeout="5m", schedule_to_start_timeout="1m", retry=Retry(attempts=3, initial="2s"))
def charge(order_id: str, cents: int) -> Receipt:
    return Receipt(order_id, cents)


@activity
def add(number: int, by: int = 1) -> int:
    return number + by


@activity
async def ship(order_id: str) -> str:
    await asyncio.sleep(0)
    return f"{order_id} is on its way"


@activity
def label(order_id: str, *, colour: str = "white") -> str:
    return f"{colour} {order_id}"


@activity(external=True)
def print_in_java(text: str) -> int: ...


@activity(manual=True)
def ask(question: str) -> str: ...


@activity
def pack(item: str) -> str:
    current_activity().heartbeat({"item": item})
    return f"{item} in a box"


@workflow(execution_start_to_close_timeout="30d")
async def order(order_id: str) -> str:
    receipt = charge(order_id, 4200)
    if not await approval.receive(timeout="3d"):
        raise flowpy.ApplicationError("declined")
    await asyncio.sleep(3600)
    return (await receipt).order_id


@workflow
async def count() -> int:
    number = 0
    for _ in range(3):
        number = await add(number)
    return number


@workflow
def plain(order_id: str) -> str:
    return step(order_id)


def step(order_id: str) -> str:
    return ship(order_id).result()


@workflow
async def call(name: str) -> object:
    """Calls one activity by its name, the way it stands here."""
    one = {"pack": pack, "print": print_in_java, "ask": ask, "charge": lambda x: charge(x, 1), "label": label}[name]
    try:
        return await one(name)
    except flowpy.ActivityTimedOut as error:
        return [error.timeout_type, error.data]


@workflow
async def child(number: int) -> int:
    return await add(number)


@workflow
async def parent(number: int) -> int:
    return await child(number)


@workflow(lambda_role="arn:aws:iam::123456789012:role/swf-lambda")
async def shrink(picture: str) -> str:
    return await flowpy.lambda_function("shrink", start_to_close_timeout="1m", result_type=str)(picture)

"""The workflow whose run hangs in ``histories.hanging``."""

from __future__ import annotations

from contextlib import suppress

import flowpy
from flowpy import Retry, Signal, activity, workflow

approval = Signal("approval", bool)
note = Signal("note", str)


@activity
def reserve(order_id: str, items: list[str]) -> int: ...


@activity(start_to_close_timeout="60s", retry=Retry(attempts=5, initial="20s"))
def charge(order_id: str, cents: int) -> str: ...


@activity
def notify(order_id: str) -> None: ...


@activity
def print_card(order_id: str) -> None: ...


@activity(task_list="gifts")
def wrap(order_id: str) -> None: ...


@workflow
async def fraud_check(order_id: str) -> str: ...


@workflow
async def order(order_id: str) -> str:
    reserved = reserve(order_id, ["lamp", "rug"])
    checked = fraud_check.options(workflow_id=f"fraud-{order_id}")(order_id)
    cents = await reserved
    approved = approval.receive(timeout="3d")
    flowpy.side_effect(lambda: "token-1")
    paid = charge(order_id, cents)
    flowpy.external("warehouse-eu").signal("reserved", order_id)
    await checked
    with suppress(flowpy.LambdaFailed):
        await flowpy.lambda_function("price_check")(order_id)
    if not await approved:
        return "declined"
    return await deliver(order_id, paid)


async def deliver(order_id: str, paid: flowpy.Promise[str]) -> str:
    reminder = flowpy.sleep("2d")
    told, card, wrapped = notify(order_id), print_card(order_id), wrap(order_id)
    with suppress(flowpy.ActivityScheduleFailed):
        await told
    await note.receive()
    card.cancel()
    receipt, _ = await flowpy.all_of(paid, wrapped)
    reminder.cancel()
    return receipt

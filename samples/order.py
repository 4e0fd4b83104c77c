"""An order, from the shelf to the doorstep, once somebody has approved it.

``pack_and_ship`` is the plain way: activities one after the other, several at once of which one fails and is tried
again, and a durable timer. ``order`` also waits for a person, and gives back what it took if nothing comes of it.

    flowpy run samples.order:order o-7 '["lamp", "teapot", "rug"]' --signal approval true
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from flowpy import Retry, Signal, activity, current_activity, workflow

PRICES = {"lamp": 4900, "teapot": 2500, "rug": 12000}
PACKING = 0.5  # seconds for an item
UNTIL_THE_COURIER_COMES = 3  # seconds; three days would do as well, nothing has to be alive meanwhile
APPROVED_WITHIN = "3d"

approval = Signal("approval", bool)


@dataclass(frozen=True)
class Delivery:
    """What the customer gets."""

    order_id: str
    receipt: str
    parcels: list[str]


class Declined(Exception):
    """Somebody said no."""


@activity(start_to_close_timeout="1m")
def reserve(order_id: str, items: list[str]) -> int:
    """Take the items from the shelf; gives their price in cents."""
    missing = [item for item in items if item not in PRICES]
    if missing:
        raise LookupError(f"order {order_id}: the shop has no {', '.join(missing)}")
    return sum(PRICES[item] for item in items)


@activity(start_to_close_timeout="1m")
def release(order_id: str, items: list[str]) -> None:
    """Put the items of an order back on the shelf."""


@activity(start_to_close_timeout="1m")
def charge(order_id: str, cents: int) -> str:
    """Charge the card; gives the receipt."""
    return f"receipt {order_id} over {cents / 100:.2f}"


# A worker that dies while it packs is noticed by its missing heartbeats, and another one packs the item.
@activity(start_to_close_timeout="5m", heartbeat_timeout="5s", retry=Retry(attempts=3, initial="1s"))
def pack(item: str) -> str:
    """Pack one item; the first teapot always breaks."""
    time.sleep(PACKING)
    first_attempt = ".r" not in current_activity().activity_id  # "pack-2", then "pack-2.r2"
    if item == "teapot" and first_attempt:
        raise OSError("dropped the teapot")
    return f"{item} in a box"


@workflow(version="1.0", execution_start_to_close_timeout="30d")
async def pack_and_ship(order_id: str, items: list[str]) -> Delivery:
    """Deliver the items, or fail with what went wrong."""
    cents = await reserve(order_id, items)
    parcels = await asyncio.gather(*[pack(item) for item in items])
    return await ship(order_id, cents, parcels)


@workflow(version="1.0", execution_start_to_close_timeout="30d")
async def order(order_id: str, items: list[str]) -> Delivery:
    """Deliver the items once that is approved; else leave the shop as it was."""
    cents = await reserve(order_id, items)
    try:
        parcels = await packed_and_approved(order_id, items)
    except (Exception, asyncio.CancelledError):
        await release(order_id, items)
        raise
    return await ship(order_id, cents, parcels)


async def packed_and_approved(order_id: str, items: list[str]) -> list[str]:
    """Pack the items while somebody thinks about it."""
    approved = approval.receive(timeout=APPROVED_WITHIN)  # the time runs from here on
    parcels = await asyncio.gather(*[pack(item) for item in items])
    if not await approved:
        raise Declined(f"order {order_id} was declined")
    return parcels


async def ship(order_id: str, cents: int, parcels: list[str]) -> Delivery:
    """Charge the customer and hand the parcels over; a step of both workflows."""
    receipt = await charge(order_id, cents)
    await asyncio.sleep(UNTIL_THE_COURIER_COMES)
    return Delivery(order_id, receipt, parcels)

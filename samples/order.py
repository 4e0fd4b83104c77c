"""An order, from the shelf to the doorstep.

Two activities one after the other, then three at once, one of which fails and is tried again, then a durable timer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from flowpy import Retry, activity, current_activity, workflow

PRICES = {"lamp": 4900, "teapot": 2500, "rug": 12000}
UNTIL_THE_COURIER_COMES = 3  # seconds; three days would do as well, nothing has to be alive meanwhile


@dataclass(frozen=True)
class Delivery:
    """What the customer gets."""

    order_id: str
    receipt: str
    parcels: list[str]


@activity(start_to_close_timeout="1m")
def reserve(order_id: str, items: list[str]) -> int:
    """Take the items from the shelf; gives their price in cents."""
    missing = [item for item in items if item not in PRICES]
    if missing:
        raise LookupError(f"order {order_id}: the shop has no {', '.join(missing)}")
    return sum(PRICES[item] for item in items)


@activity(start_to_close_timeout="1m")
def charge(order_id: str, cents: int) -> str:
    """Charge the card; gives the receipt."""
    return f"receipt {order_id} over {cents / 100:.2f}"


@activity(start_to_close_timeout="5m", retry=Retry(attempts=3, initial="1s"))
def pack(item: str) -> str:
    """Pack one item; the first teapot always breaks."""
    first_attempt = ".r" not in current_activity().activity_id  # "pack-2", then "pack-2.r2"
    if item == "teapot" and first_attempt:
        raise OSError("dropped the teapot")
    return f"{item} in a box"


@workflow(version="1.0", execution_start_to_close_timeout="30d")
async def order(order_id: str, items: list[str]) -> Delivery:
    """Deliver the items, or fail with what went wrong."""
    cents = await reserve(order_id, items)
    receipt = await charge(order_id, cents)
    parcels = await asyncio.gather(*[pack(item) for item in items])
    await asyncio.sleep(UNTIL_THE_COURIER_COMES)
    return Delivery(order_id, receipt, parcels)

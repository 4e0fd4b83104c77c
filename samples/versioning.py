"""Versioning: new code for runs that have begun with the old one.

``patched`` is False in runs that have passed this place before the patch was there, and True in all others. The stored
history ``versioning.before`` was recorded without the patch and replays with it: that is how a deployment is tested.

Once no such run is open, the condition goes, and what it guards stays.

Flow's sample: ComponentVersion (its implementation versions).

    flowpy run samples.versioning:invoice Ann '[1250, 380]'
"""

from __future__ import annotations

from flowpy import activity, patched, workflow

VAT = 19  # percent


@activity(start_to_close_timeout="1m")
def net(prices: list[int]) -> int:
    """What some things cost together, in cents, without tax."""
    return sum(prices)


@activity(start_to_close_timeout="1m")
def tax(cents: int) -> int:
    """The tax on an amount."""
    return round(cents * VAT / 100)


@activity(start_to_close_timeout="1m")
def line(customer: str, cents: int) -> str:
    """The last line of an invoice."""
    return f"{customer} owes {cents / 100:.2f}"


@workflow
async def invoice(customer: str, prices: list[int]) -> str:
    """An invoice; those begun before the tax came are written without it."""
    cents = await net(prices)
    if patched("tax"):
        cents += await tax(cents)
    return await line(customer, cents)

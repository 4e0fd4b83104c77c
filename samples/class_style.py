"""Class style: a workflow whose signals and queries share state with it.

One object for each run. ``@signal`` methods change it, ``@query`` methods read it, ``@execute`` is the workflow itself.
A query replays the history where it is asked: no worker takes part, and it works when the run is over, too.

Flow's ``@Execute``, ``@Signal`` and ``@GetState``.

    flowpy run samples.class_style:cart Ann --signal add '{"name": "tea", "cents": 420}' --signal check_out null
    flowpy query --domain shop samples.class_style WORKFLOW_ID total
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from flowpy import activity, execute, query, signal, workflow

LEFT_ALONE = 7 * 86_400  # seconds


@dataclass(frozen=True)
class Item:
    """What somebody wants to buy."""

    name: str
    cents: int


@activity(start_to_close_timeout="1m")
def bill(customer: str, items: list[Item]) -> str:
    """The bill, one line for each item."""
    lines = [f"{item.name} {item.cents / 100:.2f}" for item in items]
    return "\n".join([customer, *lines, f"total {sum(item.cents for item in items) / 100:.2f}"])


class Cart:
    """A shopping cart, from the first item to the bill."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.changed = asyncio.Event()
        self.is_done = False

    @execute
    async def run(self, customer: str) -> str | None:
        """Gives the bill; None if nobody touches the cart for a week."""
        while not self.is_done:
            self.changed.clear()
            try:
                async with asyncio.timeout(LEFT_ALONE):
                    await self.changed.wait()
            except TimeoutError:
                return None
        return await bill(customer, self.items)

    @signal
    def add(self, item: Item) -> None:
        """Put an item into the cart."""
        self.items.append(item)
        self.changed.set()

    @signal
    def remove(self, name: str) -> None:
        """Take all items of a name out again."""
        self.items = [item for item in self.items if item.name != name]
        self.changed.set()

    @signal
    def check_out(self) -> None:
        """No more items will come."""
        self.is_done = True
        self.changed.set()

    @query
    def total(self) -> int:
        """What all items cost together, in cents."""
        return sum(item.cents for item in self.items)


cart = workflow(Cart)

"""Wait for a signal or a timer: whatever comes first, and changes of mind until then.

Signals queue until they are received. Here one may change the order as often as it likes, and one cancels it; half an
hour after the last of them the order is placed.

Flow's recipe: WaitForSignal.

    flowpy run samples.wait_for_signal:order orders.csv tea 3 --signal amend 5
"""

from __future__ import annotations

from pathlib import Path

from flowpy import Signal, activity, any_of, sleep, workflow

amend = Signal("amend", int)
withdraw = Signal("withdraw")

RESPITE = "30m"


@activity(start_to_close_timeout="1m")
def place(orders: Path, item: str, amount: int) -> str:
    """Add a line to the file of orders."""
    line = f"{item},{amount}"
    with orders.open("a") as lines:
        lines.write(f"{line}\n")
    return line


@workflow
async def order(orders: Path, item: str, amount: int) -> str | None:
    """Place an order once nobody has changed it for half an hour; gives None if it was withdrawn."""
    withdrawn, amended = withdraw.receive(), amend.receive()
    while True:
        respite = sleep(RESPITE)
        first = await any_of(withdrawn, amended, respite)
        if first is withdrawn:
            return None
        if first is respite:
            return await place(orders, item, amount)
        respite.cancel()
        amount, amended = await amended, amend.receive()

"""Workflows of the cases about signals, received and sent."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .registry import case


@case
def signal_before_first_decision() -> Any:
    item = flowpy.Signal("item", str)

    @activity
    def handle(x: str) -> str: ...

    @workflow
    async def inbox(count: int) -> list:
        out = []
        while len(out) < count:
            out.append(await handle(await item.receive()))
        return out

    return inbox


@case
def external_signal_failed() -> Any:
    go = flowpy.Signal("go", int)

    @workflow
    async def notify(order: str) -> list:
        out = await asyncio.gather(
            flowpy.external("ship-1").signal(go, 1),
            flowpy.external("ship-2").signal(go, 2),
            flowpy.external("old-9").cancel(),
            return_exceptions=True,
        )
        return [getattr(r, "cause", "sent") for r in out]

    return notify

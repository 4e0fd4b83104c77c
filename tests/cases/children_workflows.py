"""Workflows of the cases about child workflows."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .registry import case


@case
def inflight_concurrent_children() -> Any:
    @workflow
    async def item(name: str) -> str: ...

    @workflow
    async def parent(p: str) -> list:
        a = item.options(workflow_id="A")("A")
        await a.started
        b, c = item.options(workflow_id="B")("B"), item.options(workflow_id="C")("C")
        done = await asyncio.gather(a, b, c, return_exceptions=True)
        return [getattr(r, "reason", r) for r in done]

    return parent


@case
def child_cancel_before_started() -> Any:
    stop = flowpy.Signal("stop")

    @workflow
    async def ship(order_id: str) -> str: ...

    @workflow
    async def dispatch(order_id: str) -> str:
        s = ship(order_id)
        await stop.receive()
        s.cancel()
        try:
            return await s
        except asyncio.CancelledError:
            return "stopped"

    return dispatch


def type_names(error: flowpy.ChildFailed) -> list[str]:
    """``type`` of the failure record and of its causes, outermost first."""
    names, failure = [], error.failure
    while failure is not None:
        names.append(failure.type)
        failure = failure.cause
    return names


@case
def child_failed_nested_causes() -> Any:
    @activity
    def alert(order_id: str, names: list) -> None: ...

    @workflow
    async def pay(order_id: str) -> str: ...

    class Rejected(Exception): ...

    @workflow
    async def checkout(order_id: str) -> str:
        try:
            return await pay(order_id)
        except flowpy.ChildFailed as e:
            await alert(order_id, type_names(e))
            raise Rejected(f"order {order_id} refused") from e

    return checkout

"""Workflows of the cases about timers and cancellation."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .registry import case


@case
def timer_start_failed() -> Any:
    extend = flowpy.Signal("extend", int)

    @workflow
    async def grace_period(account: str) -> list:
        first, said = flowpy.sleep(60, timer_id="grace"), []
        secs = await extend.receive()
        for timer_id in ("grace", "grace-2"):
            try:
                await flowpy.sleep(secs, timer_id=timer_id)
            except flowpy.DuplicateId:
                said.append("open already")
            except flowpy.TimerStartFailed as e:
                said.append(e.cause)
        await first
        return said

    return grace_period


@case
def activity_cancel_requested_then_completed() -> Any:
    @activity(heartbeat_timeout="30s")
    def long_job(job: str) -> int: ...

    @workflow
    async def deadline(job: str) -> str:
        a = long_job(job)
        await flowpy.sleep(10)
        a.cancel()
        try:
            return f"completed:{await a}"
        except asyncio.CancelledError:
            return "canceled"

    return deadline


@case
def activity_cancel_unstarted() -> Any:
    abort = flowpy.Signal("abort")

    @activity
    def long_job(job: str) -> int: ...

    @workflow
    async def abortable(job: str) -> str:
        a = long_job(job)
        await abort.receive()
        a.cancel()
        try:
            await a
        except asyncio.CancelledError:
            return "canceled"

    return abortable


@case
def cancel_before_first_decision() -> Any:
    approved = flowpy.Signal("approved", str)

    @activity
    def cleanup(request: str) -> None: ...

    @workflow
    async def approval(request: str) -> str:
        try:
            return await approved.receive()
        except asyncio.CancelledError:
            await cleanup(request)
            raise

    return approval


@case
def exception_with_open_activity() -> Any:
    @activity(heartbeat_timeout="30s")
    def pick(order_id: str) -> str: ...
    @activity
    def in_stock(order_id: str) -> bool: ...

    class OutOfStock(Exception): ...

    @workflow
    async def sale(order_id: str) -> str:
        flowpy.sleep(3600)
        picked = pick(order_id)
        if not await in_stock(order_id):
            raise OutOfStock(f"{order_id} cannot be served")
        return await picked

    return sale


@case
def signal_during_cancel_cleanup() -> Any:
    confirmed = flowpy.Signal("confirmed", str)

    @activity(heartbeat_timeout="30s")
    def hold(ref: str) -> None: ...
    @activity
    def release(ref: str) -> None: ...
    @activity
    def audit(ref: str, who: str) -> None: ...

    @workflow
    async def booking(ref: str) -> None:
        try:
            await hold(ref)
        except asyncio.CancelledError:
            await release(ref)
            await audit(ref, await confirmed.receive())
            raise

    return booking


@case
def external_cancel_accepted() -> Any:
    released = flowpy.Signal("released", str)

    @activity
    def seize(resource: str, who: str) -> str: ...

    @workflow
    async def takeover(resource: str) -> str:
        await flowpy.external("holder-3").cancel()
        return await seize(resource, await released.receive())

    return takeover

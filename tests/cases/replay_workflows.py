"""Workflows of the cases about replay: in-flight events, timed-out, unhandled and held decisions, pages."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .registry import case


@case
def two_activities_then_signal() -> Any:
    change_address = flowpy.Signal("change_address", str)

    @activity
    def reserve(sku: str) -> str: ...
    @activity
    def charge(order_id: str) -> str: ...
    @activity
    def ship(order_id: str) -> str: ...

    @workflow
    async def order(order_id: str) -> list:
        log = []

        @change_address.handler
        def moved(address):
            log.append("signal:" + address)

        async def note(promise):
            log.append(await promise)

        await asyncio.gather(note(reserve("sku-9")), note(charge(order_id)))
        log.append(await ship(order_id))
        return log

    return order


@case
def decision_timeout_retried() -> Any:
    note = flowpy.Signal("note", str)

    @activity
    def step_a(n: int) -> int: ...
    @activity
    def step_b(n: int) -> int: ...

    @workflow
    async def two_step(n: int) -> list:
        notes = []

        @note.handler
        def keep(text):
            notes.append(text)

        return [await step_b(await step_a(n)), notes]

    return two_step


@case
def unhandled_decision_complete() -> Any:
    note = flowpy.Signal("note", str)

    @activity
    def charge(order_id: str) -> str: ...

    @workflow
    async def charging(order_id: str) -> str:
        notes = []

        @note.handler
        def keep(text):
            notes.append(text)

        await charge(order_id)
        return "done"

    return charging


@case
def multi_page() -> Any:
    note = flowpy.Signal("note", str)

    @activity
    def step(i: int) -> int: ...

    @workflow
    async def forty_five_steps(n: int) -> dict:
        notes, total = [], 0

        @note.handler
        def keep(text):
            notes.append(text)

        for i in range(n):
            total += await step(i)
        return {"sum": total, "notes": notes}

    return forty_five_steps


@case
def held_run_then_right_code() -> Any:
    note = flowpy.Signal("note", str)

    @activity
    def reserve(sku: str) -> str: ...
    @activity
    def pack(sku: str) -> str: ...

    @workflow
    async def fulfil(sku: str) -> list:
        loop, notes = asyncio.get_running_loop(), []

        @note.handler
        def keep(text):
            notes.append(text)

        began = loop.time()
        await reserve(sku)
        waited = int(loop.time() - began)
        return [await pack(sku), notes, waited]

    return fulfil

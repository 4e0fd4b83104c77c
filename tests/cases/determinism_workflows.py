"""Workflows of the cases about determinism: changed code, many tasks, asynchronous methods, wait_for."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, asynchronous, workflow

from .registry import case


@case
def code_changed_two_timers() -> Any:
    @workflow
    async def two_timers() -> None:
        a, b = flowpy.sleep(10), flowpy.sleep(20)
        await a
        await b

    return two_timers


def code_changed_two_timers_v2() -> Any:
    """The same type after a careless edit: the second timer is gone."""

    @workflow
    async def two_timers() -> None:
        await flowpy.sleep(10)

    return two_timers


@case
def fan_out_forty() -> Any:
    @activity
    def probe(i: int) -> int: ...
    @activity
    def double(x: int) -> int: ...

    @workflow
    async def survey(n: int) -> int:
        async def one(i):
            x = await probe(i)
            return await double(x) if i % 8 == 0 else x

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(i)) for i in range(n)]
        return sum(t.result() for t in tasks)

    return survey


@case
def asynchronous_two_promises() -> Any:
    @activity
    def load(name: str) -> int: ...
    @activity
    def merge(x: int, y: int) -> int: ...

    @asynchronous
    async def combine(x: int, y: int) -> int:
        return await merge(x, y)

    @workflow
    async def report() -> list:
        a, b = load("a"), load("b")
        ab = combine(a, b)
        ac = combine(a, load("c"))
        return await asyncio.gather(ab, ac)

    return report


@case
def wait_for_coroutine() -> Any:
    @activity
    def charge(order_id: str) -> str: ...

    @workflow
    async def settle(orders: list) -> list:
        async def attempt(order_id):
            return await charge(order_id)

        out = []
        for order_id in orders:
            try:
                out.append(await asyncio.wait_for(attempt(order_id), 30))
            except TimeoutError:
                out.append("late")
        await asyncio.sleep(5)
        return out

    return settle

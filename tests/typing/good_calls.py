"""Calls whose types both checkers must know; nothing here may be flagged."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, assert_type

import flowpy
from flowpy.client import ActivityTask
from flowpy.declare import (
    NONE,
    ChildPromise,
    Promise,
    Retry,
    Signal,
    activity,
    asynchronous,
    execute,
    query,
    signal,
    workflow,
)


@activity
def charge(order_id: str, cents: int) -> str:
    return f"{order_id}-{cents}"


@activity
async def charge_later(order_id: str, cents: int = 100) -> str:
    return f"{order_id}-{cents}"


@activity(version="2.0", start_to_close_timeout="5m", heartbeat_timeout=NONE, retry=Retry(attempts=5, initial="2s"))
def refund(order_id: str, *, reason: str = "") -> int:
    return len(order_id + reason)


@activity(name="pay", manual=True, schedule_to_close_timeout=timedelta(days=1), on_cancel="wait")
async def pay(order_id: str) -> None: ...


class Bank:
    @staticmethod
    @activity
    def transfer(cents: int) -> bool:
        return cents > 0


@workflow
async def order(order_id: str, cents: int = 1) -> str:
    assert_type(charge("o", 1), Promise[str])
    assert_type(await charge("o", cents), str)
    assert_type(await charge_later("o"), str)
    assert_type(await charge_later("o", cents=1), str)
    assert_type(await refund("o", reason="late"), int)
    assert_type(await pay("o"), None)
    assert_type(await Bank.transfer(1), bool)
    assert_type(charge.fn("o", 1), str)
    assert_type(await charge_later.fn("o"), str)
    assert_type(refund.options(task_list="eu").fn("o", reason=""), int)
    other = charge.options(task_list="eu", start_to_close_timeout="1h", activity_id="charge-eu")
    assert_type(await other.options(retry=Retry(attempts=1))("o", 1), str)
    return order_id


@workflow(version="2.0", execution_start_to_close_timeout="30d", tag_list=["a", "b"], child_policy="ABANDON")
def nightly(day: str) -> int:
    assert_type(refund(day).result(), int)
    return len(day)


@workflow
async def several() -> None:
    first, second = await asyncio.gather(charge("a", 1), refund("b"))
    assert_type(await flowpy.any_of(charge("a", 1), charge("b", 2)), Promise[str])
    await flowpy.any_of(charge("a", 1), flowpy.sleep("1h"))
    assert_type(first, str)
    assert_type(second, int)
    done, _ = await asyncio.wait([charge("a", 1), charge("b", 1)], timeout=5)
    assert_type(done.pop().result(), str)
    assert_type(await asyncio.wait_for(charge("a", 1), 5), str)
    assert_type(await asyncio.shield(refund("a")), int)


@activity
def merge(parts: list[str]) -> int:
    return len(parts)


@activity
def report_on(parts: dict[str, str], first: int, second: str) -> bool:
    return first > len(second) + len(parts)


@workflow
async def deferring() -> None:
    parts = [charge(name, 1) for name in "abc"]
    assert_type(await merge(parts), int)
    assert_type(await merge((charge("a", 1), charge("b", 1))), int)
    assert_type(await charge(charge_later("a"), 1), str)
    assert_type(await charge("a", refund("a")), str)
    assert_type(await charge(charge_later("a"), cents=refund("a")), str)
    assert_type(await report_on({"a": "b"}, 1, charge("a", 1)), bool)
    assert_type(await report_on({"a": charge("a", 1)}, 1, ""), bool)
    assert_type(await combined(refund("a"), refund("b")), str)
    assert_type(await order(charge("a", 1)), str)


@workflow
async def parent() -> None:
    child = order("o")
    assert_type(child, ChildPromise[str])
    assert_type(await child, str)
    assert_type(await child.started, str)
    assert_type(child.workflow_id, str)
    assert_type(await nightly("monday"), int)
    assert_type(await nightly.options(workflow_id="n-1", tag_list=("x",))("monday"), int)


shrink = flowpy.lambda_function("shrink", result_type=list[int])
untyped = flowpy.lambda_function("shrink")


@workflow
async def calling_lambda() -> None:
    assert_type(await shrink("a picture"), list[int])
    assert_type(await untyped("a picture"), Any)


@asynchronous
async def combined(left: int, right: int) -> str:
    return str(left + right)


@asynchronous
def chosen(left: int) -> Promise[str]:
    return combined(left, 1)


@asynchronous
async def chosen_later(left: int) -> Promise[str]:
    return combined(left, 1)


approval = Signal("approval", bool)
stop = Signal("stop")
items = Signal("items", list[int])


@workflow
async def waiting() -> None:
    assert_type(await combined(1, 2), str)
    assert_type(await chosen(1), str)
    assert_type(await chosen_later(1), str)
    assert_type(approval, Signal[bool])
    assert_type(await approval.receive(timeout="3d"), bool)
    assert_type(await items.receive(), list[int])
    assert_type(await stop.receive(60), Any)

    @approval.handler
    async def approved(value: bool) -> None: ...

    assert_type(await approved(True), None)


class Subscription:
    def __init__(self) -> None:
        self.open = True

    @execute
    async def run(self, customer: str, months: int = 12) -> int:
        await self.renew(months)
        return months

    @asynchronous
    async def renew(self, months: int) -> str:
        return str(months)

    @signal
    def close(self) -> None:
        self.open = False

    @signal("plan")
    async def change_plan(self, plan: str) -> None: ...

    @query
    def is_open(self) -> bool:
        return self.open

    @query(name="other")
    def other_query(self) -> int:
        return 1


class Report:
    @execute
    def run(self, day: str) -> str:
        return day


class Unnamed:
    @execute
    async def start(self, day: str) -> str:
        return day


subscription = workflow(Subscription)
report = workflow(Report)
unnamed = workflow(version="3.0")(Unnamed)
monthly = workflow(version="2.0")(Subscription)


@workflow
async def subscriber() -> None:
    assert_type(await subscription("c"), int)
    assert_type(await subscription("c", months=3), int)
    assert_type(await monthly.options(task_list="eu")("c"), int)
    assert_type(await report("monday"), str)
    assert_type(await unnamed("monday"), Any)
    assert_type(Subscription().is_open(), bool)
    assert_type(await Subscription().renew(1), str)


@activity(executor="process")
def crunch(numbers: list[int]) -> int:
    return sum(numbers)


def end_elsewhere(client: flowpy.Client) -> None:
    assert_type(client.activity("token", pay), ActivityTask[None])
    client.activity("token", charge).complete("r-1")
    client.activity("token", charge_later).complete("r-1")
    client.activity("token").complete({"any": 1})
    assert_type(client.activity("token").heartbeat("half"), bool)

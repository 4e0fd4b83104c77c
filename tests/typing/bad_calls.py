"""Mistakes that both checkers must find: every line marked ``# error``, and no other."""

from __future__ import annotations

import flowpy
from flowpy.declare import Promise, Retry, Signal, activity, asynchronous, execute, workflow


@activity
def charge(order_id: str, cents: int) -> str:
    return f"{order_id}-{cents}"


@activity(version="2.0")
async def refund(order_id: str, *, reason: str = "") -> int:
    return len(order_id + reason)


@activity(startToCloseTimeout=90)  # error
def misspelled() -> None: ...


@activity(start_to_close_timeout=[90])  # error
def mistyped() -> None: ...


@activity(on_cancel="tyr")  # error
def mistaken() -> None: ...


@workflow(child_policy="KEEP")  # error
async def orphaned() -> None: ...


@workflow(heartbeat_timeout="5m")  # error
async def not_an_activity() -> None: ...


@workflow
async def order(order_id: str) -> str:
    await charge("o")  # error
    await charge("o", "1")  # error
    await charge("o", 1, 2)  # error
    await charge("o", amount=1)  # error
    await refund("o", "late")  # error
    number: int = await charge("o", 1)  # error
    text: str = await refund("o")  # error
    unawaited: str = charge("o", 1)  # error
    charge.fn("o")  # error
    await charge.options(activity_id=5)("o", 1)  # error
    await charge.options(task_lst="eu")("o", 1)  # error
    await charge.options(task_list="eu")("o")  # error
    return text + str(number) + unawaited


@workflow
def nightly(day: str) -> int:
    text: str = nightly(day).result()  # error
    return text  # error


@workflow
async def parent() -> None:
    await order()  # error
    await order(5)  # error
    await order.options(workflow_id=5)("o")  # error
    number: int = await order("o")  # error
    started: int = await order("o").started  # error
    assert number < started


@asynchronous
async def combined(left: int, right: int) -> str:
    return str(left + right)


@asynchronous
def chosen(left: int) -> Promise[str]:
    return combined(left, 1)


approval = Signal("approval", bool)
unnamed = Signal(5)  # error


@workflow
async def waiting() -> None:
    await combined(1)  # error
    number: int = await chosen(1)  # error
    answer: str = await approval.receive()  # error
    await approval.receive(timeout=[3])  # error
    assert number < len(answer)


class Subscription:
    @execute
    async def run(self, customer: str) -> int:
        return len(customer)

    @asynchronous
    async def renew(self, months: int) -> str:
        return str(months)


subscription = workflow(Subscription)


@workflow
async def subscriber() -> None:
    await subscription()  # error
    text: str = await subscription("c")  # error
    await Subscription().renew("1")  # error
    assert text


Retry(attempts="5")  # error
Retry(retry_on=(5,))  # error


def end_elsewhere(client: flowpy.Client) -> None:
    client.activity("token", charge).complete(5)  # error
    client.activity("token", charge.fn)  # error


activity(executor="processes")(charge.fn)  # error

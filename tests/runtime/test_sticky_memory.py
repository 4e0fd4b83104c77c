"""A run that is kept holds no more after a hundred rounds than after ten, whatever it does in each."""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import pytest

import flowpy
from flowpy.errors import ActivityFailed

from .test_sticky import Kept

tick = flowpy.Signal("tick", int)
never = flowpy.Signal("never", int)
SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType)


@flowpy.activity(name="work", heartbeat_timeout="NONE", retry=flowpy.Retry(attempts=1))
def work(x: int) -> int: ...


async def waits_for_what_never_comes():
    while True:
        with_timeout = never.receive(timeout=1000)
        await tick.receive()
        with_timeout.cancel()


async def waits_until_the_time_is_over():
    while True:
        await tick.receive()
        with suppress(TimeoutError):
            await never.receive(timeout=1)


async def races_one_promise_again_and_again():
    gate = never.receive()
    while True:
        await flowpy.any_of(tick.receive(), gate)


async def joins_what_never_comes():
    gate, other = never.receive(), never.receive()
    while True:
        for joint in (flowpy.any_of(gate, other), flowpy.all_of(gate, other), flowpy.shield(gate)):
            await tick.receive()
            joint.cancel()


async def joins_what_fails():
    gate = never.receive()
    while True:
        await tick.receive()
        with suppress(ActivityFailed):
            await flowpy.all_of(gate, work(1))


async def draws_numbers_in_tasks():
    async def draw() -> float:
        return flowpy.random().random()

    while True:
        await tick.receive()
        await asyncio.gather(draw(), draw())


async def handles_signals():
    @tick.handler
    async def handle(value: int) -> None:
        flowpy.random().random()

    await never.receive()


async def fails():
    while True:
        await tick.receive()
        with suppress(ActivityFailed):
            await work(1)


async def records():
    while True:
        await tick.receive()
        flowpy.side_effect(lambda: 1)
        flowpy.uuid4()


ROUNDS = [
    waits_for_what_never_comes,
    waits_until_the_time_is_over,
    races_one_promise_again_and_again,
    joins_what_never_comes,
    joins_what_fails,
    draws_numbers_in_tasks,
    handles_signals,
    fails,
    records,
]


def size(root):
    """Bytes of all that hangs on an object and is not code."""
    seen, left, total = set(), [root], 0
    while left:
        each = left.pop()
        shared = isinstance(each, SHARED) or type(each).__module__.startswith(("flowpy.declare", "flowpy.data"))
        if id(each) in seen or shared:
            continue
        seen.add(id(each))
        total += sys.getsizeof(each)
        left += gc.get_referents(each)
    return total


@pytest.mark.parametrize("code", ROUNDS, ids=lambda code: code.__name__)
def test_what_is_over_is_let_go_of(code):
    one = Kept(flowpy.workflow(name="rounds")(code))
    named = {"name": work.name, "version": work.version}
    one.service.call("RegisterActivityType", domain="shop", **named, **work.registered.defaults("list"))
    one.decide()

    def size_after(rounds):
        for _ in range(rounds):
            one.service.signal("tick", 1)
            one.decide()
            for activity_id in one.service.take():
                one.service.fail(activity_id)
                one.decide()
            if code is waits_until_the_time_is_over:
                one.service.engine.advance(1)
                one.decide()
        gc.collect()
        return size(one.decider._kept[one.service.run_id].run)

    before = size_after(10)
    assert size_after(40) < before + 500
    assert one.counts["cache_misses"] == 0
    one.decider.evict_all("test")


def test_signals_that_nobody_receives_count():
    @flowpy.workflow(name="deaf")
    async def deaf() -> None:
        await never.receive()

    one = Kept(deaf)
    one.decide()
    before = one.decider._bytes
    for _ in range(50):
        one.service.signal("tick", 1)
    one.decide()
    assert one.decider._bytes > before + 50 * 200
    one.decider.evict_all("test")

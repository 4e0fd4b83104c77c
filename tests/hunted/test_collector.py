"""The collector runs code at random moments: it must decide nothing, in this run and in others (CONTRACTS §1, L10)."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from tests.pitfalls.build import Run, attributes_of

import flowpy
from flowpy import activity, workflow

stop = flowpy.Signal("stop")
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:async generator"),
]


@activity
def step(value: str = "") -> str: ...


@pytest.fixture(autouse=True)
def _collected_on_demand() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def inputs(run: Run) -> list[str]:
    return [attributes_of(decision)["input"] for decision in run.offered()]


def in_a_cycle(thing: Any) -> None:
    box = [thing]
    box.append(box)


def test_generator_closed_by_the_collector_cannot_decide() -> None:
    @workflow
    async def littering() -> None:
        def generator() -> Iterator[int]:
            try:
                yield 1
            finally:
                step("leak")

        left = generator()
        next(left)
        in_a_cycle(left)
        del left
        gc.collect()
        await step("meant")

    assert inputs(Run(littering)) == ['["meant"]']


def test_weakref_callback_cannot_decide() -> None:
    class Thing:
        pass

    @workflow
    async def littering() -> None:
        thing = Thing()
        weakref.finalize(thing, step, "leak").atexit = False
        in_a_cycle(thing)
        thing.me = thing  # type: ignore[attr-defined]
        del thing
        gc.collect()
        await step("meant")

    assert inputs(Run(littering)) == ['["meant"]']


@pytest.mark.parametrize("kind", ["generator", "async generator", "coroutine"])
def test_code_of_a_run_that_left_memory_decides_nothing_in_another(kind: str) -> None:
    @workflow
    async def leaving() -> None:
        def generator() -> Iterator[int]:
            try:
                yield 1
            finally:
                step("leak")

        async def async_generator() -> Any:
            try:
                yield 1
            finally:
                step("leak")

        async def coroutine() -> None:
            try:
                await asyncio.sleep(0)
            finally:
                step("leak")

        left: Any = None
        if kind == "generator":
            left = generator()
            next(left)
        elif kind == "async generator":
            left = async_generator()
            await left.__anext__()
        else:
            left = coroutine()
            left.send(None)
        in_a_cycle(left)
        del left
        await stop.receive()

    @workflow
    async def other() -> None:
        gc.collect()
        await step("meant")

    assert Run(leaving).decide() == []
    assert inputs(Run(other)) == ['["meant"]']

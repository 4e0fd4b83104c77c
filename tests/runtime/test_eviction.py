"""Law L10: code of a run that leaves memory is closed, and never acts again."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow
from flowpy.runtime.undead import undead

from .driver import Driver

seen: list[str] = []
COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


@activity
def work(name: str = "") -> int: ...


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()


def told(error: BaseException) -> None:
    seen.append(type(error).__name__)


@workflow
async def cleans_up() -> int:
    COLOUR.set("red")
    try:
        return await work()
    finally:
        seen.append(f"finally in {COLOUR.get()}")
        for attempt in (work, lambda: flowpy.sleep(1), flowpy.uuid4, lambda: flowpy.side_effect(int)):
            try:
                attempt()
            except flowpy.ReadOnly as error:
                told(error)


def test_clean_up_runs_in_its_own_context_and_decides_nothing() -> None:
    run = Driver(cleans_up, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask work-1"]
    seen.clear()
    run.forget()
    assert seen == ["finally in red", *["ReadOnly"] * 4]
    assert run.decide() == []
    run.complete("work-1", 4)
    # Live code does what dying code was refused.
    assert run.decide()[0] == "ScheduleActivityTask work-2"


@workflow
def cleans_up_plainly() -> int:
    COLOUR.set("blue")
    try:
        return work().result()
    finally:
        seen.append(f"finally in {COLOUR.get()}")
        try:
            work("clean-up").result()
        except flowpy.ReadOnly as error:
            told(error)


def test_plain_code_is_unwound_in_its_own_context() -> None:
    run = Driver(cleans_up_plainly, uses=(work,))
    run.decide()
    seen.clear()
    run.forget()
    assert seen == ["finally in blue", "ReadOnly"]


@workflow
async def spawns() -> None:
    async def one(name: str) -> None:
        try:
            await work(name)
        finally:
            seen.append(name)

    for name in "abc":
        asyncio.create_task(one(name))
    asyncio.create_task(one("d")).detach()  # type: ignore[attr-defined]
    await one("main")


def test_all_tasks_are_closed_detached_ones_too() -> None:
    run = Driver(spawns, uses=(work,))
    run.decide()
    seen.clear()
    run.forget()
    gc.collect()
    assert seen == ["main", "a", "b", "c", "d"]


@workflow
async def swallows() -> None:
    promise = work("x")
    while True:
        try:
            await promise
        except BaseException as error:
            told(error)


@workflow
async def swallows_and_calls_again() -> None:
    while True:
        try:
            await work("x")
        except BaseException as error:
            told(error)


@workflow
def swallows_plainly() -> None:
    promise = work("x")
    while True:
        try:
            promise.result()
        except BaseException as error:
            told(error)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("stubborn", [swallows, swallows_and_calls_again, swallows_plainly])
def test_code_that_refuses_to_die_is_kept_and_named(stubborn: Any, caplog: pytest.LogCaptureFixture) -> None:
    before = len(undead)
    run = Driver(stubborn, uses=(work,))
    with caplog.at_level(logging.ERROR):
        run.decide()
        run.forget()
    assert len(undead) > before
    assert "refuses to be closed" in caplog.text
    assert "test_eviction.py" in caplog.text or stubborn is swallows_plainly
    # It is still there after the collector came by, and still does not act.
    gc.collect()
    assert run.decide() == []


@workflow
async def logs() -> None:
    try:
        await work()
    finally:
        flowpy.logger.warning("dying")


def test_dying_code_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    run = Driver(logs, uses=(work,))
    run.decide()
    run.forget()
    assert "dying" not in caplog.text
    run.complete("work-1", 1)
    run.decide()
    run.finished()
    # Decided once by the decider and once by the run kept warm; replays add nothing.
    assert caplog.text.count("dying") == 2


@workflow
async def waits_on_finalisers() -> None:
    class Closing:
        def __del__(self) -> None:
            try:
                work("finalizer")
            except flowpy.FlowpyError as error:
                told(error)

    kept = Closing()
    await work()
    del kept
    gc.collect()
    await work()


def test_finalizers_decide_nothing() -> None:
    run = Driver(waits_on_finalisers, uses=(work,))
    run.decide()
    seen.clear()
    run.forget()
    assert set(seen) <= {"ReadOnly", "OutsideWorkflow", "NotInTask"}


def test_one_run_s_end_does_not_touch_another() -> None:
    first, second = Driver(cleans_up, uses=(work,)), Driver(cleans_up, uses=(work,))
    first.decide()
    second.decide()
    first.forget()
    gc.collect()
    second.complete("work-1", 2)
    assert second.decide()[0] == "ScheduleActivityTask work-2"

"""A run that waits for what never comes is reported at once: who waits for what, and where."""

from __future__ import annotations

import asyncio

import pytest

import flowpy
from flowpy import asynchronous, workflow
from flowpy.testing import Environment

from .shop import add, approval


@pytest.fixture
def swf():
    with Environment() as swf:
        yield swf


def report(run) -> str:
    with pytest.raises(flowpy.RunBlocked) as blocked:
        run.result()
    return str(blocked.value)


def first_line(function) -> int:
    return function.__code__.co_firstlineno


async def helper() -> bool:
    return await approval.receive()


@workflow
async def waiting() -> bool:
    return await helper()


@workflow
def plainly_waiting() -> bool:
    return deeper()


def deeper() -> bool:
    return approval.receive().result()


def test_it_names_the_signal_and_every_line_down_to_it(swf):
    lines = report(swf.start(waiting)).splitlines()

    assert lines[1:5] == [
        "workflow waiting ('waiting-1'):",
        "  main task (waiting) waits for signal approval",
        f"      tests/testing/test_blocked.py:{first_line(helper) + 1} in helper: return await approval.receive()",
        f"      tests/testing/test_blocked.py:{first_line(waiting.fn) + 2} in waiting: return await helper()",
    ]


def test_plain_workflows_too(swf):
    said = report(swf.start(plainly_waiting))

    assert "in plainly_waiting: return deeper()" in said
    assert "in deeper: return approval.receive().result()" in said


def test_it_takes_no_time(swf):
    run = swf.start(waiting)
    before = swf.now()
    report(run)
    assert swf.now() == before


def test_every_task_is_named(swf):
    @workflow
    async def several() -> None:
        never = asyncio.Event()

        async def one() -> None:
            await never.wait()

        async with asyncio.TaskGroup() as group:
            group.create_task(one(), name="first")
            group.create_task(helper(), name="second")

    said = report(swf.start(several))

    assert "task t1. (first) waits for asyncio's Event.wait" in said
    assert "task t2. (second) waits for signal approval" in said


def test_signals_of_another_name_are_told(swf):
    run = swf.start(waiting)
    run.signal("aproval", True)

    assert "signals not received: aproval" in report(run)


def test_a_child_that_waits_is_told_too(swf):
    @workflow
    async def asking() -> bool:
        return await waiting()

    said = report(swf.start(asking))

    assert "main task (asking) waits for child workflow asking-1.waiting-1." in said
    assert "main task (waiting) waits for signal approval" in said


def test_what_is_not_scheduled_yet_says_why(swf):
    @asynchronous
    async def later(yes: bool) -> int:
        return 1

    @workflow
    async def chained() -> int:
        return await add(later(approval.receive()))

    said = report(swf.start(chained))

    assert "activity add-1 (add 1.0), not scheduled: promises among its arguments are not ready" in said


def test_an_activity_that_never_ends_is_named(swf):
    @flowpy.activity(manual=True)
    def ask() -> str: ...

    @workflow
    async def asking() -> str:
        return await ask()

    swf.stub(ask, by=lambda: None)

    assert "main task (asking) waits for activity ask-1" in report(swf.start(asking))


def test_gathered_promises_are_listed(swf):
    @workflow
    async def both() -> None:
        await asyncio.gather(approval.receive(), flowpy.Signal("other").receive())

    assert "main task (both) waits for signal approval, signal other" in report(swf.start(both))


def test_a_run_that_waits_for_time_is_not_blocked(swf):
    @workflow
    async def dozing() -> str:
        try:
            await approval.receive(timeout="300d")
        except TimeoutError:
            return "slept"

    assert swf.run(dozing) == "slept"


def test_a_killed_worker_leaves_no_gap_in_the_report(swf):
    run = swf.start(waiting)
    swf.faults.kill_worker()
    assert "main task (waiting) waits for signal approval" in report(run)


def test_a_timer_that_comes_after_the_end_says_so(swf):
    @workflow(execution_start_to_close_timeout="10d")
    async def impatient() -> None:
        await flowpy.sleep("20d")

    said = report(swf.start(impatient))

    assert "timer timer-1 would fire at 2023-12-04 22:13:20, and the run times out at 2023-11-24 22:13:20" in said

"""Ids, resume order, divergence, suspended code (rows D*)."""

from __future__ import annotations

import asyncio
import decimal
import gc
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow
from flowpy.testing import replay

from .build import Run, schedule, start_timer, told

note = flowpy.Signal("note", str)


@activity
def step(name: str) -> str: ...


@activity
def step_a() -> str: ...


@activity
def step_b() -> str: ...


@activity
def step_c() -> str: ...


@activity(name="cleanup")
def tidy() -> str: ...


def test_d02_ids_of_gathered_activities_follow_the_calls() -> None:
    @workflow
    async def three() -> list:
        return await asyncio.gather(step_a(), step_b(), step_c())

    run = Run(three)
    assert run.decide() == [f"ScheduleActivityTask step_{x}-1" for x in "abc"]
    for x in "cab":
        run.completes(f"step_{x}-1", x)
    assert run.decide() == ['CompleteWorkflowExecution ["a", "b", "c"]']
    run.replays()


def test_d03_interleaved_coroutines_resume_in_the_order_of_events() -> None:
    log: list[str] = []

    @workflow
    async def interleaved() -> None:
        async def both(name: str) -> None:
            log.append(await step(name))
            log.append(await step(name))

        await asyncio.gather(both("x"), both("y"))

    run = Run(interleaved)
    run.decide()
    for activity_id in ("t2.step-1", "t1.step-1", "t2.step-2", "t1.step-2"):
        run.completes(activity_id, activity_id)
        log.clear()
        run.decide()
    assert log == ["t2.step-1", "t1.step-1", "t2.step-2", "t1.step-2"]
    run.replays()


def test_d04_timer_of_other_length_on_replay_is_one_warning() -> None:
    lengths = iter((10, 20))

    @workflow
    async def clocked() -> None:
        await flowpy.sleep(next(lengths))

    run = Run(clocked)
    run.decide()
    run.fires("timer-1")
    (warning,) = run.replays_with(clocked).warnings
    assert (warning.event_id, warning.what, warning.recorded, warning.made) == (5, "seconds", "10", "20")
    assert "timer-1" in str(warning)


def test_d06_completion_and_signal_of_one_decision_are_handled_one_at_a_time() -> None:
    @workflow
    async def both() -> list:
        log = []
        note.handler(log.append)
        log.append(await step("a"))
        log.append(await step("b"))
        return log

    run = Run(both)
    run.decide()
    run.completes("step-1", "a")
    run.signaled("note", "n")
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.completes("step-2", "b")
    assert run.decide() == ['CompleteWorkflowExecution ["a", "n", "b"]']
    run.replays()


def test_d07_suspended_code_decides_nothing_when_it_is_closed() -> None:
    @workflow
    async def guarded(name: str) -> str:
        try:
            return await step(name)
        finally:
            await tidy()

    run = Run(guarded, "a")
    run.begin()

    def first(_: int) -> list[str]:
        return [told(d) for d in replay(guarded, run.events, **run.ids).episodes[-1].decisions]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(first, range(200)))
    gc.collect()
    assert answers == [["ScheduleActivityTask step-1"]] * 200


def test_d10_honest_computing_before_the_first_await_is_no_deadlock() -> None:
    @workflow
    async def heavy() -> None:
        until = time.perf_counter() + 0.3
        while time.perf_counter() < until:
            pass
        await step("a")

    assert Run(heavy).decide() == ["ScheduleActivityTask step-1"]


def test_d11_sleep_of_nothing_only_yields_in_asyncio_and_is_a_timer_in_flowpy() -> None:
    @workflow
    async def sleeps() -> str:
        for k in (0, -1):
            await asyncio.sleep(k)
        try:
            flowpy.sleep(-1)
        except ValueError:
            await flowpy.sleep(0)
            await asyncio.sleep(0.4)
            return "slept"
        return "not refused"

    run = Run(sleeps)
    assert run.decide() == ["StartTimer timer-1 0"]
    run.fires("timer-1")
    assert run.decide() == ["StartTimer timer-2 1"]
    run.fires("timer-2")
    assert run.decide() == ['CompleteWorkflowExecution "slept"']
    run.replays()


def test_d12_diverged_run_is_held_and_gets_a_hold_timer_after_three_silences() -> None:
    from flowpy.replay.hold import hold_decision

    @workflow(name="timers")
    async def two_timers() -> None:
        await asyncio.gather(flowpy.sleep(10), flowpy.sleep(20))

    @workflow(name="timers")
    async def one_timer() -> None:
        await flowpy.sleep(10)

    run = Run(two_timers)
    run.decide()
    run.fires("timer-1")
    with pytest.raises(flowpy.NonDeterminismError):
        run.replays_with(one_timer)
    for _ in range(3):
        run.begin()
        assert hold_decision(run.events) is None
        run.decision_times_out()
    run.begin()
    assert told(hold_decision(run.events)) == "StartTimer flowpy.hold-1 60"


def test_d13_surplus_decision_is_named_with_the_decision_it_is_missing_from() -> None:
    @workflow(name="grown")
    async def before() -> None:
        await step("a")

    @workflow(name="grown")
    async def after() -> None:
        await asyncio.gather(step("a"), step("b"))

    run = Run(before)
    run.decide()
    run.completes("step-1")
    run.begin()
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        run.replays_with(after)
    assert "step-2" in str(caught.value)
    assert "4" in str(caught.value)


def test_d13_surplus_decision_is_named_though_the_history_ends_with_the_batch_it_is_missing_from() -> None:
    """So ends the history of every run that waits for a timer: SWF writes a batch whole or not at all."""

    @workflow(name="waits")
    async def before() -> None:
        await flowpy.sleep(3600)

    @workflow(name="waits")
    async def after() -> None:
        await asyncio.gather(flowpy.sleep(3600), step("b"))

    run = Run(before)
    run.decide()
    with pytest.raises(flowpy.NonDeterminismError, match="step-1"):
        run.replays_with(after)


def branches(count: int) -> Any:
    @workflow(name="branches")
    async def branches() -> int:
        async def one(i: int) -> None:
            await flowpy.sleep(i + 1)
            await step(str(i))

        await asyncio.gather(*(one(i) for i in range(count)))
        return count

    return branches


def test_d15_hundred_branches_decide_each_id_once() -> None:
    run = Run(branches(100))
    assert len(run.decide()) == 100
    for i in range(1, 101):
        run.fires(f"t{i}.timer-1")
    assert sorted(run.decide()) == sorted(f"ScheduleActivityTask t{i}.step-1" for i in range(1, 101))
    for i in range(100, 0, -1):
        run.completes(f"t{i}.step-1")
    assert run.decide() == ["CompleteWorkflowExecution 100"]
    run.replays()


def test_d15_more_than_a_hundred_decisions_go_out_in_two_answers() -> None:
    run = Run(branches(150))
    first = run.decide()
    assert (len(first), first[-1]) == (100, "StartTimer flowpy.again-1 0")
    run.fires("flowpy.again-1")
    assert run.decide() == [f"StartTimer t{i}.timer-1 {i}" for i in range(100, 151)]


def test_d16_first_two_of_five_are_the_same_on_replay() -> None:
    @workflow
    async def early() -> list:
        open_, winners = {step(n) for n in "abcde"}, []
        while len(winners) < 2:
            done, open_ = await asyncio.wait(open_, return_when=asyncio.FIRST_COMPLETED)
            winners += sorted(d.result() for d in done)
        return winners

    run = Run(early)
    run.decide()
    run.completes("step-4", "d")
    assert run.decide() == []
    run.completes("step-2", "b")
    assert run.decide() == []
    for i, name in ((1, "a"), (3, "c"), (5, "e")):
        run.completes(f"step-{i}", name)
    assert run.decide() == ['CompleteWorkflowExecution ["d", "b"]']
    run.replays()


def test_d17_ids_of_concurrent_retries_hang_on_their_calls() -> None:
    @activity(retry=flowpy.Retry(attempts=3, initial=2, jitter=0))
    def fetch(name: str) -> str: ...

    @workflow
    async def both() -> list:
        return await asyncio.gather(fetch("a"), fetch("b"))

    run = Run(both)
    run.decide()
    run.fails("fetch-2")
    assert run.decide() == ["StartTimer fetch-2.w2 2"]
    run.fails("fetch-1")
    assert run.decide() == ["StartTimer fetch-1.w2 2"]
    run.fires("fetch-2.w2")
    run.fires("fetch-1.w2")
    assert run.decide() == ["ScheduleActivityTask fetch-2.r2", "ScheduleActivityTask fetch-1.r2"]
    run.fails("fetch-1.r2")
    run.completes("fetch-2.r2", "B")
    assert run.decide() == ["StartTimer fetch-1.w3 4"]
    run.fires("fetch-1.w3")
    assert run.decide() == ["ScheduleActivityTask fetch-1.r3"]
    run.completes("fetch-1.r3", "A")
    assert run.decide() == ['CompleteWorkflowExecution ["A", "B"]']
    run.replays()


def test_d20_recorded_timer_the_code_no_longer_starts_is_named() -> None:
    @workflow
    async def timers() -> None:
        await flowpy.sleep(10)

    run = Run(timers)
    run.decided_elsewhere(start_timer("timer-1", 10), start_timer("timer-2", 20))
    run.fires("timer-1")
    run.begin()
    with pytest.raises(flowpy.NonDeterminismError, match="timer-2") as caught:
        run.replays_with(timers)
    assert "6" in str(caught.value)


def test_d20_recorded_activity_of_another_name_is_named_beside_the_codes() -> None:
    @workflow
    async def renamed() -> None:
        await step("a")

    run = Run(renamed)
    run.decided_elsewhere(schedule("old_step-1", "old_step", "a"))
    run.completes("old_step-1")
    run.begin()
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        run.replays_with(renamed)
    assert all(name in str(caught.value) for name in ("old_step-1", "step-1"))


def test_d21_ordinary_imports_work_in_workflow_code() -> None:
    @workflow
    async def importing() -> str:
        import dataclasses
        import json

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("quiet", stacklevel=1)
        point = dataclasses.make_dataclass("Point", ["x"])(decimal.Decimal("1.5"))
        await step(json.dumps(str(point.x)))
        return str(point.x)

    run = Run(importing)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1")
    assert run.decide() == ['CompleteWorkflowExecution "1.5"']

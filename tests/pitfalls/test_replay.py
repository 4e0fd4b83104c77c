"""Order of events, timed-out decisions, damaged histories, pages (rows R*)."""

from __future__ import annotations

import asyncio

import pytest

import flowpy
from flowpy import activity, workflow
from flowpy.testing import replay

from .build import Run

note = flowpy.Signal("note", str)


@activity
def step(name: str) -> str: ...


@workflow
async def one_step(name: str) -> str:
    return await step(name)


def test_r01_child_event_recorded_during_a_decision_comes_after_the_decisions_own_events() -> None:
    @workflow
    async def item(name: str) -> str: ...

    @workflow
    async def parent() -> list:
        a = item.options(workflow_id="A")("a")
        await a.started
        b, c = item.options(workflow_id="B")("b"), item.options(workflow_id="C")("c")
        return await asyncio.gather(a, b, c)

    run = Run(parent)
    run.decide()
    run.child_starts("A")
    run.begin()
    ended = run.child_completes("A", "a")
    assert run.decide() == ["StartChildWorkflowExecution B", "StartChildWorkflowExecution C"]
    started = run.child_starts("B")
    assert run.decide() == []
    assert run.replays().episodes[2].handles == [ended + 3, ended + 4, ended, started]


def test_r02_events_during_three_decisions_in_a_row_are_ordered_alike() -> None:
    @workflow
    async def rounds(count: int) -> list:
        log = []
        note.handler(log.append)
        for _ in range(count):
            a, b = step("a"), step("b")
            log.append(await a)
            log.append(await b)
        await step("last")
        return log

    run = Run(rounds, 3)
    run.decide()
    for i in range(1, 4):
        run.completes(f"step-{2 * i}", f"b{i}")
        run.begin()
        run.completes(f"step-{2 * i - 1}", f"a{i}")
        run.signaled("note", f"n{i}")
        assert run.decide() == []
        assert run.decide()[0] == f"ScheduleActivityTask step-{2 * i + 1}"
    run.completes("step-7")
    assert run.decide() == ['CompleteWorkflowExecution ["a1", "b1", "n1", "a2", "b2", "n2", "a3", "b3", "n3"]']
    run.replays()


def test_r03_event_landing_in_a_decision_schedules_the_next_before_this_one_completes() -> None:
    run = Run(one_step, "a")
    run.decide()
    run.starts("step-1")
    run.signaled("note", "x")
    run.begin()
    landed = run.completes("step-1", "A")
    assert run.decide() == []
    run.begin()
    scheduled = run.events[-1]["decisionTaskStartedEventAttributes"]["scheduledEventId"]
    assert scheduled < run.events[-2]["eventId"]
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    assert run.replays().episodes[-1].handles == [landed]


def test_r04_clock_after_a_timed_out_decision_is_that_of_the_retry() -> None:
    @workflow
    async def clock() -> list:
        before = asyncio.get_running_loop().time()
        await step("a")
        return [before, asyncio.get_running_loop().time()]

    run = Run(clock)
    first = run.begin()
    run.decide()
    run.completes("step-1")
    run.decision_times_out()
    run.signaled("note", "x")
    second = run.begin()
    times = [run.events[i - 1]["eventTimestamp"] for i in (first, second)]
    assert run.decide() == [f"CompleteWorkflowExecution {times}"]
    run.replays()


def test_r07_event_that_links_to_nothing_is_a_typed_error() -> None:
    run = Run(one_step, "a")
    run.decide()
    run.completes("step-1")
    run.begin()
    scheduled = next(e for e in run.events if e["eventType"] == "ActivityTaskScheduled")
    run.events.remove(scheduled)
    damaged = [{**e, "eventId": i} for i, e in enumerate(run.events, 1)]
    with pytest.raises((flowpy.HistoryError, flowpy.NonDeterminismError), match=r"\d"):
        replay(one_step, damaged, **run.ids)


def test_r09_several_events_before_one_decision_are_all_delivered_in_order() -> None:
    @workflow
    async def four() -> list:
        log = []

        async def one(name: str) -> None:
            try:
                await step(name)
            except flowpy.ActivityFailed as error:
                log.append(f"{error.id} {error.type}")

        await asyncio.gather(*(one(n) for n in "abcd"))
        return log

    run = Run(four)
    run.decide()
    for i, kind in ((3, "C"), (1, "A"), (4, "D"), (2, "B")):
        run.fails(f"t{i}.step-1", kind)
    assert run.decide() == ['CompleteWorkflowExecution ["t3.step-1 C", "t1.step-1 A", "t4.step-1 D", "t2.step-1 B"]']
    run.replays()


def test_r11_is_replaying_is_true_exactly_while_decided_episodes_run_again() -> None:
    seen: list[bool] = []

    @workflow
    async def two_steps() -> None:
        for name in "ab":
            seen.append(flowpy.is_replaying())
            await step(name)
            seen.append(flowpy.is_replaying())

    def decided(run: Run) -> list[bool]:
        seen.clear()
        run.decide()
        return list(seen)

    run = Run(two_steps)
    run.decision_times_out()
    assert decided(run) == [False]
    run.completes("step-1")
    run.decision_times_out()
    assert decided(run) == [True, False, False]
    run.completes("step-2")
    assert decided(run) == [True, True, True, False]


def test_r14_history_in_pages_is_read_to_its_end() -> None:
    @workflow
    async def steps(count: int) -> int:
        for _ in range(count):
            await step("x")
        return count

    run = Run(steps, 40)
    run.decide()
    for i in range(1, 41):
        run.completes(f"step-{i}", "x")
        run.decide()
    assert len(run.events) > 200
    whole = [e.decisions for e in run.replays().episodes]
    pages = [{"events": run.events[i : i + 100], "nextPageToken": f"page-{i}"} for i in range(0, len(run.events), 100)]
    del pages[-1]["nextPageToken"]
    assert [e.decisions for e in replay(steps, pages, **run.ids).episodes] == whole
    with pytest.raises(flowpy.HistoryError, match="token"):
        replay(steps, pages[:-1], **run.ids)


def test_r16_start_of_the_code_runs_once_though_the_first_decision_timed_out() -> None:
    begun = []

    @workflow
    async def starting() -> None:
        begun.append(flowpy.now())
        await step("a")

    run = Run(starting)
    run.decision_times_out()
    assert run.decide() == ["ScheduleActivityTask step-1"]
    assert len(begun) == 1
    run.replays()


def test_r17_failed_external_cancel_touches_no_activity() -> None:
    @workflow
    async def stopping() -> list:
        asked = flowpy.external("other").cancel()
        work = step("a")
        try:
            await asked
        except flowpy.ExternalCancelFailed as error:
            return [error.cause, await work]
        return []

    run = Run(stopping)
    assert run.decide() == [
        "RequestCancelExternalWorkflowExecution cancel-1 to other",
        "ScheduleActivityTask step-1",
    ]
    run.not_passed_on("cancel-1")
    assert run.decide() == []
    run.completes("step-1", "A")
    assert run.decide() == ['CompleteWorkflowExecution ["UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION", "A"]']
    run.replays()

"""Patches, versions and code that changes under running executions (rows V*)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow

from .build import Run, schedule, start_timer

go = flowpy.Signal("go")


@activity
def load(i: int) -> int: ...


@activity
def load_bulk(i: int) -> int: ...


@activity
def totals() -> int: ...


def test_v01_patch_asked_in_a_loop_has_one_answer_for_the_whole_run() -> None:
    @workflow
    async def imports() -> int:
        for i in range(3):
            await (load_bulk(i) if flowpy.patched("bulk") else load(i))
        return 0

    old = Run(imports)
    old.decided_elsewhere(schedule("load-1", "load", 0))
    for n in (2, 3):
        old.completes(f"load-{n - 1}", 0)
        assert old.decide() == [f"ScheduleActivityTask load-{n}"]

    new = Run(imports)
    assert new.decide() == ["RecordMarker flowpy.patch bulk", "ScheduleActivityTask load_bulk-1"]
    new.completes("load_bulk-1", 0)
    assert new.decide() == ["ScheduleActivityTask load_bulk-2"]
    new.completes("load_bulk-2", 0)
    new.decide()
    new.replays()


def summing(ask: bool, otherwise: bool = True) -> Any:
    @workflow(name="summing")
    async def summing() -> int:
        await load(0)
        if flowpy.patched("totals") if ask else otherwise:
            return await totals()
        await go.receive()
        return 0

    return summing


def test_v02_marker_nobody_asks_for_is_no_divergence() -> None:
    run = Run(summing(ask=True))
    run.decide()
    run.completes("load-1", 0)
    assert run.decide() == ["RecordMarker flowpy.patch totals", "ScheduleActivityTask totals-1"]
    run.completes("totals-1", 7)
    assert run.decide() == ["CompleteWorkflowExecution 7"]
    run.replays()
    assert run.replays_with(summing(ask=False)).result == 7
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        run.replays_with(summing(ask=False, otherwise=False))
    assert "totals-1" in str(caught.value)
    assert "flowpy.patch" in str(caught.value) or "patched" in str(caught.value)


def test_v02_batch_of_markers_only_ends_with_a_timer_that_wakes_the_run() -> None:
    @workflow
    async def asking() -> bool:
        answer = flowpy.patched("x")
        await go.receive()
        return answer

    run = Run(asking)
    assert run.decide() == ["RecordMarker flowpy.patch x", "StartTimer flowpy.again-1 0"]
    run.fires("flowpy.again-1")
    assert run.decide() == []
    run.signaled("go")
    assert run.decide() == ["CompleteWorkflowExecution true"]
    run.replays()


def test_v03_patch_beside_a_cancelled_timer_is_matched_wherever_it_stands() -> None:
    @workflow
    async def mixed() -> int:
        timer = flowpy.sleep(60)
        await go.receive()
        timer.cancel()
        return await (load(1) if flowpy.patched("x") else load(2))

    run = Run(mixed)
    run.decide()
    run.signaled("go")
    assert run.decide() == ["CancelTimer timer-1", "RecordMarker flowpy.patch x", "ScheduleActivityTask load-1"]
    run.completes("load-1", 1)
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.replays()


def test_v05_decision_tasks_answered_with_a_hold_timer_never_happened_for_the_code() -> None:
    @workflow
    async def fulfil() -> list:
        await load(0)
        await load(1)
        return [flowpy.now().timestamp()]

    run = Run(fulfil)
    run.decide()
    run.completes("load-1", 0)
    run.decision_times_out()
    run.decided_elsewhere(start_timer("flowpy.hold-1", 60))
    run.signaled("flowpy.wake")
    run.decided_elsewhere(start_timer("flowpy.hold-2", 120))
    run.fires("flowpy.hold-1")
    assert run.decide() == ["ScheduleActivityTask load-2"]
    run.fires("flowpy.hold-2")
    assert run.decide() == []
    run.completes("load-2", 0)
    begun = run.begin()
    assert run.decide() == [f"CompleteWorkflowExecution [{run.events[begun - 1]['eventTimestamp']}]"]
    run.replays()


@pytest.mark.parametrize(
    "context",
    [None, "", "component-version=1.2", '{"versions": {"a": 1}}', '{"flowpy": 1, "python": "3.12"}', "[1", "7"],
)
def test_v06_execution_context_of_any_form_is_read_without_an_error(context: str | None) -> None:
    @workflow
    async def loading() -> int:
        return await load(1)

    run = Run(loading)
    recorded = {} if context is None else {"executionContext": context}
    run.decided_elsewhere(*run.offered(), **recorded)
    run.completes("load-1", 1)
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.replays()


def test_v08_run_without_a_contract_version_keeps_the_order_of_version_one() -> None:
    @workflow
    async def ordered() -> list:
        log: list = []
        flowpy.Signal("note", str).handler(log.append)
        log.append(await load(0))
        log.append(await load(1))
        return log

    closes = []
    for context in (None, json.dumps({"flowpy": 1, "python": "3.11", "state": None})):
        run = Run(ordered)
        run.decided_elsewhere(*run.offered(), **({"executionContext": context} if context else {}))
        run.completes("load-1", 1)
        run.signaled("note", "n")
        run.decide()
        run.completes("load-2", 2)
        closes.append(run.decide())
        run.replays()
    assert closes == [['CompleteWorkflowExecution [1, "n", 2]']] * 2


def test_v10_two_versions_of_an_activity_live_in_one_workflow() -> None:
    def convert(text: str) -> str: ...

    old, new = (activity(name="convert", version=v)(convert) for v in ("1.0", "2.0"))

    @workflow
    async def migrating() -> list:
        return [await old("a"), await new("b")]

    run = Run(migrating)
    run.decide()
    run.completes("convert-1", "A")
    (decision,) = run.offered()
    types = decision["scheduleActivityTaskDecisionAttributes"]["activityType"]
    assert types == {"name": "convert", "version": "2.0"}
    run.decide()
    run.completes("convert-2", "B")
    assert run.decide() == ['CompleteWorkflowExecution ["A", "B"]']
    run.replays()

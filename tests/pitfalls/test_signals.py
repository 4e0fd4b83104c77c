"""Signals received and sent (rows S*)."""

from __future__ import annotations

import logging

import pytest

import flowpy
from flowpy import activity, workflow

from .build import Run

item = flowpy.Signal("item", str)
price = flowpy.Signal("price", int)


@activity
def step(name: str) -> str: ...


@activity
def audit(line: str) -> str: ...


def test_s01_handler_has_the_context_of_a_workflow_and_ids_of_its_own() -> None:
    @workflow
    async def handling() -> str:
        @item.handler
        async def on_item(name: str) -> None:
            flowpy.logger.info("got %s", name)
            info = flowpy.info()
            await audit(f"{info.workflow_id} {name} {flowpy.now().timestamp()}")

        return await step("a")

    run = Run(handling, workflow_id="w-9")
    run.decide()
    run.signaled("item", "x")
    begun = run.begin()
    (decision,) = run.offered()
    clock = run.events[begun - 1]["eventTimestamp"]
    assert decision["scheduleActivityTaskDecisionAttributes"]["input"] == f'["w-9 x {clock}"]'
    assert run.decide() == ["ScheduleActivityTask s1.audit-1"]
    run.signaled("item", "y")
    assert run.decide() == ["ScheduleActivityTask s2.audit-1"]
    for activity_id in ("s2.audit-1", "step-1", "s1.audit-1"):
        run.completes(activity_id, "A")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    run.replays()


def test_s03_signals_before_and_during_the_first_decision_are_both_kept() -> None:
    @workflow
    async def inbox() -> list:
        return [await step(await item.receive()) for _ in range(2)]

    run = Run(inbox)
    first = run.signaled("item", "first")
    run.begin()
    second = run.signaled("item", "second")
    assert run.decide() == ["ScheduleActivityTask step-1"]
    assert run.decide() == []
    run.completes("step-1", "F")
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.completes("step-2", "S")
    assert run.decide() == ['CompleteWorkflowExecution ["F", "S"]']
    episodes = run.replays().episodes
    assert episodes[0].handles == [1, first]
    assert episodes[1].handles[-1] == second


def test_s05_signals_of_one_name_queue() -> None:
    @workflow
    async def three() -> list:
        return [await item.receive() for _ in range(3)]

    run = Run(three)
    run.decide()
    run.signaled("item", "a")
    run.signaled("item", "b")
    assert run.decide() == []
    run.signaled("item", "c")
    assert run.decide() == ['CompleteWorkflowExecution ["a", "b", "c"]']
    run.replays()


def test_s06_two_signals_to_one_workflow_are_sent_once_each() -> None:
    @workflow
    async def telling() -> str:
        other = flowpy.external("other")
        sent = other.signal(price, 1), other.signal(price, 2)
        await step("a")
        for promise in sent:
            await promise
        return await step("b")

    run = Run(telling)
    assert run.decide() == [
        "SignalExternalWorkflowExecution signal-1 to other",
        "SignalExternalWorkflowExecution signal-2 to other",
        "ScheduleActivityTask step-1",
    ]
    run.passed_on("signal-2")
    assert run.decide() == []
    run.completes("step-1")
    assert run.decide() == []
    run.passed_on("signal-1")
    assert run.decide() == ["ScheduleActivityTask step-2"]
    run.completes("step-2", "B")
    assert run.decide() == ['CompleteWorkflowExecution "B"']
    run.replays()


def test_s08_signal_that_made_the_close_fail_is_handled_before_the_next_close() -> None:
    seen: list[str] = []

    @workflow
    async def closing() -> str:
        item.handler(seen.append)
        return await step("a")

    run = Run(closing)
    run.decide()
    run.completes("step-1", "A")
    run.begin()
    run.signaled("item", "late")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    seen.clear()
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    assert seen == ["late"]
    assert run.replays().result == "A"


def test_s08_close_is_sent_again_as_often_as_it_is_refused_and_after_late_work() -> None:
    @workflow
    async def closing() -> str:
        @item.handler
        def on_item(name: str) -> None:
            audit(name)

        return "done"

    run = Run(closing)
    run.begin()
    run.signaled("item", "x")
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    assert run.decide() == ["ScheduleActivityTask s1.audit-1"]
    run.completes("s1.audit-1")
    run.begin()
    run.signaled("other")
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    assert run.decide() == ['CompleteWorkflowExecution "done"']
    run.replays()


def test_s10_throttled_signal_is_a_typed_error_and_not_sent_again() -> None:
    @workflow
    async def telling() -> str:
        try:
            await flowpy.external("other").signal(price, 1)
        except flowpy.ExternalSignalFailed as error:
            return error.cause
        return "sent"

    run = Run(telling)
    run.decide()
    run.not_passed_on("signal-1", "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED")
    expected = 'CompleteWorkflowExecution "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED"'
    assert run.decide() == [expected]
    run.replays()


def test_s11_outcomes_reach_their_own_requests() -> None:
    @workflow
    async def three() -> list:
        asked = [
            flowpy.external("a").signal(price, 1),
            flowpy.external("b").cancel(),
            flowpy.external("c").signal(price, 2),
        ]
        out = []
        for promise in asked:
            try:
                out.append(await promise)
            except flowpy.DecisionFailed as error:
                out.append(error.id)
        return out

    run = Run(three)
    run.decide()
    run.not_passed_on("signal-2")
    run.passed_on("signal-1")
    run.not_passed_on("cancel-1")
    assert run.decide() == ['CompleteWorkflowExecution [null, "cancel-1", "signal-2"]']
    run.replays()


def test_s13_signal_nobody_receives_is_named_in_one_warning_at_the_close(caplog: pytest.LogCaptureFixture) -> None:
    @workflow
    async def deaf() -> str:
        return await step("a")

    run = Run(deaf)
    run.decide()
    run.starts("step-1")
    run.signaled("unexpected", "x")
    run.begin()
    run.completes("step-1", "A")
    assert run.decide() == []
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert run.decide() == ['CompleteWorkflowExecution "A"']
    assert len([r for r in caplog.records if "unexpected" in r.getMessage()]) == 1
    run.replays()

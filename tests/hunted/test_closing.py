"""The end of a run: closes that are refused, what is judged once, and what a marker that was lost leaves of a run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.pitfalls.build import Run, told

import flowpy
from flowpy import execute, signal, workflow
from flowpy.testing import replay

from .declared import flaky, item, ship, step, tidy
from .played import Case, play, replays_in_every_way, table


@workflow
async def telling() -> int:
    flowpy.external("other").signal("go", 1)
    return 1


@workflow
async def late_starter() -> int:
    @item.handler
    async def start(value: Any) -> None:
        step(value)

    return 1


@workflow
async def late_failure() -> int:
    @item.handler
    async def fail(value: Any) -> None:
        raise KeyError(value)

    return 1


@workflow
async def failing() -> None:
    @item.handler
    async def work(value: Any) -> None:
        await step(value)

    await tidy()
    raise ValueError("x")


@workflow
async def told_off() -> int:
    timer = flowpy.sleep(10)
    await step()
    timer.cancel()
    return 1


@table(
    (
        telling,
        """
        begin
        signaled other
        > SignalExternalWorkflowExecution signal-1 to other | CompleteWorkflowExecution 1
        not_passed_on signal-1
        > CompleteWorkflowExecution 1
        """,
    ),
    (
        late_starter,
        """
        begin
        signaled item
        > CompleteWorkflowExecution 1
        > ScheduleActivityTask s1.step-1
        fails s1.step-1
        > CompleteWorkflowExecution 1
        """,
    ),
    (
        late_failure,
        """
        begin
        signaled item "k"
        > CompleteWorkflowExecution 1
        > FailWorkflowExecution KeyError: 'k'
        """,
    ),
    (late_failure, "begin\n cancel_requested\n > CompleteWorkflowExecution 1\n > CompleteWorkflowExecution 1"),
    (
        failing,
        """
        > ScheduleActivityTask tidy-1
        completes tidy-1
        begin
        signaled item 1
        > FailWorkflowExecution ValueError: x
        > ScheduleActivityTask s1.step-1
        completes s1.step-1
        > FailWorkflowExecution ValueError: x
        """,
    ),
    (
        told_off,
        """
        > StartTimer timer-1 10 | ScheduleActivityTask step-1
        completes step-1
        > CancelTimer timer-1 | CompleteWorkflowExecution 1 !! timer-1 TIMER_ID_UNKNOWN
        > CompleteWorkflowExecution 1
        """,
    ),
)
def test_refused_close_is_sent_again_as_it_was_unless_a_handler_fails(case: Case) -> None:
    """What nobody observed is judged when the run is about to close, not once more after that."""
    play(case)


@workflow
async def continuing(n: Any = 0) -> None:
    flowpy.continue_as_new(step(n))


@workflow
async def accompanied(n: int = 0) -> None:
    async def accompany() -> None:
        await step("beside")

    asyncio.create_task(accompany())
    await tidy()
    flowpy.continue_as_new.options(tag_list=["x"])(n + 1)


@workflow
class Adder:
    def __init__(self) -> None:
        self.seen: list[int] = []

    @signal
    def add(self, value: int) -> None:
        self.seen.append(value)

    @execute
    def work(self, n: int = 0) -> None:
        flowpy.sleep(5).result()
        flowpy.continue_as_new(n + sum(self.seen))


@table(
    (continuing, "> ScheduleActivityTask step-1\n completes step-1 5\n > ContinueAsNewWorkflowExecution [5]"),
    (
        continuing,
        """
        > ScheduleActivityTask step-1
        cancel_requested
        > RequestCancelActivityTask step-1
        canceled step-1
        > CancelWorkflowExecution
        """,
    ),
    (
        accompanied,
        """
        > ScheduleActivityTask tidy-1 | ScheduleActivityTask t1.step-1
        completes tidy-1
        >
        completes t1.step-1
        begin
        signaled item "é"
        > ContinueAsNewWorkflowExecution [1]
        > ContinueAsNewWorkflowExecution {"args": [1], "signals": [{"name": "item", "input": "\\"\\\\u00e9\\""}]}
        """,
    ),
    (
        Adder,
        """
        signaled add 3
        > StartTimer timer-1 5
        fires timer-1
        signaled add 4
        > ContinueAsNewWorkflowExecution [3]
        """,
    ),
)
def test_continuing_waits_for_what_it_needs_and_takes_signals_along(case: Case) -> None:
    play(case)


@workflow
async def given_ids() -> list[Any]:
    first = step.options(activity_id="step-2")("a")
    refused = []
    try:
        step("b")
    except flowpy.DuplicateId as error:
        refused.append(type(error).__name__)
    return [*refused, await step("c"), await first]


@workflow
async def given_attempt() -> list[Any]:
    promise = flaky("a")
    other = step.options(activity_id="flaky-1.r2")("b")
    try:
        await promise
    except flowpy.DuplicateId as error:
        return [type(error).__name__, await other]
    return []


@workflow
async def one_id() -> int:
    promises = step.options(activity_id="x")(), flowpy.sleep(5, timer_id="x"), ship.options(workflow_id="x")()
    await asyncio.gather(*promises)
    return 0


@table(
    (
        given_ids,
        """
        > ScheduleActivityTask step-2 | ScheduleActivityTask step-3
        completes step-3 3
        completes step-2 2
        > CompleteWorkflowExecution ["DuplicateId", 3, 2]
        """,
    ),
    (
        given_attempt,
        """
        > ScheduleActivityTask flaky-1 | ScheduleActivityTask flaky-1.r2
        fails flaky-1
        > StartTimer flaky-1.w2 10
        fires flaky-1.w2
        >
        completes flaky-1.r2 1
        > CompleteWorkflowExecution ["DuplicateId", 1]
        """,
    ),
    (
        one_id,
        """
        > ScheduleActivityTask x | StartTimer x 5 | StartChildWorkflowExecution x
        completes x
        fires x
        child_completes x 1
        > CompleteWorkflowExecution 0
        """,
    ),
)
def test_given_ids_that_could_be_generated_ones(case: Case) -> None:
    play(case)


@workflow
async def catching() -> str:
    try:
        await flaky()
    except flowpy.DecisionFailed as error:
        return f"{error.cause} {error.id}"
    return ""


@table(
    (
        catching,
        """
        > ScheduleActivityTask flaky-1 !! flaky-1 ACTIVITY_TYPE_DEPRECATED
        > CompleteWorkflowExecution "ACTIVITY_TYPE_DEPRECATED flaky-1"
        """,
    ),
    (
        catching,
        """
        > ScheduleActivityTask flaky-1
        fails flaky-1
        > StartTimer flaky-1.w2 10 !! flaky-1.w2 TIMER_CREATION_RATE_EXCEEDED
        > CompleteWorkflowExecution "TIMER_CREATION_RATE_EXCEEDED flaky-1.w2"
        """,
    ),
    (
        catching,
        """
        > ScheduleActivityTask flaky-1
        times_out flaky-1 HEARTBEAT
        > StartTimer flaky-1.w2 10
        fires flaky-1.w2
        > ScheduleActivityTask flaky-1.r2 !! flaky-1.r2 A_CAUSE_OF_TOMORROW
        > CompleteWorkflowExecution "A_CAUSE_OF_TOMORROW flaky-1.r2"
        """,
    ),
)
def test_refused_decisions_of_a_retry_end_it(case: Case) -> None:
    play(case)


@workflow
async def marking() -> Any:
    promise = step()
    value = flowpy.side_effect(lambda: 1)
    flowpy.sleep(60)
    return [value, await promise]


def test_run_that_lost_a_marker_shows_what_was_decided_and_what_is_decided_now() -> None:
    """No replay can run the code through that batch: its decisions are those that history repeats."""
    effect = "flowpy.side_effect effect-1"
    run = Run(marking)
    first = ["ScheduleActivityTask step-1", f"RecordMarker {effect}", "StartTimer timer-1 60"]
    assert run.decide(refused={effect: "OPERATION_NOT_PERMITTED"}) == first
    run.begin()
    run.signaled("other")
    (failure,) = run.decide()
    assert failure.startswith("FailWorkflowExecution MarkerFailed")
    assert run.decide() == [failure]
    replays_in_every_way(run)


@workflow
async def noting() -> list[Any]:
    notes: list[Any] = []

    @item.handler
    def keep(value: Any) -> None:
        notes.append(value)

    notes.append(await step())
    return notes


def test_decision_task_that_nobody_took_from_its_own_list() -> None:
    run = Run(noting)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1", 1)
    waiting, run._waiting = run._waiting, None
    run._add("DecisionTaskTimedOut", timeoutType="SCHEDULE_TO_START", scheduledEventId=waiting, startedEventId=0)
    run._schedule()
    run.signaled("item", 2)
    assert run.decide() == ["CompleteWorkflowExecution [1, 2]"]
    replays_in_every_way(run)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("how", ["WorkflowExecutionTerminated", "WorkflowExecutionTimedOut"])
def test_run_that_is_ended_from_outside_replays_to_its_last_decision(how: str, begun: bool) -> None:
    run = Run(noting)
    run.decide()
    run.completes("step-1")
    if begun:
        run.begin()
    run._add(how, childPolicy="TERMINATE", **({"timeoutType": "START_TO_CLOSE"} if "Timed" in how else {}))
    assert run.replays().closed == how


def test_history_of_another_type_is_named_as_such() -> None:
    run = Run(noting)
    run.decide()

    @workflow(version="2.0")
    async def notting() -> None:
        await tidy()

    with pytest.raises(flowpy.NonDeterminismError) as raised:
        replay(notting, run.events, **run.ids)
    assert "type      the history is of workflow noting 1.0: give that type's code" in str(raised.value)
    assert raised.value.divergence.recorded_workflow == ("noting", "1.0")
    assert [one.what for one in raised.value.divergence.history] == ["ScheduleActivityTask(step-1: step 1.0)"]
    assert told(replay(noting, run.events, **run.ids).episodes[0].decisions[0]) == "ScheduleActivityTask step-1"

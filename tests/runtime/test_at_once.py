"""Activities that are matched with history as the code makes them: what the code sees and sends is as without it."""

from __future__ import annotations

from typing import Any

import pytest

import flowpy
from flowpy import Signal, activity, workflow
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.runtime.run import Run

from .driver import Driver

GO = Signal("go")


@activity
def work(name: str = "") -> int: ...


def replayed(code: Any, run: Driver) -> list[str]:
    """What other code of the same type decides now, on the history so far."""
    task = DecisionTask("w", run.run_id, (run.workflow.name, run.workflow.version), run.events, domain="shop")
    return [each["decisionType"] for each in Decider([code]).decide(task).decisions]


@workflow(name="collides")
async def collides() -> str:
    first = work("one")
    await GO.receive()
    try:
        await work.options(activity_id="work-1")("two")
    except flowpy.DuplicateId:
        await first
        return "refused"
    return "made twice"


def test_an_id_that_is_open_is_refused_although_history_had_it_at_once() -> None:
    run = Driver(collides, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask work-1"]
    run.signal("go")
    assert run.decide() == []
    run.complete("work-1", 1)
    assert run.decide() == ['CompleteWorkflowExecution "refused"']
    assert run.finished() == "refused"


@workflow(name="again")
async def same_id_again() -> int:
    first = work.options(activity_id="it")("a")
    first.cancel()
    second = work.options(activity_id="it")("a")
    beside = work("b")
    await GO.receive()
    return await second + await beside


def test_an_id_given_back_before_it_was_sent_is_that_of_the_next() -> None:
    run = Driver(same_id_again, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask it", "ScheduleActivityTask work-3"]
    run.signal("go")
    run.decide()
    run.complete("it", 1)
    run.complete("work-3", 2)
    run.decide()
    assert run.finished() == 3


@workflow(name="unmade")
async def unmakes_one() -> int:
    work("never sent").cancel()
    return await work("sent") + await work("too")


def test_what_was_cancelled_before_it_was_sent_is_in_no_history() -> None:
    run = Driver(unmakes_one, uses=(work,))
    assert run.decide() == ["ScheduleActivityTask work-2"]
    assert run.to_the_end() == 2


@workflow(name="two")
async def makes_two() -> int:
    first, second = work("a"), work("b")
    await GO.receive()
    return await first + await second


@workflow(name="two")
async def makes_the_first_and_unmakes_another() -> int:
    first = work("a")
    work.options(activity_id="other")("b").cancel()
    await GO.receive()
    return await first


@workflow(name="two")
async def in_another_order() -> int:
    second = work.options(activity_id="work-2")("b")
    first = work.options(activity_id="work-1")("a")
    await GO.receive()
    return await first + await second


@workflow(name="two")
async def cancels_what_is_recorded() -> int:
    first, second = work("a"), work("b")
    second.cancel()
    await GO.receive()
    return await first


def test_order_in_a_batch_does_not_count() -> None:
    run = Driver(makes_two, uses=(work,))
    run.decide()
    run.signal("go")
    run.begin()
    assert replayed(in_another_order, run) == []


@pytest.mark.parametrize(
    ("code", "id"), [(makes_the_first_and_unmakes_another, "work-2"), (cancels_what_is_recorded, "work-2")]
)
def test_a_recorded_decision_that_is_not_made_or_unmade_is_a_divergence(code: Any, id: str) -> None:
    run = Driver(makes_two, uses=(work,))
    run.decide()
    run.signal("go")
    run.begin()
    with pytest.raises(flowpy.NonDeterminismError, match=id):
        replayed(code, run)


def test_feeding_nothing_new_matches_nothing_again() -> None:
    run = Driver(makes_two, uses=(work,))
    run.decide()
    run.signal("go")
    events = list(run.events)
    live = Run(makes_two, "w", run.run_id, domain="shop")
    live.feed(events[:3])
    for end in (6, 7, len(events)):
        live.feed(events[live.episodes.last_event_id : end])
        live.feed([])
    live.evict()


@workflow(name="huge")
async def sends_a_huge_number() -> str:
    try:
        work(10**5000)  # type: ignore[arg-type] # a number with more digits than Python writes
    except flowpy.PayloadNotEncodable as error:
        return str(error)
    return "sent"


def test_a_number_that_cannot_be_written_is_an_error_that_names_the_argument() -> None:
    run = Driver(sends_a_huge_number, uses=(work,))
    run.decide()
    assert "argument 'name' of work()" in run.finished()

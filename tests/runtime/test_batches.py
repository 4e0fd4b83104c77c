"""CONTRACTS §4: answers of at most 100 decisions, quotas of 1,000, markers, and the close that waits for all."""

from __future__ import annotations

import json

import flowpy
from flowpy import activity, workflow

from .driver import Driver


@activity
def work(number: int = 0) -> int: ...


@workflow
async def fans_out(count: int) -> int:
    return len(await flowpy.all_of(work(number) for number in range(count)))


def test_what_does_not_fit_into_one_answer_goes_out_in_the_next_ones() -> None:
    run = Driver(fans_out, 250, uses=(work,))
    first = run.decide()
    assert (len(first), first[-1]) == (100, "StartTimer flowpy.again-1 0")
    run.advance(0)
    second = run.decide()
    assert (len(second), second[-1]) == (100, "StartTimer flowpy.again-2 0")
    run.advance(0)
    assert run.decide() == [f"ScheduleActivityTask work-{n}" for n in range(199, 251)]
    for id in run.take():
        run.complete(id, 1)
    assert run.decide() == ["CompleteWorkflowExecution 250"]
    run.finished()


def test_exactly_a_hundred_need_no_second_answer() -> None:
    run = Driver(fans_out, 100, uses=(work,))
    assert len(run.decide()) == 100
    assert run.decide() == []


def test_beyond_a_thousand_open_ones_the_rest_waits_for_places() -> None:
    run = Driver(fans_out, 1_030, uses=(work,))
    for _ in range(11):
        run.decide()
        run.advance(0)
    scheduled = run.types.count("ActivityTaskScheduled")
    assert scheduled == 1_000
    assert "ScheduleActivityTaskFailed" not in run.types
    for id in run.take()[:25]:
        run.complete(id, 1)
    assert run.decide() == [f"ScheduleActivityTask work-{n}" for n in range(1_001, 1_026)]
    while (taken := run.take()) or run.decide():
        for id in taken:
            run.complete(id, 1)
        run.decide()
    assert run.finished() == 1_030


@workflow
async def marks(count: int) -> list[int]:
    return [flowpy.side_effect(lambda n=number: n) for number in range(count)]


@workflow
async def only_marks() -> None:
    flowpy.side_effect(int)
    await flowpy.Signal("never").receive()


def test_a_batch_of_markers_only_wakes_the_run_itself() -> None:
    run = Driver(only_marks)
    assert [each.split()[0] for each in run.decide()] == ["RecordMarker", "StartTimer"]
    run.advance(0)
    assert run.decide() == []


def test_markers_are_sent_first_and_the_close_last_of_all() -> None:
    @workflow
    async def marks_late() -> int:
        promises = [work(number) for number in range(120)]
        value = flowpy.side_effect(lambda: 7)
        for promise in promises:
            promise.detach()
        return value

    run = Driver(marks_late, uses=(work,))
    first = run.decide()
    assert len(first) == 100
    assert first[-2].startswith("RecordMarker")
    run.advance(0)
    second = run.decide()
    assert (len(second), second[-1]) == (23, "CompleteWorkflowExecution 7")
    run.finished()


def test_many_markers_and_a_result() -> None:
    run = Driver(marks, 150)
    assert len(run.decide()) == 100
    run.advance(0)
    assert len(run.decide()) == 52
    assert run.finished() == list(range(150))


def test_what_waits_in_the_outbox_and_is_cancelled_is_never_sent() -> None:
    @workflow
    async def regrets() -> str:
        promises = [work(number) for number in range(150)]
        await flowpy.Signal("stop").receive()
        for promise in promises[100:]:
            promise.cancel()
        for promise in promises[:100]:
            promise.detach()
        return "done"

    run = Driver(regrets, uses=(work,))
    run.decide()
    run.signal("stop")
    run.advance(0)
    assert run.decide() == ["ScheduleActivityTask work-100", 'CompleteWorkflowExecution "done"']
    run.finished()


def test_a_batch_keeps_to_its_bytes() -> None:
    @activity
    def store(text: str) -> int: ...

    @workflow
    async def stores() -> int:
        return len(await flowpy.all_of(store("x" * 30_000) for _ in range(40)))

    run = Driver(stores, uses=(store,))
    first = run.decide()
    assert first[-1] == "StartTimer flowpy.again-1 0"
    assert len(first) == 30
    run.advance(0)
    assert len(run.decide()) == 11


def test_the_context_goes_out_with_the_first_answer_and_when_the_state_changes() -> None:
    @workflow
    async def publishes() -> str:
        await flowpy.sleep(1)
        flowpy.set_state({"step": 1})
        await flowpy.sleep(1)
        flowpy.set_state({"step": 1})
        await flowpy.sleep(1)
        return "done"

    run = Driver(publishes)
    contexts = []
    for _ in range(4):
        run.decide()
        contexts.append(None if run.context is None else json.loads(run.context))
        run.advance(1)
    assert [context and (context["flowpy"], context.get("state")) for context in contexts] == [
        (1, None), (1, {"step": 1}), None, None,
    ]  # fmt: skip
    assert run.finished() == "done"

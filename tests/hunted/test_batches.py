"""Borders of batches (CONTRACTS §4) in places where code, quota and close meet."""

from __future__ import annotations

from typing import Any

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import activity, workflow

stop = flowpy.Signal("stop")


@activity
def step(value: Any = "") -> str: ...


def decide_all(run: Run) -> list[str]:
    """Decides until an answer does not end with the runtime's timer; gives what the code decided."""
    decided: list[str] = []
    while True:
        batch = run.decide()
        assert len(batch) <= 100
        again = [text for text in batch if text.startswith("StartTimer flowpy.again-")]
        decided += [text for text in batch if text not in again]
        if not again:
            return decided
        assert batch[-1] == again[0]
        run.fires(again[0].split()[1])


def test_close_that_alone_goes_over_the_bytes_of_a_batch_comes_in_the_next() -> None:
    @workflow
    async def loud() -> str:
        for _ in range(27):
            flowpy.external("x").signal("news", "a" * 32_700)
        return "b" * 32_700

    run = Run(loud)
    batch = run.decide()
    assert (len(batch), batch[-1]) == (28, "StartTimer flowpy.again-1 0")
    run.fires("flowpy.again-1")
    assert [text[:25] for text in run.decide()] == ["CompleteWorkflowExecution"]
    run.replays()


def test_timers_cancelled_while_others_wait_for_a_place_are_no_divergence() -> None:
    @workflow
    async def crowd() -> None:
        timers = [flowpy.sleep(3000) for _ in range(1_050)]
        await stop.receive()
        for timer in timers[:5]:
            timer.cancel()
        await stop.receive()

    run = Run(crowd)
    assert len(decide_all(run)) == 1_000
    run.signaled("stop")
    cancelled = run.decide()
    assert cancelled[:5] == [f"CancelTimer timer-{n}" for n in range(1, 6)]
    run.signaled("other")
    started = cancelled[5:] + run.decide()
    assert [text for text in started if "again" not in text] == [
        f"StartTimer timer-{n} 3000" for n in range(1001, 1006)
    ]
    run.replays()


def test_more_side_effects_than_a_batch_holds() -> None:
    @workflow
    async def many() -> int:
        values = [flowpy.side_effect(lambda: 7) for _ in range(150)]
        await step()
        return sum(values)

    run = Run(many)
    decided = decide_all(run)
    assert decided[-1] == "ScheduleActivityTask step-1"
    assert len(set(decided)) == 151
    run.completes("step-1")
    assert run.decide() == ["CompleteWorkflowExecution 1050"]
    run.replays()


@pytest.mark.parametrize("value", ["\U0001f600" * 16_000, ["a"] * 6_000, "\x01" * 5_000, "\u00e9" * 30_000])
def test_side_effects_that_fill_a_batch_with_bytes_that_are_no_characters(value: Any) -> None:
    @workflow
    async def many() -> int:
        for _ in range(60):
            flowpy.side_effect(lambda: value)
        await step()
        return 1

    run = Run(many)
    decided = decide_all(run)
    assert (len(decided), decided[-1]) == (61, "ScheduleActivityTask step-1")
    run.completes("step-1")
    assert run.decide() == ["CompleteWorkflowExecution 1"]
    run.replays()

"""Where the code stood after each decision."""

from __future__ import annotations

from itertools import pairwise

import pytest

import flowpy
from flowpy import activity, workflow
from flowpy.testing import Environment, HistoryBuilder, Replayer, stacks

from .shop import Receipt, approval, charge, order


@activity
def step(number: int) -> None: ...


@workflow
async def two_steps() -> None:
    await step(1)
    await step(2)


def test_it_is_what_a_replay_up_to_that_event_shows():
    with Environment() as swf:
        swf.stub(charge, raises=OSError("no line")).then(returns=Receipt("o-7", 1))
        run = swf.start(order, "o-7")
        run.signal(approval, True)
        run.result()
        found = dict(stacks(order, run))

        assert list(found) == [
            event["eventId"] for event in run.history() if event["eventType"] == "DecisionTaskStarted"
        ]
        for event_id, pending in found.items():
            assert str(pending) == str(Replayer(order).replay(run, up_to=event_id).pending)


def test_each_holds_until_the_next_one():
    with Environment() as swf:
        run = swf.start(two_steps)
        found = dict(stacks(two_steps, run))
        events = run.history()

        for event_id, following in pairwise([*found, len(events) + 1]):
            for up_to in range(event_id, following):
                assert str(Replayer(two_steps).replay(run, up_to=up_to).pending) == str(found[event_id])


def test_only_those_asked_for():
    with Environment() as swf:
        run = swf.start(two_steps)
        every = dict(stacks(two_steps, run))
        last = len(run.history())

        assert list(every) == [3, 9, 15]
        assert dict(stacks(two_steps, run, event_ids=[last])) == {15: every[15]}
        assert list(dict(stacks(two_steps, run, event_ids=[1, 4, 8, 12]))) == [3, 9]


def test_it_comes_as_far_as_the_code_goes():
    history = HistoryBuilder(two_steps)
    history.schedule(step, 1).complete()
    history.start_timer(5)

    given = stacks(two_steps, history)

    assert "activity step-1" in str(next(given)[1])
    with pytest.raises(flowpy.NonDeterminismError):
        next(given)


def test_a_run_that_nobody_decided_yet_stands_nowhere():
    assert list(stacks(two_steps, HistoryBuilder(two_steps))) == []

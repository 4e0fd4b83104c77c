"""``flowpy.testing.replay``: whose history it is matters, since ids of children and random values come from the run."""

from __future__ import annotations

from typing import Any

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import workflow
from flowpy.testing import replay


@workflow
async def ship(order_id: str) -> str: ...


@workflow
async def order(order_id: str) -> str:
    return await ship(order_id)


class Handle:
    """What ``client.run(...)`` gives, as far as a replay is concerned."""

    def __init__(self, run: Run) -> None:
        self.workflow_id = run.ids["workflow_id"]
        self.run_id = run.ids["run_id"]
        self._events = run.events

    def history(self) -> list[dict[str, Any]]:
        return self._events


@pytest.fixture
def run() -> Run:
    run = Run(order, "o-7", workflow_id="order-7")
    run.decide()
    return run


def test_run_is_replayed_with_its_own_ids(run: Run) -> None:
    assert len(replay(order, Handle(run)).episodes) == 1


def test_history_alone_is_replayed_with_the_ids_given(run: Run) -> None:
    assert len(replay(order, run.events, **run.ids).episodes) == 1


def test_poll_reply_says_whose_history_it_is(run: Run) -> None:
    execution = {"workflowId": run.ids["workflow_id"], "runId": run.ids["run_id"]}
    reply = {"workflowExecution": execution, "events": run.events}
    assert len(replay(order, reply).episodes) == 1


def test_divergence_of_a_history_without_ids_says_that_they_are_missing(run: Run) -> None:
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        replay(order, run.events)
    (note,) = caught.value.__notes__
    assert "workflow_id=" in note


def test_strict_replay_takes_harmless_differences_for_errors() -> None:
    @workflow(name="nap")
    async def before() -> None:
        await flowpy.sleep(60)

    @workflow(name="nap")
    async def after() -> None:
        await flowpy.sleep(90)

    run = Run(before)
    run.decide()
    assert len(replay(after, run.events, **run.ids).warnings) == 1
    with pytest.raises(flowpy.NonDeterminismError, match="90"):
        replay(after, run.events, strict=True, **run.ids)

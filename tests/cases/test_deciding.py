"""Every case as a decision worker decides it: from the whole history, which is cut and run a few episodes at a time."""

from __future__ import annotations

import pytest

from flowpy.history import episodes
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.runtime.run import Run

from .harness import NAMES, Case, load, matches, reduced

BLOCKS = (2, 3, 7, episodes.BLOCK)
OFFERED = [(name, count) for name in NAMES for count in range(1, len(load(name).expected["episodes"]) + 1)]


def decided(case: Case, started_event_id: int) -> list[dict[str, object]]:
    """What a worker that has never seen the run decides."""
    events, type_ = case.until(started_event_id), (case.workflow.name, case.workflow.version)
    task = DecisionTask(case.expected["workflow_id"], case.expected["run_id"], type_, events)
    return [reduced(decision) for decision in Decider([case.workflow]).decide(task).decisions]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(("name", "count"), OFFERED)
def test_every_decision_task(name: str, count: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "BLOCK", block)
    case = load(name)
    expected = case.cold(count)
    if expected is None:
        pytest.skip("decided by older code than the one shown")
    last = expected[-1]
    actual = {**last, "decisions": decided(case, last["started_event_id"])}
    matches([actual], [last])


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", NAMES)
def test_whole_history_agrees(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A history that is decided to its end is run through without a difference."""
    monkeypatch.setattr(episodes, "BLOCK", block)
    case = load(name)
    if any(e.get("older_code") for e in case.expected["episodes"]):
        pytest.skip("no decider with the code shown took this run from its first decision")
    run = Run(case.workflow, case.expected["workflow_id"], case.expected["run_id"])
    run.feed(case.events)
    run.evict()
    assert not run.execution.unsent or run.episodes.closed is None

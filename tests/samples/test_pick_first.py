"""Pick first: the faster way gives the result, the other one is stopped."""

from __future__ import annotations

import datetime as dt

import pytest

from flowpy import ActivityCancelRequested, WorkflowFailed
from flowpy.testing import ActivityEnvironment
from samples import pick_first
from samples.pick_first import factor, fermat, trial_division
from samples.table import attributes, count

NUMBER = 1009 * 2003


def cancelled(run):
    """The activities of a run that were cancelled."""
    history = run.history()
    ends = [attributes(event) for event in history if event["eventType"] == "ActivityTaskCanceled"]
    return [attributes(history[end["scheduledEventId"] - 1])["activityId"] for end in ends]


@pytest.mark.parametrize(
    ("winner", "loser"), [(trial_division, fermat), (fermat, trial_division)], ids=["trial division", "Fermat"]
)
def test_the_loser_is_cancelled(swf, winner, loser):
    swf.stub(winner, returns=1009, delay="10s")
    swf.stub(loser, returns=1, delay="10m")
    began = swf.now()
    run = swf.start(factor, NUMBER)

    assert run.result() == 1009
    assert cancelled(run) == [f"{loser.name}-1"]
    assert count(run.history(), "ActivityTaskCompleted") == 1
    assert swf.now() - began < dt.timedelta(minutes=2)


def test_both_ways_lead_there(swf):
    assert {trial_division.fn(NUMBER), fermat.fn(NUMBER)} <= {1009, 2003}
    assert swf.run(factor, NUMBER) in {1009, 2003}
    assert swf.run(factor, 101) in {1, 101}


def test_a_way_that_fails_first_fails_the_run_and_stops_the_other(swf):
    swf.stub(trial_division, raises=MemoryError("full"))
    swf.stub(fermat, returns=1, delay="10m")
    run = swf.start(factor, NUMBER)
    with pytest.raises(WorkflowFailed, match="MemoryError: full"):
        run.result()

    assert cancelled(run) == ["fermat-1"]


@pytest.mark.parametrize("way", [trial_division, fermat])
def test_a_way_stops_when_it_is_asked_to(monkeypatch, way):
    monkeypatch.setattr(pick_first, "STEPS", 10)
    alone = ActivityEnvironment()
    alone.cancel(after=1)
    with pytest.raises(ActivityCancelRequested):
        alone.run(way, 1009 * 9973)

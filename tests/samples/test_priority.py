"""Priority: each task has that of its call, its type or its run."""

from __future__ import annotations

import pytest

from samples.priority import checksum, sweep, verify
from samples.table import attributes


@pytest.fixture
def folder(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    return tmp_path


def priorities(run):
    """The priorities of the tasks of a run: of its decisions, and of its activities."""
    history = run.history()
    return {
        kind: {attributes(event)["taskPriority"] for event in history if event["eventType"] == f"{kind}TaskScheduled"}
        for kind in ("Decision", "Activity")
    }


def test_a_sweep_takes_its_time(swf, folder):
    run = swf.start(sweep, folder)

    assert len(run.result()) == 2
    assert priorities(run) == {"Decision": {"-10"}, "Activity": {"-10"}}


def test_somebody_waits_for_one_file(swf, folder):
    run = swf.start(verify, folder / "a")

    assert run.result() == checksum.fn(folder / "a")
    assert priorities(run) == {"Decision": {"10"}, "Activity": {"10"}}


def test_what_is_urgent_goes_first(swf, folder):
    with swf.paused():
        swf.start(sweep, folder)
        swf.start(verify, folder / "a")
        poll = {"domain": swf.client.domain, "taskList": {"name": "default"}}
        task = swf.engine.call("PollForDecisionTask", poll)

    assert task["workflowType"]["name"] == "verify"

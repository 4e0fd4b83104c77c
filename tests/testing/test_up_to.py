"""The law of ``up_to``: at every event of every case, the replay is the whole one up to there and no further."""

from __future__ import annotations

import pytest
from tests.cases.harness import NAMES, load, told

from flowpy.testing import Replayer


@pytest.mark.parametrize("name", NAMES)
def test_every_case_at_every_event(name: str) -> None:
    case = load(name)
    replayer = Replayer(case.workflow)
    ids = {"workflow_id": case.expected["workflow_id"], "run_id": case.expected["run_id"]}
    whole = told(case.replay())

    for event in case.events:
        shown = replayer.replay(case.path, up_to=event["eventId"], **ids)
        assert told(shown) == [each for each in whole if each["started_event_id"] <= event["eventId"]]


@pytest.mark.parametrize("name", NAMES)
def test_what_waits_is_told_at_every_event(name: str) -> None:
    """Where the run goes on, some task waits, and for something that has a name."""
    case = load(name)
    replayer = Replayer(case.workflow)
    ids = {"workflow_id": case.expected["workflow_id"], "run_id": case.expected["run_id"]}

    for count, episode in enumerate(case.episodes, 1):
        shown = replayer.replay(case.path, up_to=episode["started_event_id"], **ids)
        pending = shown.pending
        closing = any(each["decisionType"].endswith("WorkflowExecution") for each in episode["decisions"])
        assert closing or pending.tasks or pending.work, (name, count)
        assert all(task.waits_for for task in pending.tasks)
        # A call of an @asynchronous function stands in no line of its own while it waits for its arguments.
        assert all(task.stack or task.path for task in pending.tasks)
        assert "nothing recorded" not in str(pending)

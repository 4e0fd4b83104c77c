"""Every event has the attributes that SWF gives it, and wakes the decider if it should (swf-semantics §3)."""

from __future__ import annotations

import pytest

from .driver import attributes_of
from .events import EVENTS, VALUES


@pytest.mark.parametrize("event_type", EVENTS)
def test_its_attributes_when_everything_is_given(swf, event_type):
    row = EVENTS[event_type]
    assert swf.last(event_type, *row.story(swf, True)) == row.full


@pytest.mark.parametrize("event_type", EVENTS)
def test_its_attributes_when_nothing_is_given(swf, event_type):
    row = EVENTS[event_type]
    assert set(swf.last(event_type, *row.story(swf, False))) == set(row.full) - row.optional


@pytest.mark.parametrize(("event_type", "name", "value"), VALUES)
def test_the_other_values_of_its_enumerations(swf, event_type, name, value):
    story = VALUES[event_type, name, value]
    assert swf.last(event_type, *story(swf, False))[name] == value


@pytest.mark.parametrize("event_type", EVENTS)
@pytest.mark.parametrize("full", [True, False], ids=["everything", "nothing"])
def test_whether_it_schedules_a_decision_task(swf, event_type, full):
    row = EVENTS[event_type]
    events = swf.events(*row.story(swf, full))
    types = [event["eventType"] for event in events]
    position = len(types) - 1 - types[::-1].index(event_type)
    before, after = types[:position], types[position + 1 :]
    waited = before.count("DecisionTaskScheduled") - before.count("DecisionTaskStarted")

    if row.wakes == "Y":
        assert (waited, after) == (0, ["DecisionTaskScheduled"])
        assert events[position]["eventTimestamp"] == events[-1]["eventTimestamp"]
        assert attributes_of(events[-1])["taskList"]["name"] in ("deciders", "mine")
    else:
        assert after == []
        assert waited == (row.wakes == "pending") or row.wakes == "close" or event_type == "DecisionTaskStarted"

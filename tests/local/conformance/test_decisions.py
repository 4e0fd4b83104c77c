"""Every decision becomes its event, or the event that says why not (swf-semantics §2)."""

from __future__ import annotations

import pytest

from .decisions import CHECKED_FIRST, FAILURES, SUCCESSES
from .driver import attributes_of


def decide(swf, decisions, meanwhile=lambda swf: None):
    """A run ``w``, with a run ``t`` beside it, decides; gives w's runId and how many events it had before."""
    run_id = swf.run_id()
    while (task := swf.poll())["workflowExecution"]["workflowId"] != "w":
        swf.answer(task)
    meanwhile(swf)
    before = len(swf.events(run_id)) + 1
    swf.answer(task, *decisions)
    return run_id, before


@pytest.fixture
def effects_held(swf):
    swf.engine.on_lambda("resize", lambda text: text)
    swf.engine.hold_effects = True
    swf.start("t", taskList={"name": "elsewhere"})


@pytest.mark.parametrize("decision_type", SUCCESSES)
def test_what_a_decision_becomes(swf, effects_held, decision_type):
    success = SUCCESSES[decision_type]
    swf.start(**success.start)
    run_id, before = decide(swf, success.decisions)

    assert swf.types(run_id)[before + len(success.decisions) - 1 :] == [success.at_once]
    swf.engine.settle()
    later = [*success.later, "DecisionTaskScheduled"] if success.later else []
    assert swf.types(run_id)[before + len(success.decisions) :] == later


@pytest.mark.parametrize(("decision_type", "cause"), FAILURES)
def test_why_a_decision_fails(swf, effects_held, decision_type, cause):
    failure = FAILURES[decision_type, cause]
    swf.start()
    failure.prepare(swf)
    run_id, before = decide(swf, failure.decisions, failure.meanwhile)

    failed, waits_already = f"{decision_type}Failed", cause == "UNHANDLED_DECISION"
    answers, woken = swf.types(run_id)[before:], [] if waits_already else ["DecisionTaskScheduled"]
    if failure.initiated:
        assert answers == [failure.initiated]
        swf.engine.settle()
        answers = swf.types(run_id)[before + 1 :]
    assert answers[-1 - len(woken) :] == [failed, *woken]
    assert len(answers) == len(failure.decisions) + len(woken)
    assert swf.last(failed, run_id)["cause"] == cause
    assert swf.types(run_id).count(failed) == 1
    assert swf.describe(run_id)["executionInfo"]["executionStatus"] == "OPEN"


@pytest.mark.parametrize(("prepare", "decisions", "cause"), CHECKED_FIRST.values(), ids=CHECKED_FIRST)
def test_which_cause_is_found_first(swf, prepare, decisions, cause):
    swf.start()
    prepare(swf)
    run_id, _ = decide(swf, decisions)
    failed = [event for event in swf.events(run_id) if event["eventType"] == f"{decisions[-1]['decisionType']}Failed"]
    assert attributes_of(failed[-1])["cause"] == cause


@pytest.mark.parametrize("position", range(3))
def test_a_decision_that_fails_does_not_stop_the_others(swf, position):
    """Whatever its place in the batch: the others become what they become alone."""
    swf.start()
    good, bad = SUCCESSES["RecordMarker"].decisions[0], FAILURES["CancelTimer", "TIMER_ID_UNKNOWN"].decisions[0]
    batch = [good, good]
    batch.insert(position, bad)
    _, before = decide(swf, batch)
    expected = ["MarkerRecorded", "MarkerRecorded"]
    expected.insert(position, "CancelTimerFailed")
    assert swf.types()[before:] == [*expected, "DecisionTaskScheduled"]

"""Daemon: it reminds as long as somebody has to be reminded, and not a day longer."""

from __future__ import annotations

import pytest

from flowpy import WorkflowCanceled
from samples.daemon import answered, survey, write
from samples.table import count

QUESTION = "Tea or coffee?"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "answers.txt"


def test_people_are_reminded_every_day_until_they_answer(swf, file):
    run = swf.start(survey, file, QUESTION)
    swf.advance("2d12h")
    run.signal(answered, "tea")

    assert run.result() == "tea"
    assert file.read_text().splitlines() == [QUESTION, f"reminder 1: {QUESTION}", f"reminder 2: {QUESTION}"]


def test_the_run_does_not_wait_for_the_next_reminder(swf, file):
    run = swf.start(survey, file, QUESTION)
    run.signal(answered, "tea")
    asked = swf.now()
    run.result()

    assert swf.now() == asked
    assert count(run.history(), "TimerFired") == 0


def test_it_ends_with_a_cancelled_run_too(swf, file):
    run = swf.start(survey, file, QUESTION)
    run.cancel()
    with pytest.raises(WorkflowCanceled):
        run.result()
    swf.advance("9d")

    assert len(swf.calls(write)) == 1

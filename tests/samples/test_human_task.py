"""Human task: whoever has the token completes it, and no worker waits meanwhile."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing

import pytest

from flowpy import UnknownResource
from samples.human_task import answer, ask, review


@pytest.fixture
def database(tmp_path):
    return tmp_path / "questions.db"


@pytest.fixture
def run(swf, database):
    """A review, up to where it waits for people."""
    swf.stub(ask, by=ask.fn)
    return swf.start(review, database, "May Ann have a company car?")


def questions(database):
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT number, text FROM question").fetchall()


def test_a_person_answers_days_later(swf, run, database):
    swf.advance("9d")
    assert run.describe().status == "OPEN"
    assert questions(database) == [(1, "May Ann have a company car?")]

    answer(swf.client, database, 1, "a bicycle")
    assert run.result() == "a bicycle"
    assert questions(database) == []


def test_nobody_answers(swf, run):
    began = swf.now()
    assert run.result() == "no"
    assert swf.now() - began == dt.timedelta(days=14)


def test_an_answer_that_comes_too_late_is_refused(swf, run, database):
    run.result()
    with pytest.raises(UnknownResource):
        answer(swf.client, database, 1, "yes")

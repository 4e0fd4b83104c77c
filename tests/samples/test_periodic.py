"""Periodic: on time for months, in runs that stay short, and whatever a single round comes to."""

from __future__ import annotations

import datetime as dt

import pytest

from samples.periodic import measure, note, watch


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "watched").mkdir()
    (tmp_path / "watched" / "file").write_text("12345")
    return tmp_path / "watched"


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "sizes.csv"


def test_a_line_for_each_hour(swf, folder, journal):
    began = swf.now()
    swf.run(watch, folder, journal, 3)

    hours = [(began + dt.timedelta(hours=number)).isoformat(timespec="minutes") for number in (1, 2, 3)]
    assert journal.read_text().splitlines() == [f"{hour},5" for hour in hours]


def test_a_round_that_fails_is_noted_and_the_next_one_comes(swf, folder, journal):
    swf.stub(measure, returns=1).then(raises=PermissionError("no")).then(returns=3)
    swf.run(watch, folder, journal, 3)

    assert [call.args[2] for call in swf.calls(note)] == [
        "1",
        "not measured: activity measure (measure-2) failed: PermissionError: no",
        "3",
    ]


def test_it_continues_as_new_before_its_history_is_long(swf, folder, journal):
    run = swf.start(watch, folder, journal, 5, "1d", 2)
    run.result()

    assert len(journal.read_text().splitlines()) == 5
    runs = swf.executions()
    assert [each.workflow_id for each in runs] == [run.workflow_id] * 3
    assert max(len(each.events) for each in runs) < 60

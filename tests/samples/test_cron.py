"""Cron with retry: at the right times, again after failures, and the next night after a hopeless one."""

from __future__ import annotations

import datetime as dt
import logging
import sqlite3
from contextlib import closing

import pytest

from samples.cron import Cron, back_up, nightly

WEEKDAYS = Cron(weekdays=(0, 1, 2, 3, 4), hour=2, minute=30)
FRIDAY = dt.datetime(2026, 1, 2, 2, 30, tzinfo=dt.UTC)


@pytest.fixture
def shop(tmp_path):
    """A database with one row."""
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE item AS SELECT 'tea' AS name")
    return file


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (FRIDAY - dt.timedelta(seconds=1), FRIDAY),
        (FRIDAY, FRIDAY + dt.timedelta(days=3)),
        (FRIDAY + dt.timedelta(days=3), FRIDAY + dt.timedelta(days=4)),
    ],
)
def test_the_next_time(moment, expected):
    assert WEEKDAYS.next_after(moment) == expected


def test_the_next_time_of_what_happens_once_a_week():
    assert Cron((4,), 2, 30).next_after(FRIDAY) == FRIDAY + dt.timedelta(days=7)


def test_a_week_of_backups(swf, shop, tmp_path):
    swf.run(nightly, WEEKDAYS, shop, tmp_path / "backups", 5)

    called = [call.at for call in swf.calls(back_up)]
    assert [(at.hour, at.minute) for at in called] == [(2, 30)] * 5
    assert sorted(at.weekday() for at in called) == [0, 1, 2, 3, 4]
    copies = sorted((tmp_path / "backups").iterdir())
    assert [copy.name for copy in copies] == [f"shop-{at.date()}.db" for at in sorted(called)]
    with closing(sqlite3.connect(copies[0])) as connection:
        assert connection.execute("SELECT name FROM item").fetchall() == [("tea",)]


def test_a_backup_that_fails_is_tried_again_the_same_night(swf, shop, tmp_path):
    swf.stub(back_up, raises=OSError("disk full"), times=2).then(returns=tmp_path / "copy.db")
    swf.run(nightly, WEEKDAYS, shop, tmp_path, 1)

    first, second, third = swf.calls(back_up)
    assert [call.args for call in (second, third)] == [first.args, first.args]
    assert dt.timedelta(minutes=4) < second.at - first.at < dt.timedelta(minutes=6)
    assert dt.timedelta(minutes=8) < third.at - second.at < dt.timedelta(minutes=12)


def test_a_night_without_a_backup_is_logged_and_the_next_one_comes(swf, shop, tmp_path, caplog):
    swf.stub(back_up, raises=OSError("disk full"), times=4).then(returns=tmp_path / "copy.db")
    with caplog.at_level(logging.ERROR, "flowpy.workflow"):
        swf.run(nightly, WEEKDAYS, shop, tmp_path, 2)

    assert [call.attempt for call in swf.calls(back_up)] == [1, 2, 3, 4, 1]
    assert [record.message for record in caplog.records if "no backup of" in record.message] == [
        f"no backup of {swf.calls(back_up)[0].at.date()}: activity back_up (back_up-1) failed: OSError: disk full"
    ]


def test_it_goes_on_in_a_new_run_after_many_nights(swf, shop, tmp_path):
    swf.run(nightly, WEEKDAYS, shop, tmp_path, 5, 2)

    assert len(swf.executions()) == 3
    assert len({call.args[2] for call in swf.calls(back_up)}) == 5

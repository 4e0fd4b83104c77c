"""Saga: all or nothing, and what was done is undone in reverse order."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from flowpy import WorkflowCanceled, WorkflowFailed
from samples.saga import create, move, settle, take_back

BEFORE = {"Ann": 50, "Bob": 50, "Cem": 5, "Eve": 0}


@pytest.fixture
def bank(tmp_path):
    """A database with some accounts."""
    file = tmp_path / "bank.db"
    create.fn(file, BEFORE)
    return file


def balances(bank):
    with closing(sqlite3.connect(bank)) as connection:
        return dict(connection.execute("SELECT name, cents FROM account"))


def moved(swf):
    """Whose balances were changed, and whose changes were taken back, each in order."""
    accounts = {key: account for _, key, account, _ in (call.args for call in swf.calls(move))}
    keys = [key for _, key in (call.args for call in swf.calls(take_back))]
    return list(accounts.values()), [accounts[key] for key in keys if key in accounts]


def test_all_steps_go_well(swf, bank):
    swf.run(settle, bank, {"Ann": 20, "Bob": 10}, "Eve")

    assert balances(bank) == {"Ann": 30, "Bob": 40, "Cem": 5, "Eve": 30}
    assert moved(swf) == (["Ann", "Bob", "Eve"], [])


def test_when_the_third_step_fails_all_are_undone_the_last_first(swf, bank):
    with pytest.raises(WorkflowFailed, match="Refused: Cem cannot have -30 cents"):
        swf.run(settle, bank, {"Ann": 20, "Bob": 10, "Cem": 30}, "Eve")

    assert moved(swf) == (["Ann", "Bob", "Cem"], ["Cem", "Bob", "Ann"])
    assert balances(bank) == BEFORE


def test_a_step_whose_end_nobody_knows_is_undone_too(swf, bank):
    swf.stub(move, by=move.fn).then(times_out="START_TO_CLOSE")
    with pytest.raises(WorkflowFailed, match="timed out"):
        swf.run(settle, bank, {"Ann": 20, "Bob": 10}, "Eve")
    (_, lost) = swf.calls(move)
    move.fn(*lost.args)  # it comes late

    assert balances(bank) == BEFORE


def test_a_cancelled_run_is_undone_once_the_step_under_way_has_ended(swf, bank):
    swf.stub(move, by=move.fn).then(by=move.fn, delay="30s")
    run = swf.start(settle, bank, {"Ann": 20, "Bob": 10}, "Eve")
    run.cancel()
    assert swf.calls(take_back) == []

    with pytest.raises(WorkflowCanceled):
        run.result()
    assert moved(swf) == (["Ann", "Bob"], ["Bob", "Ann"])
    assert balances(bank) == BEFORE


def test_a_step_done_twice_is_done_once(bank):
    move.fn(bank, "key", "Ann", -20)
    move.fn(bank, "key", "Ann", -20)

    assert balances(bank) == BEFORE | {"Ann": 30}

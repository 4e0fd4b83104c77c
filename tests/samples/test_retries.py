"""Retries: how often, when, after what, and what comes of it in the end."""

from __future__ import annotations

import datetime as dt

import pytest

from flowpy import WorkflowFailed
from samples.retries import (
    PAUSES,
    Unfinished,
    fetch,
    glance,
    move,
    read,
    read_and_file,
    wait_a_day_for,
    wait_for,
)
from samples.table import attributes, count


@pytest.fixture
def letter(tmp_path):
    file = tmp_path / "letter.txt"
    file.write_text("All is well.\n")
    return file


def back_offs(run):
    """The seconds between the attempts, as they stand in the history."""
    started = [attributes(event) for event in run.history() if event["eventType"] == "TimerStarted"]
    return [int(told["startToFireTimeout"]) for told in started]


def attempts(swf):
    return [call.attempt for call in swf.calls(read)]


def test_the_policy_of_the_activity(swf, letter):
    swf.stub(read, raises=Unfinished, times=3).then(by=read.fn)
    run = swf.start(fetch, letter)

    assert run.result() == "All is well.\n"
    assert attempts(swf) == [1, 2, 3, 4]
    first, second, third = back_offs(run)
    assert 1 <= first <= 3 < second <= 5 < third <= 9  # 2, 4 and 8 seconds, varied by a tenth


def test_the_last_error_is_raised(swf, letter):
    letter.write_text("All is")
    with pytest.raises(WorkflowFailed, match=r"Unfinished: .* has no end"):
        swf.run(fetch, letter)

    assert attempts(swf) == [1, 2, 3, 4]


def test_errors_that_will_not_go_away_are_not_tried_again(swf, letter):
    letter.write_bytes(b"\xff")
    with pytest.raises(WorkflowFailed, match="UnicodeDecodeError"):
        swf.run(fetch, letter)

    assert attempts(swf) == [1]


def test_the_policy_of_a_call(swf, letter):
    letter.unlink()
    run = swf.start(glance, letter)

    assert run.result() == "(FileNotFoundError)"
    assert attempts(swf) == [1, 2]
    assert back_offs(run) == [0]


def test_until_it_succeeds(swf, letter):
    swf.stub(read, raises=FileNotFoundError, times=20).then(by=read.fn)
    run = swf.start(wait_for, letter)

    assert run.result() == "All is well.\n"
    assert attempts(swf) == [*range(1, 22)]
    assert max(back_offs(run)) <= 3600 * 1.1


def test_by_the_clock(swf, letter):
    letter.unlink()
    began = swf.now()
    run = swf.start(wait_a_day_for, letter)
    with pytest.raises(WorkflowFailed, match="FileNotFoundError"):
        run.result()

    assert set(back_offs(run)) == {3600}
    assert swf.now() - began == dt.timedelta(days=1)


def test_logic_of_ones_own_around_a_block(swf, letter, tmp_path):
    (tmp_path / "read").mkdir()
    swf.stub(move, raises=PermissionError("busy")).then(by=move.fn)
    run = swf.start(read_and_file, letter, tmp_path / "read")

    assert run.result() == tmp_path / "read" / "letter.txt"
    assert (len(swf.calls(read)), len(swf.calls(move))) == (2, 2)
    assert back_offs(run) == [3600]


def test_the_block_is_given_up(swf, letter, tmp_path):
    swf.stub(move, raises=PermissionError("busy"))
    with pytest.raises(WorkflowFailed, match="PermissionError: busy"):
        swf.run(read_and_file, letter, tmp_path)

    assert len(swf.calls(move)) == 1 + len(PAUSES)


def test_the_block_knows_what_is_hopeless(swf, letter, tmp_path):
    letter.write_bytes(b"\xff")
    run = swf.start(read_and_file, letter, tmp_path)
    with pytest.raises(WorkflowFailed, match="UnicodeDecodeError"):
        run.result()

    assert count(run.history(), "TimerStarted") == 0

"""Encryption: whoever has a key reads all, whoever has none reads nothing, and keys may be rotated."""

from __future__ import annotations

import json

import pytest

from flowpy import WorkflowFailed
from flowpy.errors import PayloadKeyUnknown
from samples.encryption import Employee, encrypting, raise_salary

OLD, NEW = {"old": bytes(32)}, {"new": bytes(range(32))}
ANN, RAISED = Employee("Ann Example", 500_000), Employee("Ann Example", 550_000)


@pytest.fixture
def flowpy_converter():
    return encrypting(OLD, "old")


@pytest.fixture
def stored(histories):
    """A history that was written with the old key."""
    return histories / "encryption.raised.history.json"


def test_workflows_see_nothing_of_it(swf):
    run = swf.start(raise_salary, ANN, 10)

    assert run.result() == RAISED
    assert run.describe().state == {"for": "Ann Example"}


@pytest.mark.parametrize("percent", [10, -10], ids=["result", "failure"])
def test_nothing_can_be_read_in_the_history(swf, percent):
    run = swf.start(raise_salary, ANN, percent)
    told = json.dumps(run.history(), default=str)

    assert "raise_salary" in told
    # Longer than what chance writes in base64.
    assert not any(secret in told for secret in ("Ann Example", "500000", "550000"))


def test_a_failure_is_told_to_who_has_the_key(swf):
    with pytest.raises(WorkflowFailed, match="Ann Example earns 500000"):
        swf.run(raise_salary, ANN, 0)


def test_who_has_a_new_key_beside_the_old_one_reads_what_was_stored(replay, stored):
    assert replay(raise_salary, stored, converter=encrypting(OLD | NEW, "new")).result == RAISED


def test_without_the_key_it_cannot_be_replayed(replay, stored):
    with pytest.raises(PayloadKeyUnknown, match="'old'"):
        replay(raise_salary, stored, converter=encrypting(NEW, "new"))

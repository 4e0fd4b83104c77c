"""Versioning: new runs take the new way, and those from before go on in the old one."""

from __future__ import annotations

from samples.table import count
from samples.versioning import invoice


def test_new_runs_are_taxed(swf):
    run = swf.start(invoice, "Ann", [1250, 380])

    assert run.result() == "Ann owes 19.40"
    assert count(run.history(), "MarkerRecorded") == 1


def test_a_run_from_before_replays_without_the_tax(replay, histories):
    replayed = replay(invoice, histories / "versioning.before.history.json")

    assert replayed.result == "Ann owes 16.30"
    assert replayed.closed == "WorkflowExecutionCompleted"

"""The guard in a worker: it is on by default, warns, and never fails a run by itself."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.marks import history

from flowpy import NotDeterministic, workflow
from flowpy.service.paging import PolledDecisionTask
from flowpy.worker import WorkerSettings
from flowpy.worker.deciding import decide_with


@workflow
async def reads_a_file() -> int:
    try:
        return len(Path(__file__).read_text(encoding="utf-8"))
    except OSError:
        return 0


def decided(**settings):
    decide = decide_with([reads_a_file], WorkerSettings(**settings))
    task = PolledDecisionTask("shop", "w", "r", ("reads_a_file", "1.0"), history(reads_a_file), 3, 0, "token")
    return [decide(task) for _ in range(2)]


def test_by_default_the_line_is_logged_once(caplog):
    for answer in decided():
        assert answer.decisions[0]["decisionType"] == "CompleteWorkflowExecution"

    (record,) = caplog.records
    assert (record.name, record.levelno) == ("flowpy.guard", logging.WARNING)
    assert re.search(r"test_guard\.py:\d+ in reads_a_file: open \(by pathlib.*Path\.read_text\)", record.getMessage())


def test_as_an_error_it_reaches_the_worker_which_holds_the_run():
    with pytest.raises(NotDeterministic, match=r"test_guard\.py:\d+"):
        decided(guard="error")


def test_off_it_is_not_even_installed():
    program = """
import sys
sys.addaudithook = None
from flowpy import workflow
from flowpy.worker import WorkerSettings
from flowpy.worker.deciding import decide_with
decide = decide_with([workflow(name="w")(lambda: None)], WorkerSettings(guard="off"))
assert decide.__name__ == "own"
assert "flowpy.runtime.guard" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match=r"^WorkerSettings: guard='loud' is none of 'warn', 'error', 'off'$"):
        WorkerSettings(guard="loud")

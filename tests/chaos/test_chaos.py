"""Workers are killed, and their calls get lost, late, doubled and refused: every run ends as it should.

Set by environment variables: ``FLOWPY_CHAOS_SEED``; ``FLOWPY_CHAOS_WORKFLOWS``, how many runs; ``FLOWPY_CHAOS_RATE``,
what share of calls is disturbed; ``FLOWPY_CHAOS_STICKY`` (on, off, mixed), whether workers keep runs in memory;
``FLOWPY_CHAOS_KILL_EVERY`` and ``FLOWPY_CHAOS_SERVICE_EVERY``, seconds from one kill to the next, 0 for none. What
happens is drawn from the seed; when it happens depends on the machine too.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import demo
import processes
from flowpy.local.engine import Engine, SystemClock
from flowpy.local.store import SQLiteStore
from flowpy.worker.registration import Registrar

from .customers import Customers
from .faults import Plan
from .fleet import Fleet, MortalService
from .judging import Recorded, add_effects, complaints, judged
from .proxy import faulty
from .stories import ACTIVITIES, EFFECTS, STORIES, WORKFLOWS

SEED = int(os.environ.get("FLOWPY_CHAOS_SEED", "1"))
COUNT = int(os.environ.get("FLOWPY_CHAOS_WORKFLOWS", "500"))
ENOUGH = 200
"""Workflows among which there is surely one whose decision task times out, of either kind."""
RATE = float(os.environ.get("FLOWPY_CHAOS_RATE", "0.1"))
STICKY = os.environ.get("FLOWPY_CHAOS_STICKY", "mixed")
EVERY = float(os.environ.get("FLOWPY_CHAOS_KILL_EVERY", "2"))
SERVICE_EVERY = float(os.environ.get("FLOWPY_CHAOS_SERVICE_EVERY", "15"))
LIMIT = 60 + 2 * COUNT  # seconds until all must have ended
SOURCE = Path(__file__).parents[2] / "src"
SETTINGS = {
    "SEED": SEED,
    "WORKFLOWS": COUNT,
    "RATE": RATE,
    "STICKY": STICKY,
    "KILL_EVERY": EVERY,
    "SERVICE_EVERY": SERVICE_EVERY,
}
AGAIN = " ".join(f"FLOWPY_CHAOS_{name}={value}" for name, value in SETTINGS.items()) + " pytest tests/chaos"

pytestmark = pytest.mark.skipif(
    bool(processes.missing_modules()), reason=f"the service needs {', '.join(processes.missing_modules())}"
)


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """The processes run the flowpy of this tree, and nothing of this machine's AWS settings."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv(EFFECTS, str(tmp_path / "effects"))
    for name in processes.NOT_LOCAL:
        monkeypatch.delenv(name, raising=False)
    for name, value in processes.LOCAL.items():
        monkeypatch.setenv(name, value)


def live(customers, fleet, service):
    """Let everything happen until all runs have ended."""
    deadline = time.monotonic() + LIMIT
    while not customers.done:
        customers.step()
        fleet.step()
        service.step()
        assert time.monotonic() < deadline, f"still open after {LIMIT} s: {sorted(customers.open)}"
        time.sleep(0.05)


@contextmanager
def telling_how_to_run_it_again():
    try:
        yield
    except Exception as error:
        error.add_note(f"again: {AGAIN}")
        raise


def recorded(db):
    """Every run that the service knows, in the order of their starts."""
    with closing(Engine(SystemClock(), store=SQLiteStore(db))) as engine:
        runs = [Recorded(run.workflow_id, run.run_id, list(run.events)) for run in engine.world.runs.values()]
    return sorted(runs, key=lambda run: run.events[0]["eventTimestamp"])


def test_all_runs_end_as_they_should(tmp_path):
    port, db, began = processes.free_port(), tmp_path / "swf.db", time.monotonic()
    plan, chance = Plan(SEED, RATE), random.Random(SEED)
    with MortalService(port, db, chance, SERVICE_EVERY) as service, demo.connect(processes.address(port)) as client:
        Registrar(client.service, processes.DOMAIN, "default", pause=lambda _: True).register(WORKFLOWS, ACTIVITIES)
        customers = Customers(client, COUNT, chance)
        with (
            faulty(port, plan) as proxy,
            Fleet(proxy.port, tmp_path, chance, every=EVERY, sticky=STICKY) as fleet,
            telling_how_to_run_it_again(),
        ):
            live(customers, fleet, service)
    took = time.monotonic() - began

    runs = recorded(db)
    add_effects(runs, tmp_path / "effects")
    found = [*judged(runs, customers.started), *complaints(fleet.logs())]
    assert not found, "\n".join([f"{len(found)} things are wrong; again: {AGAIN}", *found[:20]])

    timed_out = Counter(each["timeoutType"] for run in runs for each in run.of_type("DecisionTaskTimedOut"))
    tried_again = sum(".r" in each["activityId"] for run in runs for each in run.of_type("ActivityTaskScheduled"))
    figures = [
        f"{len(runs)} runs for {COUNT} workflows in {took:.0f} s, {proxy.calls} calls, {dict(plan.met)}",
        f"{fleet.killed} workers killed, {fleet.drained} drained, the service killed {service.killed} times",
        f"decision tasks timed out: {dict(timed_out)}",
        f"{sum(run.began.total() for run in runs)} attempts at activities, {tried_again} of them again",
    ]
    print(*figures, sep="\n")  # noqa: T201 - with -s
    # What the test shows would be nothing if all had gone well.
    assert fleet.killed
    assert tried_again
    if COUNT >= ENOUGH:
        assert timed_out["START_TO_CLOSE"]
        assert timed_out["SCHEDULE_TO_START"] or STICKY == "off"
    assert {run.end for run in runs} == {story.status for story in STORIES} | {"CONTINUED_AS_NEW"}

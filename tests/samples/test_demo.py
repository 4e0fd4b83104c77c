"""The demo with real processes: service, worker and starter, and a decider that is killed in the middle."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import demo
import processes
from flowpy.testing import replay
from flowpy.worker.registration import Registrar
from order import Delivery, charge, order, pack, reserve
from table import WIDTH, attributes

DEMO = Path(demo.__file__)
SOURCE = Path(__file__).parents[2] / "src"
LIMIT = 60.0  # seconds that any wait may take
SHORT = "5s"  # a decision that died with its decider is given out again after this
DELIVERY = Delivery(
    order_id="o-7", receipt="receipt o-7 over 194.00", parcels=["lamp in a box", "teapot in a box", "rug in a box"]
)

pytestmark = pytest.mark.skipif(
    bool(processes.missing_modules()), reason=f"moto's server needs {', '.join(processes.missing_modules())}"
)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """The processes run the flowpy of this tree, and nothing of this machine's AWS settings."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")])))
    for name in processes.NOT_LOCAL:
        monkeypatch.delenv(name, raising=False)
    for name, value in processes.LOCAL.items():
        monkeypatch.setenv(name, value)


def until(condition, what, *needed):
    """Look again and again until a condition holds, while the processes needed for it live; gives what it gave."""
    deadline = time.monotonic() + LIMIT
    while not (found := condition()):
        for process in needed:
            process.check()
        assert time.monotonic() < deadline, f"{what}: not within {LIMIT:g} s"
        time.sleep(0.05)
    return found


def of_type(events, kind):
    return [attributes(event) for event in events if event["eventType"] == kind]


def timers(events):
    return [each["timerId"] for each in of_type(events, "TimerStarted")]


def decider_of(started):
    """Process id of who polled; a worker's identity begins with it."""
    return int(started["identity"].partition("@")[0])


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid):
    """Processes a process has started, in Linux's own books."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def script(*options):
    command = [sys.executable, str(DEMO), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class TestTheScript:
    """``make demo`` as users run it."""

    def test_it_prints_result_and_history_for_people_and_for_programs(self):
        with script() as text, script("--json") as program:
            (table, shown), (told, _) = text.communicate(timeout=LIMIT), program.communicate(timeout=LIMIT)

        assert (text.returncode, program.returncode) == (0, 0), shown
        self.check_text(table, shown)
        self.check_json(json.loads(told))

    def check_text(self, table, progress):
        assert "receipt o-7 over 194.00" in table
        assert "pack-2 OSError: dropped the teapot" in table
        assert "WorkflowExecutionCompleted" in table
        assert max(map(len, table.splitlines())) <= WIDTH
        assert "TimerStarted timer-1" in progress

    def check_json(self, told):
        assert told["result"] == dataclasses.asdict(DELIVERY)
        assert replay(order, told["events"]).closed

    @pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see a process's children")
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
    def test_its_processes_end_with_it(self, number):
        with script() as it:
            started = until(lambda: len(pids := children(it.pid)) == 2 and pids, "service and worker")
            it.send_signal(number)
            it.communicate(timeout=LIMIT)

        assert it.returncode == 128 + number
        assert [pid for pid in started if alive(pid)] == []

    def test_without_the_service_it_says_what_to_do(self, monkeypatch, capsys):
        monkeypatch.setattr(processes, "missing_modules", lambda: ["flask"])
        monkeypatch.setattr(sys, "argv", ["demo.py"])
        monkeypatch.setattr(demo, "stop_in_pauses", lambda: None)
        monkeypatch.setattr(demo, "be_local", lambda: None)

        assert demo.main() == 1
        assert "not installed: flask; run make demo" in capsys.readouterr().err


@pytest.fixture
def url():
    with processes.service() as address:
        yield address


@pytest.fixture
def client(url):
    """A client of the service, where all types are registered."""
    with demo.connect(url) as made:
        registrar = Registrar(made.service, processes.DOMAIN, "default", pause=lambda _: True)
        registrar.register([order], [reserve, charge, pack])
        yield made


@pytest.fixture
def worker(url):
    """Starts workers that end with the test: deciders with "workflows", or "activities"."""
    with ExitStack() as started:
        yield lambda only: started.enter_context(processes.worker(url, "--only", only))


def test_deciders_die_and_the_order_is_delivered_all_the_same(client, worker):
    first = worker("workflows")
    run = demo.start(client, first.check, task_start_to_close_timeout=SHORT)
    until(lambda: of_type(run.history(), "ActivityTaskScheduled"), "the first activity", first)
    # Nobody runs activities yet, so this one is pending.
    first.kill()

    second, helper = worker("workflows"), worker("activities")
    until(lambda: "timer-1" in timers(run.history()), "the courier's timer", second, helper)
    second.kill()

    third = worker("workflows")
    assert run.result(timeout=LIMIT) == DELIVERY

    events = run.history()
    scheduled = [each["activityId"] for each in of_type(events, "ActivityTaskScheduled")]
    assert scheduled == ["reserve-1", "charge-1", "pack-1", "pack-2", "pack-3", "pack-2.r2"]
    assert timers(events) == ["pack-2.w2", "timer-1"]
    assert {decider_of(each) for each in of_type(events, "DecisionTaskStarted")} == {first.pid, second.pid, third.pid}
    assert replay(order, events).closed

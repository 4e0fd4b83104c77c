"""The samples with real processes: service, workers and starter; each of the first two is killed in the middle."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

import demo
import processes
from flowpy.testing import replay
from flowpy.worker.registration import Registrar
from order import Delivery, approval, charge, order, pack, pack_and_ship, release, reserve
from table import WIDTH, attributes

DEMO = Path(demo.__file__)
SOURCE = Path(__file__).parents[2] / "src"
LIMIT = 60.0  # seconds that any wait may take
SHORT = "5s"  # a decision that died with its decider is given out again after this
MOTO = ("moto", "flask", "flask_cors")
DELIVERY = Delivery(
    order_id="o-7", receipt="receipt o-7 over 194.00", parcels=["lamp in a box", "teapot in a box", "rug in a box"]
)

pytestmark = pytest.mark.skipif(
    bool(processes.missing_modules()), reason=f"the service needs {', '.join(processes.missing_modules())}"
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


def process_of(started):
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
        self.check_json(json.loads(told)["orders"])

    def check_text(self, table, progress):
        first, second = table.split("order o-8\n")
        assert "COMPLETED after" in first
        assert "receipt o-7 over 194.00" in first
        assert "WorkflowExecutionSignaled   approval true" in first
        assert "pack-2 OSError: dropped the teapot" in first
        assert "release-1" not in first
        assert "CANCELED after" in second
        assert "WorkflowExecutionCancelRequested" in second
        assert "release-1" in second
        assert max(map(len, table.splitlines())) <= WIDTH
        assert "order-o-7: TimerStarted timer-2" in progress

    def check_json(self, orders):
        assert [(each["order_id"], each["status"]) for each in orders] == [("o-7", "COMPLETED"), ("o-8", "CANCELED")]
        assert [each["result"] for each in orders] == [dataclasses.asdict(DELIVERY), None]
        assert all(replay(order, each["events"]).closed for each in orders)

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
        monkeypatch.setattr(processes, "missing_modules", lambda: ["uvicorn"])
        monkeypatch.setattr(sys, "argv", ["demo.py"])
        monkeypatch.setattr(demo, "stop_in_pauses", lambda: None)
        monkeypatch.setattr(demo, "be_local", lambda: None)

        assert demo.main() == 1
        assert "not installed: uvicorn; run make demo" in capsys.readouterr().err


@pytest.fixture
def started():
    """What a test starts, to end with it."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def worker(started):
    """Starts half a worker: one that decides with "workflows", or "activities"."""
    return lambda url, only: started.enter_context(processes.worker(url, "--only", only))


@pytest.fixture
def slow_packer(started):
    """Starts a worker for activities that takes its time to pack."""

    def start(url, seconds):
        code = f"import sys; sys.path[0] = {str(DEMO.parent)!r}; import order, worker; order.PACKING = {seconds}"
        options = ("--domain", processes.DOMAIN, "--endpoint-url", url, "--only", "activities")
        return started.enter_context(processes.Process("slow packer", "-c", f"{code}; worker.main()", *options))

    return start


@pytest.fixture
def connect(started):
    """Gives a client of a service where all types are registered."""

    def connect(url):
        client = started.enter_context(demo.connect(url))
        registrar = Registrar(client.service, processes.DOMAIN, "default", pause=lambda _: True)
        registrar.register([order, pack_and_ship], [reserve, release, charge, pack])
        return client

    return connect


def is_packing_all(run):
    """Whether a worker has begun to pack all three items; one reserved them before."""
    return len(of_type(run.history(), "ActivityTaskStarted")) == 4


def result_of(run):
    """The result as soon as there is one; ``run.result()`` looks ever more seldom."""
    until(lambda: run.describe().status == "CLOSED", f"{run} ends")
    return run.result(timeout=0)


def check_attempts(events):
    """Only parcels are packed again, and not more often than their policy says."""
    scheduled = [each["activityId"] for each in of_type(events, "ActivityTaskScheduled")]
    attempts = Counter(activity_id.partition(".")[0] for activity_id in scheduled)

    assert len(scheduled) == len(set(scheduled))
    assert attempts.keys() == {"reserve-1", "pack-1", "pack-2", "pack-3", "charge-1"}
    assert attempts["reserve-1"] == attempts["charge-1"] == 1
    assert max(attempts.values()) <= pack.retry.attempts


def test_workers_of_both_kinds_die_and_the_order_is_delivered_all_the_same(started, connect, worker, slow_packer):
    url = started.enter_context(processes.service())
    client = connect(url)
    first = worker(url, "workflows")
    run = demo.start(client, first.check, *demo.APPROVED, task_start_to_close_timeout=SHORT)
    until(lambda: of_type(run.history(), "ActivityTaskScheduled"), "the first activity", first)
    # Nobody runs activities yet, so this one is pending.
    first.kill()

    second, packer = worker(url, "workflows"), slow_packer(url, 3600)
    until(lambda: is_packing_all(run), "three items are packed", second, packer)
    packer.kill()
    second.kill()

    run.signal(approval, True)
    third, _ = worker(url, "workflows"), worker(url, "activities")
    assert result_of(run) == DELIVERY

    events = run.history()
    check_attempts(events)
    assert [each["timeoutType"] for each in of_type(events, "ActivityTaskTimedOut")] == ["HEARTBEAT"] * 3
    assert {process_of(each) for each in of_type(events, "DecisionTaskStarted")} == {first.pid, second.pid, third.pid}
    assert replay(order, run).closed


def test_the_service_dies_and_goes_on_where_it_was(started, connect, worker, slow_packer, tmp_path):
    port, db = processes.free_port(), tmp_path / "swf.db"
    url = processes.address(port)
    with processes.embedded(port, db) as service:
        client = connect(url)
        decider, packer = worker(url, "workflows"), slow_packer(url, 2)
        run = demo.start(client, decider.check, *demo.APPROVED, task_start_to_close_timeout=SHORT)
        until(lambda: is_packing_all(run), "three items are packed", decider, packer)
        before = run.history()
        service.kill()

    started.enter_context(processes.embedded(port, db))
    run.signal(approval, True)
    assert result_of(run) == DELIVERY

    events = run.history()
    check_attempts(events)
    assert events[: len(before)] == before
    assert replay(order, run).closed
    # The workers never noticed more than failed calls.
    decider.check()
    packer.check()


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, MOTO)), reason=f"moto's server needs {', '.join(MOTO)}: flowpy-swf[test]"
)
def test_deciders_die_and_all_is_delivered_on_the_simulator_of_others_too(started, connect, worker):
    port = processes.free_port()
    url = processes.address(port)
    started.enter_context(processes.listening(port, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)))
    client = connect(url)
    first = worker(url, "workflows")
    run = client.start(pack_and_ship, *demo.APPROVED, task_start_to_close_timeout=SHORT)
    until(lambda: of_type(run.history(), "ActivityTaskScheduled"), "the first activity", first)
    first.kill()

    second, helper = worker(url, "workflows"), worker(url, "activities")
    until(lambda: "timer-1" in timers(run.history()), "the courier's timer", second, helper)
    second.kill()

    third = worker(url, "workflows")
    assert result_of(run) == DELIVERY

    events = run.history()
    check_attempts(events)
    assert timers(events) == ["pack-2.w2", "timer-1"]
    assert {process_of(each) for each in of_type(events, "DecisionTaskStarted")} == {first.pid, second.pid, third.pid}
    assert replay(pack_and_ship, run).closed

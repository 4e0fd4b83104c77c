"""Worker processes under a supervisor. The workers here are little programs that speak the protocol of systemd."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from flowpy.service.retrying import Backoff
from flowpy.worker import supervising
from flowpy.worker.notifying import SUPERVISOR, Notifier, is_supervised
from flowpy.worker.supervising import ABANDONED, FAILED, USAGE, Supervisor

PATIENCE = 30.0
PROGRAM = """
import os, signal, socket, sys
told = []
def tell(text):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.sendto(text.encode(), os.environ["NOTIFY_SOCKET"])
def stop(*_):
    told.append(1)
    if len(told) == STOPS:
        sys.exit(CODE)
    tell('X_FLOWPY={"status": "draining"}')
signal.signal(signal.SIGTERM, stop)
tell('READY=1\\nX_FLOWPY={"status": "ok", "supervisor": %s}' % os.environ["FLOWPY_SUPERVISOR_PID"])
while True:
    signal.pause()
"""
AT_ONCE = Backoff(initial=0.001, maximum=0.01)


def program(stops=1, code=0):
    return [sys.executable, "-S", "-E", "-c", PROGRAM.replace("STOPS", str(stops)).replace("CODE", str(code))]


class Script:
    """Does things to a supervisor that runs in the main thread, from another one."""

    def __init__(self, supervisor, *acts):
        self.supervisor, self.acts, self.error = supervisor, acts, None

    def run(self):
        thread = threading.Thread(target=self._act, daemon=True)
        thread.start()
        code = self.supervisor.run()
        thread.join(PATIENCE)
        if self.error is not None:
            raise self.error
        return code

    def _act(self):
        try:
            for act in self.acts:
                act()
        except BaseException as error:
            self.error = error
            for child in self.supervisor._children:
                os.kill(child.process.pid, signal.SIGKILL)
            self.terminate()
            self.terminate()

    def until(self, condition):
        deadline, pause = time.monotonic() + PATIENCE, threading.Event()
        while not condition():
            assert time.monotonic() < deadline, self.shown()
            pause.wait(0.01)

    def shown(self):
        _, body = self.supervisor.answer("/healthz")
        return body["processes"]

    def ready(self):
        self.until(lambda: self.supervisor.answer("/readyz")[0] == 200)

    def terminate(self):
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture
def script(tmp_path):
    def make(command, *acts, processes=2, **options):
        options.setdefault("environment", {"PATH": os.environ["PATH"]})
        options.setdefault("notifier", Notifier({}))
        made = Script(Supervisor(command, processes, backoff=AT_ONCE, **options))
        made.acts = [getattr(made, act) if isinstance(act, str) else lambda act=act: act(made) for act in acts]
        return made

    return make


def test_workers_run_until_they_are_told_to_stop(script):
    def look(running):
        shown = running.shown()
        assert [(each["number"], each["ready"], each["status"]) for each in shown] == [(1, True, "ok"), (2, True, "ok")]
        assert {each["supervisor"] for each in shown} == {os.getpid()}
        assert len({each["pid"] for each in shown}) == 2

    assert script(program(), "ready", look, "terminate").run() == 0


def test_ctrl_c_stops_them_too(script):
    assert script(program(), "ready", lambda _: os.kill(os.getpid(), signal.SIGINT)).run() == 0


def test_a_worker_that_dies_is_started_again(script, caplog):
    pids = []

    def kill(running):
        pids.extend(each["pid"] for each in running.shown())
        os.kill(pids[0], signal.SIGKILL)
        running.until(lambda: running.shown()[0]["pid"] not in (pids[0], None))

    assert script(program(), "ready", kill, "ready", "terminate").run() == 0
    assert "worker 1 ended: killed by SIGKILL; it is started again in" in caplog.text


def test_a_worker_that_dies_again_and_again_waits_longer(script, caplog):
    def fail_often(running):
        running.until(lambda: caplog.text.count("exit code 5") >= 4)

    running = script([sys.executable, "-S", "-E", "-c", "raise SystemExit(5)"], fail_often, "terminate", processes=1)
    assert running.run() == 0
    assert running.supervisor._children[0].delays.attempt >= 4


def test_wrong_usage_ends_all_at_once(script, caplog):
    running = script([sys.executable, "-S", "-E", "-c", f"raise SystemExit({USAGE})"], processes=3)
    assert running.run() == USAGE
    assert "it would end again, so all stop" in caplog.text


def test_wrong_usage_ends_nobody_once_others_have_worked(script, tmp_path, caplog):
    """Files being replaced by a deployment, say: a process that is started just then cannot import them."""
    wrong = tmp_path / "wrong"
    refuses = f"import os\nif os.path.exists({str(wrong)!r}):\n    raise SystemExit({USAGE})\n"

    def replace(running):
        wrong.touch()
        os.kill(running.shown()[0]["pid"], signal.SIGKILL)
        running.until(lambda: f"exit code {USAGE}; it is started again" in caplog.text)
        wrong.unlink()

    command = program()
    command[-1] = refuses + command[-1]
    assert script(command, "ready", replace, "ready", "terminate").run() == 0


def test_the_exit_code_is_the_worst_of_the_workers(script):
    assert script(program(code=ABANDONED), "ready", "terminate").run() == ABANDONED


def test_a_second_signal_is_passed_on(script):
    def drains(running):
        running.until(lambda: [each["status"] for each in running.shown()] == ["draining"] * 2)

    assert script(program(stops=2, code=ABANDONED), "ready", "terminate", drains, "terminate").run() == ABANDONED


def test_a_worker_that_does_not_stop_is_killed_after_its_grace(script, monkeypatch, caplog):
    monkeypatch.setattr(supervising, "MARGIN", 0.05)
    assert script(program(stops=9), "ready", "terminate", grace=0.0).run() == FAILED
    assert "is killed: its time is over" in caplog.text


def test_a_worker_that_says_that_it_needs_longer_gets_longer(script, monkeypatch):
    monkeypatch.setattr(supervising, "MARGIN", 0.0)
    command = program(stops=2)
    command[-1] = command[-1].replace('"status": "ok"', '"status": "ok", "grace_seconds": 60')

    def drains(running):
        running.until(lambda: running.shown()[0]["status"] == "draining")
        assert running.supervisor._kill_at > time.monotonic() + 30
        os.kill(running.shown()[0]["pid"], signal.SIGTERM)

    assert script(command, "ready", "terminate", drains, processes=1, grace=0.0).run() == 0


def test_a_worker_that_falls_silent_is_replaced(script, monkeypatch, caplog):
    monkeypatch.setattr(supervising, "SILENT", 0.2)

    def replaced(running):
        first = running.shown()[0]["pid"]
        running.until(lambda: "it is silent" in caplog.text)
        running.until(lambda: running.shown()[0]["pid"] not in (first, None))

    assert script(program(), "ready", replaced, "terminate", processes=1).run() == 0


def test_workers_that_were_paused_with_the_supervisor_are_not_taken_for_silent(monkeypatch):
    monkeypatch.setattr(supervising, "SILENT", 60.0)
    supervisor = Supervisor(["worker"], 1, environment={}, notifier=Notifier({}))
    inbox, worker = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    inbox.setblocking(False)
    child = supervising._Child(1, inbox, "", AT_ONCE.delays(), due=0.0)
    killed = []
    child.process = type("Process", (), {"poll": lambda _: None, "kill": lambda _: killed.append(1), "pid": 0})()
    supervisor._children, supervisor._kill_at = [child], 300.0

    with inbox, worker:
        worker.send(b"READY=1")
        supervisor._look(100.0)
        supervisor._look(101.0)
        supervisor._look(400.0)  # both stood still for five minutes, and the worker's word may be on its way
        assert not killed
        for now in range(401, 455, 5):
            supervisor._look(float(now))
        assert not killed
        for now in range(455, 480, 5):
            supervisor._look(float(now))
    assert killed


@pytest.mark.parametrize(
    "said", ["X_FLOWPY={", "X_FLOWPY=3", "X_FLOWPY", 'X_FLOWPY={"grace_seconds": "long"}', "=", "\xff"]
)
def test_what_others_say_in_a_workers_name_ends_nobody(script, said):
    def speak(running):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.sendto(said.encode("latin-1"), running.supervisor._children[0].address)
        running.ready()

    assert script(program(), "ready", speak, "terminate", processes=1).run() == 0


def test_a_worker_may_be_ended_by_a_signal_without_a_name(script, caplog):
    def kill(running):
        os.kill(running.shown()[0]["pid"], signal.SIGRTMIN + 5)
        running.until(lambda: "it is started again" in caplog.text)
        running.ready()

    assert script(program(), "ready", kill, "terminate", processes=1).run() == 0
    assert f"killed by signal {signal.SIGRTMIN + 5}" in caplog.text


def test_systemd_is_told(script, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(path)
        inbox.settimeout(PATIENCE)
        environment = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1", "PATH": "/usr/bin"}
        running = script(
            program(), "ready", "terminate", notifier=Notifier(environment), environment=environment, processes=2
        )
        assert running.run() == 0
        inbox.setblocking(False)
        told = []
        try:
            while True:
                told.append(dict(line.split("=", 1) for line in inbox.recv(4096).decode().splitlines()))
        except BlockingIOError:
            pass
    assert any(each.get("READY") == "1" and each["STATUS"] == "2 of 2 workers poll" for each in told)
    assert any(each.get("WATCHDOG") == "1" for each in told)
    stops = [number for number, each in enumerate(told) if each.get("STOPPING") == "1"]
    assert len(stops) == 1
    assert not any("READY" in each for each in told[: stops[0]] if each["STATUS"] == "0 of 2 workers poll")


def test_signals_are_handled_as_before_afterwards(script):
    before = signal.getsignal(signal.SIGTERM)
    script(program(), "ready", "terminate").run()
    assert signal.getsignal(signal.SIGTERM) is before


def test_probes_are_answered_for_all(script):
    def degrade(running):
        running.supervisor._children[0].report = {"status": "stalled"}
        status, body = running.supervisor.answer("/healthz")
        assert (status, body["status"]) == (200, "degraded")
        running.supervisor._children[1].report = {"status": "stalled"}
        status, body = running.supervisor.answer("/healthz")
        assert (status, body["status"]) == (503, "stalled")
        assert running.supervisor.answer("/other") is None

    assert script(program(), "ready", degrade, "terminate", health=("127.0.0.1", 0)).run() == 0


def test_an_orphan_knows(monkeypatch):
    assert not Notifier({}).is_orphan
    assert not Notifier({SUPERVISOR: str(os.getppid())}).is_orphan
    assert Notifier({SUPERVISOR: "1000000"}).is_orphan


def test_what_a_worker_starts_is_not_the_supervisors(tmp_path):
    """The environment is inherited by all that activities start, a worker too: its parent is another one."""
    inherited = {SUPERVISOR: str(os.getpid()), "NOTIFY_SOCKET": str(tmp_path / "of-the-worker")}

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(inherited["NOTIFY_SOCKET"])
        heard.setblocking(False)
        nested = Notifier(inherited)
        nested.send(READY="1")
        with pytest.raises(BlockingIOError):
            heard.recv(1_000)
        Notifier({**inherited, SUPERVISOR: str(os.getppid())}).send(READY="1")
        assert heard.recv(1_000) == b"READY=1"

    assert not nested.is_orphan
    assert not is_supervised(inherited)
    assert not is_supervised({SUPERVISOR: "nobody"})
    assert is_supervised({SUPERVISOR: str(os.getppid())})
    assert is_supervised({SUPERVISOR: "1000000"})  # dead before this process could look


def test_nobody_listening_is_no_error(tmp_path):
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "none")}).send(READY="1")
    Notifier({"NOTIFY_SOCKET": "@nobody-listens-here"}).send(READY="1")


def test_a_watchdog_of_another_process_is_none_of_this():
    assert Notifier({"WATCHDOG_USEC": "30000000"}).watchdog == 30
    assert Notifier({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}).watchdog is None


AS_PROCESS_1 = """
import glob, os, signal, sys, threading, time
from flowpy.worker.supervising import Supervisor

assert os.getpid() == 1
LEAVES_ORPHANS = \"\"\"
import os, signal, socket, sys
for _ in range(3):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
    out.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
while True:
    signal.pause()
\"\"\"

def zombies():
    return [path for path in glob.glob("/proc/[0-9]*/stat") if open(path).read().rpartition(")")[2].split()[0] == "Z"]

def look():
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (supervisor.answer("/readyz")[0] != 200 or zombies()):
        time.sleep(0.02)
    print("zombies", len(zombies()))
    os.kill(1, signal.SIGTERM)

supervisor = Supervisor([sys.executable, "-S", "-c", LEAVES_ORPHANS], 2)
threading.Thread(target=look).start()
print("exit code", supervisor.run())
"""


def test_as_process_1_it_reaps_what_others_leave_behind():
    unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    try:
        subprocess.run([*unshare, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no process namespaces here")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [*unshare, sys.executable, "-c", AS_PROCESS_1]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * 2, env=environment, check=False)
    assert done.stdout.splitlines() == ["zombies 0", "exit code 0"], done.stderr

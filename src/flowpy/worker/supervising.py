"""Several worker processes under one: started, watched, started again when they die, and stopped together.

Each is a program of its own, so that nothing is shared but the configuration. They tell how they are with the protocol
of systemd (`flowpy.worker.notifying`), and the supervisor tells systemd how they are together. It works as process 1 of
a container, where it reaps what others leave behind.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import define, field

from flowpy.service.retrying import Backoff, Delays
from flowpy.worker.health import HealthServer
from flowpy.worker.notifying import SUPERVISOR, Notifier
from flowpy.worker.signals import how_it_ended

__all__ = ["ABANDONED", "FAILED", "USAGE", "Supervisor"]

FAILED: Final = 1
"""Exit code of a worker that ended by an error, or that had to be killed."""
USAGE: Final = 2
"""Exit code of a worker that was told what cannot work: starting it again would not help."""
ABANDONED: Final = 9
"""Exit code of a worker that left work behind because its grace was over."""

RESTARTS: Final = Backoff(initial=0.5, maximum=60.0)
STEADY: Final = 60.0
"""Seconds after which a process that dies is started again without a wait."""
SILENT: Final = 60.0
"""Seconds without a word after which a process that spoke before is killed."""
PAUSED: Final = 15.0
"""Seconds between two looks after which the supervisor itself was not running."""
MARGIN: Final = 15.0
"""Seconds over the grace that a process gets to end."""

_LOOK_EVERY: Final = 1.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
_log = logging.getLogger("flowpy.supervisor")


@define(eq=False)
class _Child:
    """A worker process, and those that were in its place before.

    Attributes:
        number: From 1.
        inbox: Socket that it tells its state to.
        address: Path of the socket.
        delays: Waits before it is started again.
        due: When it is to be started.
        process: The process; None while there is none.
        began: When it was started.
        heard: When it said something last; None if it has not yet.
        report: What it said last.
        ready: Whether it takes tasks.
    """

    number: int
    inbox: socket.socket
    address: str
    delays: Delays
    due: float
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    heard: float | None = None
    report: dict[str, Any] = field(factory=dict)
    ready: bool = False

    def listen(self, now: float) -> None:
        """Take what it says."""
        with contextlib.suppress(BlockingIOError):
            while True:
                lines = self.inbox.recv(65_536).decode(errors="replace").splitlines()
                told = dict(line.split("=", 1) for line in lines if "=" in line)
                self.heard = now
                self.ready = (self.ready or told.get("READY") == "1") and told.get("STOPPING") != "1"
                # What it starts has the socket too, and may say anything.
                with contextlib.suppress(ValueError):
                    report = json.loads(told.get("X_FLOWPY", ""))
                    self.report = report if isinstance(report, dict) else self.report

    @property
    def grace(self) -> float:
        """Seconds that it says it needs to end; 0 if it does not say it in numbers."""
        said = self.report.get("grace_seconds")
        return said if isinstance(said, (int, float)) else 0.0

    def shown(self) -> dict[str, Any]:
        """What is said of it."""
        pid = None if self.process is None else self.process.pid
        status = self.report.get("status", "starting") if pid else "dead"
        return {"number": self.number, "pid": pid, "ready": self.ready, **self.report, "status": status}


@define(eq=False)
class Supervisor:
    """Runs several processes of one command.

    Args:
        command: Program and arguments of a worker.
        processes: How many.
        grace: Seconds that a worker needs to drain, unless it says that it needs more.
        health: Address and port on which probes are answered; None: none.
        environment: Of the workers; default that of this process.
        notifier: Told how they are together.
        backoff: Waits before a process that died is started again.
    """

    command: list[str]
    processes: int
    grace: float = 30.0
    health: tuple[str, int] | None = None
    environment: Mapping[str, str] = field(factory=lambda: dict(os.environ))
    notifier: Notifier = field(factory=Notifier)
    backoff: Backoff = RESTARTS
    _children: list[_Child] = field(factory=list, init=False)
    _stops: int = field(default=0, init=False)
    _kill_at: float = field(default=float("inf"), init=False)
    _code: int = field(default=0, init=False)
    _was_ready: bool = field(default=False, init=False)
    _has_worked: bool = field(default=False, init=False)
    _looked: float = field(default=float("inf"), init=False)

    def run(self) -> int:
        """Work until SIGTERM or SIGINT; a second one stops at once.

        Returns:
            The exit code: 0 if all workers ended well, else the highest of theirs, or 1 for one that was killed.

        Raises:
            OSError: The port of the probes is taken.
        """
        with tempfile.TemporaryDirectory(prefix="flowpy-") as folder, self._serving(), _woken() as wake:
            try:
                self._children = [self._child(Path(folder), number) for number in range(1, self.processes + 1)]
                while not (self._stops and all(child.process is None for child in self._children)):
                    self._turn(wake)
            finally:
                for child in self._children:
                    if child.process is not None:
                        child.process.kill()
                        child.process.wait()
                    child.inbox.close()
        _log.info("all workers have ended, exit code %d", self._code)
        return self._code

    def _turn(self, wake: socket.socket) -> None:
        now = time.monotonic()
        for child in self._children:
            if child.process is None and child.due <= now and not self._stops:
                self._start(child, now)
        due = [child.due for child in self._children if child.process is None and not self._stops]
        timeout = max(0.0, min([_LOOK_EVERY, *(time - now for time in due)]))
        heard, _, _ = select.select([wake, *(child.inbox for child in self._children)], [], [], timeout)
        numbers = wake.recv(256) if wake in heard else b""
        for number in numbers:
            if number in (signal.SIGTERM, signal.SIGINT):
                self._stop(number)
        self._look(time.monotonic())

    def _look(self, now: float) -> None:
        """See who speaks, who has ended and who says nothing any more."""
        # A container that is paused stops the workers too: nobody was silent while nobody listened.
        passed, self._looked = now - self._looked, now
        paused = passed if passed > PAUSED else 0.0
        self._kill_at += paused
        for child in self._children:
            if child.heard is not None:
                child.heard += paused
            child.listen(now)
        for child in self._children:
            if child.process is not None and (code := child.process.poll()) is not None:
                self._ended(child, code, now)
        if os.getpid() == 1:
            self._reap()
        for child in self._children:
            if child.process is None:
                continue
            silent = child.heard is not None and now - child.heard > SILENT and not self._stops
            if silent or now > self._kill_at:
                _log.error("worker %d is killed: %s", child.number, "it is silent" if silent else "its time is over")
                self._code = max(self._code, 0 if silent else FAILED)
                child.heard = None
                child.process.kill()
        self._tell()

    # --- their lives ----------------------------------------------------------------------------

    def _child(self, folder: Path, number: int) -> _Child:
        inbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        inbox.setblocking(False)
        address = str(folder / f"{number}.socket")
        inbox.bind(address)
        return _Child(number, inbox, address, self.backoff.delays(), time.monotonic())

    def _start(self, child: _Child, now: float) -> None:
        told = {"NOTIFY_SOCKET": child.address, SUPERVISOR: str(os.getpid())}
        dropped = ("WATCHDOG_USEC", "WATCHDOG_PID")
        environment = {name: value for name, value in self.environment.items() if name not in dropped} | told
        child.began, child.heard, child.report, child.ready = now, None, {}, False
        try:
            # A group of its own: Ctrl-C in a terminal is for the supervisor, which tells the workers once.
            child.process = subprocess.Popen(self.command, env=environment, process_group=0)  # noqa: S603
        except OSError as error:
            child.due = now + child.delays.next()
            _log.error("worker %d cannot be started: %s", child.number, error)
            return
        _log.info("worker %d started: process %d", child.number, child.process.pid)

    def _ended(self, child: _Child, code: int, now: float) -> None:
        was_ready, child.process, child.ready, child.report = child.ready, None, False, {}
        how = how_it_ended(code)
        if self._stops:
            # One that was told to stop before it could listen has left nothing behind.
            self._code = max(self._code, 0 if code == -signal.SIGTERM else code if code > 0 else FAILED * (code < 0))
            _log.info("worker %d has ended: %s", child.number, how)
            return
        self._has_worked = self._has_worked or was_ready
        if code == USAGE and not self._has_worked:
            _log.error("worker %d ended: %s; it would end again, so all stop", child.number, how)
            self._code = USAGE
            self._stop(signal.SIGTERM)
            return
        if now - child.began > STEADY:
            child.delays.reset()
        wait = child.delays.next()
        child.due = now + wait
        _log.error("worker %d ended: %s; it is started again in %.1f s", child.number, how, wait)

    def _stop(self, number: int) -> None:
        self._stops += 1
        grace = max([self.grace, *(child.grace for child in self._children)])
        self._kill_at = time.monotonic() + (grace if self._stops == 1 else 0.0) + MARGIN
        _log.info("%s: the workers are told to stop", signal.Signals(number).name)
        self.notifier.send(STOPPING="1", STATUS="draining")
        for child in self._children:
            if child.process is not None:
                child.process.send_signal(signal.SIGTERM)

    def _reap(self) -> None:
        """As process 1: collect the processes that others left behind."""
        own = {child.process.pid for child in self._children if child.process is not None}
        with contextlib.suppress(ChildProcessError):
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if found.si_pid in own:
                    # It is met again, and told of, in the next turn.
                    return
                os.waitpid(found.si_pid, 0)

    # --- how they are ---------------------------------------------------------------------------

    def _tell(self) -> None:
        shown = [child.shown() for child in self._children]
        ready = sum(child["ready"] for child in shown)
        self._has_worked = self._has_worked or ready > 0
        self._was_ready = self._was_ready or ready == len(shown)
        told = {"WATCHDOG": "1"}
        if self._was_ready:
            told["READY"] = "1"
        if not self._stops:
            told["STATUS"] = f"{ready} of {len(shown)} workers poll"
        self.notifier.send(**told)

    def answer(self, path: str) -> tuple[int, dict[str, Any]] | None:
        """HTTP status and body for a path: ``/healthz`` is 200 if any worker is well, ``/readyz`` if all are ready."""
        shown = [child.shown() for child in self._children]
        well = [child["status"] in ("ok", "starting", "draining") for child in shown]
        if path == "/healthz":
            fine = any(well)
        elif path == "/readyz":
            fine = bool(shown) and all(child["ready"] for child in shown)
        else:
            return None
        status = "draining" if self._stops else "ok" if all(well) else "degraded" if any(well) else "stalled"
        return 200 if fine else 503, {"status": status, "processes": shown}

    @contextlib.contextmanager
    def _serving(self) -> Iterator[None]:
        if self.health is None:
            yield
            return
        server = HealthServer(self.answer, *self.health)
        server.start()
        _log.info("health is at http://%s:%d/healthz", self.health[0], server.port)
        try:
            yield
        finally:
            server.close()


@contextlib.contextmanager
def _woken() -> Iterator[socket.socket]:
    """A socket that gets a byte with the number of each signal, so that none is missed while others are waited for."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()

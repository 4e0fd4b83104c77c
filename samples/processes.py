"""The processes of the demo: Amazon SWF on this machine, and workers."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, Self

HERE = Path(__file__).parent
DOMAIN, REGION = "shop", "us-east-1"
PATIENCE = 60.0  # seconds that anything may take to start
GRACE = 5.0  # seconds that a process may take to end

# The service wants to see credentials and takes any; profiles and proxies of this machine have no part in it.
LOCAL = {"AWS_ACCESS_KEY_ID": "demo", "AWS_SECRET_ACCESS_KEY": "demo", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
NOT_LOCAL = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN")


_asked_to_stop: list[int] = []


def stop_in_pauses() -> None:
    """Have Ctrl-C and signals end this process in its next ``pause``: never while it starts or ends another one."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: _asked_to_stop.append(received))


def pause(seconds: float) -> None:
    """Wait a moment.

    Raises:
        SystemExit: A signal has asked this process to stop.
    """
    time.sleep(seconds)
    if _asked_to_stop:
        raise SystemExit(128 + _asked_to_stop[0])


class ProcessFailed(Exception):
    """A process could not start or has ended by itself; says which, and its last words."""


class Process:
    """A Python process that runs while a ``with`` block does.

    Args:
        what: What to call it.
        *arguments: As of ``python``.
    """

    def __init__(self, what: str, *arguments: str) -> None:
        self.what = what
        self._written: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._popen = subprocess.Popen(  # noqa: S603 - this Python, with arguments from here
            [sys.executable, *arguments],
            env={name: value for name, value in os.environ.items() if name not in NOT_LOCAL} | LOCAL,
            stdin=subprocess.DEVNULL,
            stdout=self._written,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the starter alone, which then ends the others in order
        )
        self.pid = self._popen.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Ask it to end, make it end if it does not."""
        self.ask_to_end()
        try:
            self._popen.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
        self._written.close()

    def ask_to_end(self) -> None:
        """Ask it to end in order, which takes a while."""
        self._popen.terminate()

    def kill(self) -> None:
        """End it at once, as a crash does: nothing in it can react."""
        os.kill(self.pid, signal.SIGKILL)
        self._popen.wait()

    def check(self) -> None:
        """Look whether it still runs.

        Raises:
            ProcessFailed: It has ended.
        """
        status = self._popen.poll()
        if status is not None:
            self._written.seek(0)
            last = "".join(self._written.readlines()[-20:])
            raise ProcessFailed(f"the {self.what} ended with status {status}; its last words:\n{last}")


def worker(url: str, *options: str) -> Process:
    """Start a worker; with ``--only workflows`` or ``--only activities`` half a one."""
    script = str(HERE / "worker.py")
    return Process("worker", script, "--domain", DOMAIN, "--region", REGION, "--endpoint-url", url, *options)


@contextmanager
def service() -> Iterator[str]:
    """Amazon SWF on the loopback interface, as it comes with flowpy, while a block runs; gives its address.

    Raises:
        ProcessFailed: What it needs is not installed, or it does not start.
    """
    missing = missing_modules()
    if missing:
        raise ProcessFailed(f"not installed: {', '.join(missing)}; run make demo, or pip install 'flowpy-swf[server]'")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="flowpy-demo-") as folder, embedded(port, Path(folder, "swf.db")):
        yield address(port)


def embedded(port: int, db: Path) -> AbstractContextManager[Process]:
    """That service alone. All it knows is in the file: it may die, and another one goes on where it was."""
    return listening(port, "-m", "flowpy.local", "--port", str(port), "--db", str(db), "--hold", "2")


@contextmanager
def listening(port: int, *arguments: str) -> Iterator[Process]:
    """A service, from when it answers on a port until a block ends.

    Raises:
        ProcessFailed: It does not start.
    """
    with Process("service", *arguments) as process:
        deadline = time.monotonic() + PATIENCE
        while not _answers(port):
            process.check()
            if time.monotonic() > deadline:
                raise ProcessFailed(f"the service does not answer on port {port} after {PATIENCE:g} s")
            pause(0.05)
        yield process


def missing_modules() -> list[str]:
    """What the service needs and this Python does not have."""
    return [name for name in ("httptools", "uvicorn") if importlib.util.find_spec(name) is None]


def address(port: int) -> str:
    """Where a service on a port is."""
    return f"http://127.0.0.1:{port}"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def be_local() -> None:
    """Have boto3 in this process speak to the service as it is, without this machine's AWS settings."""
    for name in NOT_LOCAL:
        os.environ.pop(name, None)
    os.environ.update(LOCAL)


def _answers(port: int) -> bool:
    """Whether a service on a port answers HTTP, whatever it says."""
    probe = HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        probe.request("GET", "/")
        probe.getresponse()
    except (OSError, HTTPException):
        return False
    finally:
        probe.close()
    return True

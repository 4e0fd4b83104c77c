"""The servers under measurement, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

_PATIENCE: Final = 60.0
"""Seconds a server may take to start."""


@frozen
class Process:
    """A server that runs.

    Attributes:
        url: Its endpoint.
        pid: Its process.
    """

    url: str
    pid: int

    def cpu(self) -> float:
        """Seconds of CPU it has used, user and system, all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def _serving(command: list[str], port: int) -> Iterator[Process]:
    whole = [sys.executable, *command]
    process = subprocess.Popen(whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        _wait(process, port)
        yield Process(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{process.args!r} did not start")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)


@contextlib.contextmanager
def flowpy_server(database: str | None = None) -> Iterator[Process]:
    """The embedded SWF, in memory or on a SQLite file."""
    port = _free_port()
    kept = ["--db", database] if database else []
    with _serving(["-m", "flowpy.local", "--port", str(port), *kept], port) as process:
        yield process


@contextlib.contextmanager
def moto_server() -> Iterator[Process]:
    """The server that moto brings."""
    port = _free_port()
    with _serving(["-m", "moto.server", "-p", str(port)], port) as process:
        yield process

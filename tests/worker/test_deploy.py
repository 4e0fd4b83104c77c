"""Rolling restarts under load: no task is lost that a worker could have ended or handed back before it stopped.

``FLOWPY_DEPLOYS=20`` makes twenty of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowpy import Client

from .deployed import chain

DEPLOYS = int(os.environ.get("FLOWPY_DEPLOYS", "1"))
WORKERS = 3
STEPS = 2
PATIENCE = 60.0  # seconds
HERE = Path(__file__).parent
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE)]),
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
}


class Process:
    """A process whose standard error, or output, is read line by line."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def says(self, text: str) -> str:
        """Wait for a line with a text in it."""
        found: list[str] = []

        def said() -> bool:
            found[:] = [line for line in self.lines if text in line]
            return bool(found) or not self._reader.is_alive()

        with self._changed:
            assert self._changed.wait_for(said, PATIENCE), self.lines
        assert found, "".join(self.lines)
        return found[0]

    def stop(self) -> int:
        """Tell it to stop and wait for its end."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        """Wait for its end; gives its exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for process in started:
        process.kill()


@pytest.fixture
def client(processes: list[Process], monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client of an embedded service that is a process of its own."""
    server = Process("flowpy.local", "--port", "0", "--hold", "0.5")
    processes.append(server)
    url = server.says("Amazon SWF is at ").split()[4]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, ENVIRONMENT[name])
    made = Client("shop", endpoint_url=url)
    made.service.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
    made.url = url  # type: ignore[attr-defined]
    yield made
    made.service.close()  # type: ignore[attr-defined]


def worker(processes: list[Process], client: Client, *options: str) -> Process:
    url = client.url  # type: ignore[attr-defined]
    process = Process("flowpy.cli", "worker", "deployed", "--domain", "shop", "--endpoint-url", url, *options)
    processes.append(process)
    return process


@contextlib.contextmanager
def load(client: Client, runs: list) -> Iterator[None]:
    """Starts some runs a second, until the block ends."""
    enough = threading.Event()

    def start() -> None:
        while not enough.wait(0.25):
            runs.append(client.start(chain, STEPS, workflow_id=f"chain-{len(runs)}"))

    thread = threading.Thread(target=start)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join(PATIENCE)


def test_nothing_is_lost_when_workers_are_replaced_one_by_one_under_load(client, processes):
    workers = [worker(processes, client) for _ in range(WORKERS)]
    for each in workers:
        each.says("polls task list")
    runs: list = []
    with load(client, runs):
        for _ in range(DEPLOYS):
            newer = [worker(processes, client) for _ in workers]
            for old, new in zip(workers, newer, strict=True):
                new.says("polls task list")
                assert old.stop() == 0, "".join(old.lines)
            workers = newer
    results = [run.result(timeout=PATIENCE) for run in runs]
    assert results == [STEPS] * len(runs)
    assert len(runs) > 5 * DEPLOYS
    lost = [
        (run.workflow_id, event["eventType"], event)
        for run in runs
        for event in run.history()
        if event["eventType"].endswith(("TimedOut", "Failed"))
    ]
    assert lost == []
    for each in workers:
        assert each.stop() == 0
    text = "".join(line for process in processes for line in process.lines)
    assert "abandoned: " not in text

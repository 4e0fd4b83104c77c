"""docs/tutorial.md, as a newcomer does it: real processes for the service and its workers, every output as shown."""

from __future__ import annotations

import linecache
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.docs.pages import fences
from tests.docs.sessions import Shell, commands

from flowpy import Client
from flowpy.cli.commands import flowpy as command
from flowpy.service import BotoService
from flowpy.service.sessions import boto_session
from flowpy.testing import Environment

PAGE = "docs/tutorial.md"
INSTALLED = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))
LOOP = re.compile(r"^    (?:cards =|for month)", re.MULTILINE)
VARYING = [
    (re.compile(r"2[23][\w+/]{43}="), "RUN_ID"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"worker \S+ polls"), "worker PID polls"),
    (re.compile(r"in \d+\.\d+s"), "in SECONDS"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
]


def steady(text: str) -> str:
    """Without what is another each time."""
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text


class Terminals(Shell):
    """Those of the tutorial: server and workers as processes, the other commands here."""

    def __init__(self, pytester: pytest.Pytester, swf: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(swf, monkeypatch)
        self._pytester = pytester
        self.processes = ExitStack()
        self._workers: list[subprocess.Popen[str]] = []
        self.url = ""

    def _line(self, line: str) -> str:
        said = super()._line(line)
        if line.startswith("export ") and self.url:
            self.monkeypatch.setenv("AWS_ENDPOINT_URL_SWF", self.url)
        return said

    def _flowpy(self, arguments: list[str], given: str) -> str:
        if arguments[0] == "server":
            first = self._begin([*arguments, "--port", "0", "--hold", "1"]).stdout
            assert first is not None
            said = first.readline() + first.readline()
            self.url = said.split()[4]
            return said
        if arguments[0] == "worker":
            return self._worker(arguments)
        forget(Path.cwd())
        result = CliRunner().invoke(command, arguments, prog_name="flowpy", input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if arguments[0] == "start":
            self._settle(arguments[arguments.index("--workflow-id") + 1])
        return str(result.output)

    def _settle(self, workflow_id: str) -> None:
        """Wait until the worker has done what there is to do."""
        client = Client("shop", BotoService(session=boto_session(None, self.url), endpoint_url=self.url))
        between = threading.Event()
        for _ in range(600):
            counts = client.run(workflow_id).describe().open_counts
            if counts.timers and not counts.activity_tasks and not counts.decision_tasks:
                return
            between.wait(0.05)
        raise AssertionError("the worker does nothing")

    def _pytest(self, arguments: list[str], _: str) -> str:
        forget(Path.cwd())
        plugin = [] if INSTALLED else ["-p", "flowpy_pytest"]
        return self._pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider", *arguments).stdout.str() + "\n"

    def _worker(self, arguments: list[str]) -> str:
        """What a worker logs when it polls; the one before is killed."""
        for worker in self._workers:
            worker.kill()
        worker = self._begin(arguments)
        self._workers.append(worker)
        assert worker.stderr is not None
        for said in worker.stderr:
            if " polls task list " in said:
                # Read on, or the worker stands still when the pipe is full.
                threading.Thread(target=worker.stderr.read, daemon=True).start()
                return said[said.index("INFO ") :]
        raise AssertionError("the worker has ended")

    def _begin(self, arguments: list[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "flowpy.cli", *arguments],
            # No worker here is waited for that is gone.
            env={**self._environment(), "FLOWPY_STICKY_TIMEOUT": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if arguments[0] == "worker" else subprocess.DEVNULL,
            text=True,
        )
        self.processes.callback(end, process)
        return process


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def forget(folder: Path) -> None:
    """Drop the modules of a folder: the next command reads what stands there then, as a new process would."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
    linecache.clearcache()


def write(block: str) -> None:
    """Do with a file what the first line of the block says."""
    first, code = block.split("\n", 1)
    name, _, where = first.removeprefix("# ").partition(", ")
    file = Path(name)
    if where == "at its end":
        code = file.read_text(encoding="utf-8") + "\n\n" + code
    elif where:
        kept = LOOP.split(file.read_text(encoding="utf-8"))[0]
        code = ("import flowpy\n" if "flowpy.patched" in code else "") + kept + code
    file.write_text(code, encoding="utf-8")


@pytest.fixture
def terminals(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, swf: Environment) -> Iterator[Terminals]:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "FLOWPY_DOMAIN"):
        monkeypatch.delenv(name, raising=False)
    terminals = Terminals(pytester, swf, monkeypatch)
    with terminals.processes:
        yield terminals
    forget(pytester.path)


def test_it_goes_as_it_says(terminals: Terminals) -> None:
    for block in fences(PAGE, "console", "python"):
        if block.language == "python":
            write(block.text)
        else:
            assert steady(terminals.session(block.text)) == steady(block.text)


def test_it_leaves_nothing_to_guess() -> None:
    lines = [line for block in fences(PAGE, "console") for line in commands(block.text)]

    assert {line.split()[0] for line in lines} <= {"flowpy", "pytest", "cd", "export"}

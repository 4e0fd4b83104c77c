"""Console sessions of a page: fences marked ``console``, whose commands are run here and print what is shown."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from attrs import frozen
from click.testing import CliRunner

import flowpy_pytest
from flowpy import Client
from flowpy.cli.commands import flowpy as command
from flowpy.cli.connecting import Connection
from flowpy.cli.failing import Exit
from flowpy.local import client as local_client
from flowpy.service import BotoService, Service
from flowpy.testing import Environment

DOMAIN = "shop"
"""What the page calls the domain."""

PYTHON = re.compile(r"^(python +)3\.\d+$", re.MULTILINE)
TOOK = re.compile(r"in \d+\.\d+s")
PORT = re.compile(r"127\.0\.0\.1:\d+")


def commands(text: str) -> list[str]:
    """What is typed in a fence ``console``."""
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


class Shell:
    """Runs a session's commands in a folder, against an SWF in this process whose domain has the page's name.

    Args:
        swf: The service, with a worker.
        monkeypatch: Sets the folder and the environment.
        service: What commands reach it by; default boto3, so that errors read as those of the real service do.

    Attributes:
        status: Exit code of the program that was run last.
    """

    programs: Collection[str] = ("flowpy", "pytest")

    def __init__(self, swf: Environment, monkeypatch: pytest.MonkeyPatch, service: Service | None = None) -> None:
        self.swf = swf
        self.monkeypatch = monkeypatch
        self.status = 0
        renaming = Renaming(swf.client.service, (DOMAIN,), swf.client.domain)
        self.service = service or BotoService(local_client(renaming))

    def session(self, text: str) -> str:
        """What the session prints, its commands among it."""
        return "".join(f"$ {line}\n{self._normal(self._line(line))}" for line in commands(text))

    def _line(self, line: str) -> str:
        first, *rest = shlex.split(line)
        if first == "cd":
            self.monkeypatch.chdir(Path(rest[0]).expanduser())
            self.monkeypatch.syspath_prepend(Path.cwd())
        elif first == "export":
            for setting in rest:
                name, _, value = setting.partition("=")
                self.monkeypatch.setenv(name, value)
        elif first in self.programs:
            given = ""
            for part in line.split(" | "):
                program, *arguments = [each for word in shlex.split(part) for each in self._files(word)]
                given = getattr(self, f"_{program}")(arguments, given)
            return given
        return ""

    def _flowpy(self, arguments: list[str], given: str) -> str:
        if arguments[0] == "server":
            return self._server(arguments)
        result = CliRunner().invoke(command, arguments, obj=self._connect, prog_name="flowpy", input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        self.status = result.exit_code
        self.swf.settle()
        return str(result.output)

    def _server(self, arguments: list[str]) -> str:
        """The lines that the server prints; Ctrl-C ends it as soon as it serves."""
        return self._served([sys.executable, "-m", "flowpy.cli", *arguments, "--port", "0"], 2, self._await)

    def _served(self, line: list[str], lines: int, reach: Callable[[str], object]) -> str:
        with subprocess.Popen(line, env=self._environment(), stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                printed = "".join(process.stdout.readline() for _ in range(lines))
                reach(printed.split()[4])
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=30) in {0, Exit.INTERRUPTED}
            finally:
                process.kill()
        return printed

    @staticmethod
    def _await(url: str) -> None:
        """Wait until the server answers, with its console."""
        with urlopen(url, timeout=30) as page:  # noqa: S310 - our own server
            assert b"<h1>Domains</h1>" in page.read()

    @staticmethod
    def _head(arguments: list[str], given: str) -> str:
        return "".join(given.splitlines(keepends=True)[: -int(arguments[0])])

    def _pytest(self, arguments: list[str], _: str) -> str:
        line = [sys.executable, "-m", "pytest", "-p", "flowpy_pytest", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(line, env=self._environment(), capture_output=True, text=True, timeout=60, check=False)
        self.status = done.returncode
        return done.stdout

    @staticmethod
    def _environment() -> dict[str, str]:
        source = str(Path(flowpy_pytest.__file__).parent)
        return {**os.environ, "PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def _connect(self, connection: Connection) -> Client:
        return Client(connection.domain or "", self.service, sleep=self.swf.advance, clock=self.swf.clock)

    @staticmethod
    def _files(word: str) -> list[str]:
        return sorted(map(str, Path().glob(word))) or [word] if "*" in word else [word]

    @staticmethod
    def _normal(text: str) -> str:
        return PYTHON.sub(r"\g<1>3.13", PORT.sub("127.0.0.1:8042", TOOK.sub("in 0.12s", text)))


@frozen
class Renaming:
    """A service that knows a domain by other names."""

    service: Any
    called: Collection[str]
    domain: str

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        member = "name" if operation.endswith("Domain") else "domain"
        if request.get(member) in self.called:
            request = {**request, member: self.domain}
        answer: dict[str, Any] = self.service.call(operation, request)
        return answer

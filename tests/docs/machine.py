"""The machine of a reader: a folder with a project, an SWF where an order waits, and the programs that pages name."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import pytest
from tests.docs.pages import MADE, ROOT, SKELETON, Session, fences
from tests.docs.sessions import Renaming, Shell

import flowpy
from flowpy import Client
from flowpy.cli.connecting import Connection
from flowpy.local import Engine, SystemClock
from flowpy.local.server import Application, Regions, Server
from flowpy.local.server.command import main as serve
from flowpy.testing import Environment
from flowpy.testing.recorded import workflows_in

DOMAINS: Final = ("shop", "files", "office", "payroll", "pictures", "texts")
"""What pages call the domain."""

STAND_INS: Final = {
    "DAYS": "7",
    "MODULE": "shop",
    "N": "2",
    "PATH...": "shop",
    "ROLE": "arn:aws:iam::123456789012:role/swf-lambda",
    "WORKFLOW_ID": "cart-1",
    "club-ann": "order-o-7",
    "/etc/shop/worker.toml": "worker.toml",
    "/mnt/shared/payloads": "payloads",
    "/srv/shop/venv/bin/flowpy": "flowpy",
}
"""What stands here for what the reader puts in a word's place, or has elsewhere."""

HARMLESS: Final = frozenset({"echo", "printf", "seq"})
"""What the shell of this system may run: whatever a page says, no test installs or removes anything."""

CREDENTIALS: Final = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
ORDER: Final = "order-o-7"
"""The workflowId of pages: an order that waits for approval."""


class Machine(Shell):
    """Runs commands as `Shell` does, and those of more programs."""

    programs = ("aws", "flowpy", "pytest", "python")

    def __init__(self, swf: Environment, monkeypatch: pytest.MonkeyPatch, elsewhere: ExitStack) -> None:
        super().__init__(swf, monkeypatch, Renaming(swf.client.service, DOMAINS, swf.client.domain))
        self._elsewhere = elsewhere
        self._run_id: str | None = None

    def prepare(self, session: Session) -> None:
        """Bring about what the reader has, and has done before: types are registered, what is told something runs."""
        furnish(session)
        if session.page == MADE:
            shutil.rmtree("shop")
            self.run("flowpy init project --name shop")
            self.run("cd project")
        self.run("flowpy types register shop --register-domain 7")
        self.swf.declare(import_module("shop").order)
        if not any(f"--workflow-id {ORDER}" in line for line in session.commands):
            self.run(f"flowpy start shop:order o-7 --workflow-id {ORDER} --tag trial")
            self.run(f"flowpy history {ORDER} > order.json")
        if "WORKFLOW_ID" in " ".join(session.commands):
            self.run("flowpy start samples.class_style:cart Ann --workflow-id WORKFLOW_ID")
        if session.page.startswith("samples/human_task"):
            ask = import_module("samples.human_task").ask
            self.swf.stub(ask, by=ask.fn)
        if session.page.startswith("samples/lambda_function"):
            self.swf.stub("shrink-picture", returns={"key": "small.png", "width": 1, "height": 1})

    def run(self, command: str) -> str:
        """What a command prints.

        Raises:
            AssertionError: Its exit code is not 0.
        """
        return "".join(self._part(part) for part in re.split(r" && |; ", command))

    def _part(self, part: str) -> str:
        part = re.sub(r"(?<![^ ])\S+", lambda found: STAND_INS.get(found[0], found[0]), part)
        if "127.0.0.1:8042" in part or part.startswith("aws "):
            part = part.replace("http://127.0.0.1:8042", self.server.url).replace("22abc=", self._run_id or "")
        program = part.split()[0]
        assert program in {*self.programs, *HARMLESS, "cd", "export"}, f"{program} is not run here: excuse it"
        if program in HARMLESS:
            return subprocess.run(["/bin/sh", "-c", part], check=True, capture_output=True, text=True).stdout
        command, _, file = part.partition(" > ")
        printed = self._line(command)
        assert self.status == 0, printed
        if file:
            Path(file).write_text(printed, encoding="utf-8")
        for made in re.findall(r" --(?:db|html|output|svg) (\S+)", command):
            assert Path(made).exists(), f"{command} makes no {made}"
        return printed

    @cached_property
    def server(self) -> Server:
        """An SWF over HTTP, where the order has been started too."""
        engine = Engine(SystemClock())
        order = import_module("shop").order
        engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"})
        kind = {"domain": "shop", "name": order.name, "version": order.version}
        engine.call("RegisterWorkflowType", kind | order.registered.defaults("default"))
        self._run_id = Client("shop", engine).start(order, "o-7", workflow_id=ORDER).run_id
        return self._elsewhere.enter_context(Server(Application(Regions(lambda _: engine), hold=0.5)))

    def _flowpy(self, arguments: list[str], given: str) -> str:
        if arguments[0] == "worker" and "--show-config" not in arguments:
            return self._worker(arguments)
        for word in arguments:
            if word.startswith("samples.") and arguments[0] == "start":
                self.swf.declare(*workflows_in([word.partition(":")[0]]))
        return super()._flowpy(arguments, given)

    def _worker(self, arguments: list[str]) -> str:
        """What a worker logs until it polls; then it is stopped."""
        environment = {**self._environment(), **CREDENTIALS, "AWS_ENDPOINT_URL_SWF": self.server.url}
        line = [sys.executable, "-m", "flowpy.cli", *arguments]
        with subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                logged = ""
                while " polls task list " not in logged and (said := process.stderr.readline()):
                    logged += said
                process.send_signal(signal.SIGTERM)
                logged += process.communicate(timeout=30)[1]
            finally:
                process.kill()
        self.status = process.returncode
        assert " polls task list " in logged, logged
        return logged

    def _aws(self, arguments: list[str], _: str) -> str:
        if find_spec("awscli") is None:
            pytest.skip("the AWS CLI is not installed: pip install awscli")
        # What the page exports goes first.
        environment = {**CREDENTIALS, **os.environ, "AWS_ENDPOINT_URL_SWF": self.server.url}
        line = [sys.executable, "-m", "awscli", *arguments]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
        self.status = done.returncode
        return done.stdout + done.stderr

    def _python(self, arguments: list[str], given: str) -> str:
        option, module, *rest = arguments
        assert option == "-m"
        if module == "pytest":
            return self._pytest(rest, given)
        if module == "flowpy.local":
            return self._local(rest)
        if module == "flowpy.cli":
            return self._flowpy(rest or ["--help"], given)
        assert module.startswith("samples."), f"{module} is not run here: excuse it"
        self.monkeypatch.setattr(sys, "argv", [module, *rest])
        self.monkeypatch.delitem(sys.modules, module, raising=False)
        self.monkeypatch.setattr(flowpy, "Client", self._client)
        self.monkeypatch.setattr(flowpy.Worker, "run", started_and_stopped)
        runpy.run_module(module, run_name="__main__")
        self.swf.settle()
        return ""

    def _connect(self, connection: Connection) -> Client:
        return Client(connection.domain or "", self.service, sleep=self._approved_meanwhile, clock=self.swf.clock)

    def _approved_meanwhile(self, seconds: float) -> None:
        """While a command waits, somebody approves the order, so that it ends."""
        self.swf.advance(seconds)
        if self.swf.find(ORDER).describe().status == "OPEN":
            self.swf.signal(ORDER, "approval", True)

    def _client(self, domain: str, **options: Any) -> Client:
        return Client(domain, self.service, sleep=self.swf.advance, clock=self.swf.clock, **options)

    def _local(self, arguments: list[str]) -> str:
        """``python -m flowpy.local``: it serves until Ctrl-C, or says what its options are."""
        if arguments == ["--help"]:
            with pytest.raises(SystemExit, match="0"):
                serve(arguments)
            return ""
        line = [sys.executable, "-m", "flowpy.local", *arguments, "--port", "0"]
        return self._served(line, 1, answers)


def answers(url: str) -> None:
    """Wait until a service answers."""
    urlopen(url, timeout=30).close()  # noqa: S310 - our own server


def started_and_stopped(worker: flowpy.Worker) -> None:
    """Do what ``run`` does with a worker that is told to stop at once."""
    with worker:
        pass


def furnish(session: Session) -> None:
    """Make what a reader has who has come to a command: a project, and what it names of a clone of this repository."""
    typed = " ".join(session.commands)
    for name in ("README.md", "LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / name, name)
    for name in ("docs", "samples", "tests/samples"):
        if name in typed:
            shutil.copytree(ROOT / name, name, ignore=shutil.ignore_patterns("pictures", "histories", "__pycache__"))
    Path("shop").mkdir()
    shutil.copy(SKELETON / "workflows.txt", "shop/orders.py")
    Path("shop/__init__.py").write_text("from shop.orders import approval, charge, order, refund\n", encoding="utf-8")
    (toml,) = fences("docs/running-workers.md", "toml")
    Path("worker.toml").write_text(toml.text, encoding="utf-8")

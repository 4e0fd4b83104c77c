"""``flowpy worker``."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from flowpy.cli.commands import flowpy
from flowpy.cli.failing import Exit
from flowpy.worker.configuration import KEYS

PATIENCE = 60.0
ROOT = Path(__file__).parents[2]

SHOP = """
import asyncio, atexit, sys, threading
import flowpy
from flowpy.local import Engine, LocalService
from flowpy.worker import WorkerSettings

class Service(LocalService):
    def call(self, operation, request):
        if operation == FAILING:
            raise flowpy.AccessDenied("no swf:Poll", operation=operation)
        return super().call(operation, request)

FAILING = ""
service = Service(Engine(), hold=0.05, autojump=False)
service.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
client = flowpy.Client("shop", service)

@flowpy.activity
def pack(what: str) -> str:
    print("packing", flush=True)
    threading.Event().wait(600)

@flowpy.workflow
async def order(what: str) -> str:
    return await pack(what)

idle = flowpy.Worker(client, workflows=[order], activities=[pack])
@flowpy.activity
async def pack_in_a_pool(what: str) -> str:
    await asyncio.to_thread(pack.fn, what)

@flowpy.workflow
async def pooled(what: str) -> str:
    return await pack_in_a_pool(what)

soon = WorkerSettings(grace=0.2)
busy = flowpy.Worker(client, workflows=[order, pooled], activities=[pack, pack_in_a_pool], settings=soon)
denied = flowpy.Worker(client, activities=[pack])
"""


BUSY = """
from shop_there import *
from flowpy.worker.registration import Registrar

Registrar(service, "shop", "default", lambda seconds: False).register([order], [pack])
client.start(order, "lamp")
"""
POOLED = """
from shop_there import *
from flowpy.worker.registration import Registrar

Registrar(service, "shop", "default", lambda seconds: False).register([pooled], [pack_in_a_pool])
client.start(pooled, "lamp")
atexit.register(print, "the end")
"""
DENIED = """
import shop_there

shop_there.FAILING = "PollForActivityTask"
denied = shop_there.denied
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "shop_there.py").write_text(SHOP)
    (tmp_path / "busy_there.py").write_text(BUSY)
    (tmp_path / "pooled_there.py").write_text(POOLED)
    (tmp_path / "denied_there.py").write_text(DENIED)
    (tmp_path / "worker.toml").write_text('[worker]\ndomain = "shop"\nthreads = 3\n')
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("FLOWPY_")]:
        monkeypatch.delenv(name)
    # The command itself listens for it until a worker does.
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def invoke(*arguments, **environment):
    return CliRunner().invoke(flowpy, ["worker", *arguments], env=environment)


class Process:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "flowpy.cli", "worker", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""
        self.guard = threading.Timer(PATIENCE, self.kill)
        self.guard.daemon = True
        self.guard.start()

    def says(self, text):
        for line in self.process.stdout:
            self.said += line
            if text in line:
                return
        raise AssertionError(f"ended without saying {text!r}: {self.said}")

    def kill(self):
        self.process.kill()
        for pid in re.findall(r"started: process (\d+)", self.said):
            os.kill(int(pid), signal.SIGKILL)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def end(self):
        self.said += self.process.stdout.read()
        code = self.process.wait()
        self.guard.cancel()
        self.process.stdout.close()
        return code


def test_every_setting_has_an_option_and_is_explained():
    told = invoke("--help").output
    for name in KEYS.keys() - {"module"}:
        assert f"--{name.replace('_', '-')}" in told
        assert f"[FLOWPY_{name.upper()}]" in told.replace("\n" + " " * 36, "") or f"FLOWPY_{name.upper()}" in told


def test_the_configuration_is_shown_with_where_it_comes_from():
    told = invoke("shop.orders", "--config", "worker.toml", "--no-sticky", "--show-config", FLOWPY_TASK_LIST="eu")
    assert told.exit_code == 0
    lines = {line.split(" =")[0]: line.split() for line in told.output.splitlines()}
    assert lines["module"][2:] == ['"shop.orders"', "#", "module"]
    assert lines["domain"][2:] == ['"shop"', "#", "worker.toml"]
    assert lines["threads"][2:] == ["3", "#", "worker.toml"]
    assert lines["task_list"][2:] == ['"eu"', "#", "FLOWPY_TASK_LIST"]
    assert lines["sticky"][2:] == ["false", "#", "--sticky"]
    assert lines["grace"][2:] == ["30.0", "#", "default"]


def test_the_file_may_be_named_by_the_environment():
    assert 'domain = "shop"' in invoke("--show-config", FLOWPY_CONFIG="worker.toml").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "what is the worker to run?"),
        (["shop_there:order"], "in which SWF domain?"),
        (["nowhere_at_all"], "there is no module 'nowhere_at_all'"),
        (["shop_there:idle", "--threads", "3"], "leave out threads (from --threads)"),
        (["--config", "nothing.toml"], "nothing.toml cannot be read"),
        (["shop_there:order", "--domain", "shop", "--threads", "two"], "--threads='two' is no whole number"),
        (["shop_there:order", "--domain", ""], ": domain: it is empty"),
        (["shop_there:order", "--domain", "shop", "--task-list", "x" * 257], "Worker: task_list: 257 characters"),
        (["--processes", "2"], "what is the worker to run?"),
    ],
)
def test_wrong_usage_is_told_in_a_line_and_by_the_exit_code(arguments, message):
    try:
        told = invoke(*arguments)
    finally:
        sys.modules.pop("shop_there", None)
    assert told.exit_code == Exit.USAGE
    assert message in told.stderr
    assert told.stderr.startswith("error: ")
    assert told.stdout == ""


def test_a_module_that_fails_to_import_is_told_with_its_line(tmp_path):
    (tmp_path / "broken_there.py").write_text("import os\n\nraise OSError(os.nothing)\n")
    told = invoke("broken_there", "--domain", "shop")
    assert told.exit_code == Exit.USAGE
    assert "error: module broken_there cannot be imported: AttributeError: module 'os' has no" in told.stderr
    assert "broken_there.py:3)" in told.stderr


def test_a_module_may_be_a_path_as_for_all_commands(tmp_path):
    (tmp_path / "empty_there.py").write_text("")
    told = invoke("empty_there.py", "--domain", "shop")
    assert "error: nothing to run in empty_there: " in told.stderr


def test_a_worker_ends_well_when_it_is_told_to():
    process = Process("shop_there:idle")
    process.says("polls task list 'default' of domain 'shop'")
    process.signal()
    assert process.end() == 0
    assert "worker stopped, 0 tasks abandoned" in process.said


def test_the_exit_code_tells_of_work_that_was_left():
    process = Process("busy_there:busy")
    process.says("packing")
    process.signal()
    assert process.end() == Exit.ABANDONED
    assert "given back as failed (WorkerStopped): activity pack 1.0 'pack-1'" in process.said


def test_a_thread_of_a_pool_that_is_still_busy_does_not_keep_the_process():
    process = Process("pooled_there:busy")
    process.says("packing")
    process.signal()
    assert process.end() == Exit.ABANDONED
    assert "worker stopped, 1 tasks abandoned" in process.said
    assert process.said.endswith("the end\n")


def test_the_exit_code_tells_of_an_error():
    process = Process("denied_there:denied")
    assert process.end() == Exit.REFUSED
    assert "error: no swf:Poll" in process.said
    assert "Traceback" not in process.said


def test_a_worker_without_a_region_says_so_and_is_not_started_again(monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    process = Process("shop_there:order", "--domain", "shop")
    assert process.end() == Exit.USAGE
    assert "error: no AWS region is set\nhint: give --region NAME" in process.said


def test_the_log_is_the_workers_and_not_botocores(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-environment")  # which botocore would tell
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    process = Process("shop_there:order", "--domain", "shop", "--endpoint-url", "http://127.0.0.1:9", "--region", "eu")
    process.says("not registered yet")
    process.signal()
    assert process.end() == 0
    assert "botocore" not in process.said


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_port_that_is_taken_is_told_with_its_number(processes):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ["shop_there:order", "--domain", "shop", "--no-register", "--health-port", port]
        process = Process(*arguments, "--processes", processes)
        assert process.end() == Exit.NO
    assert f"error: probes cannot be answered on 127.0.0.1:{port}" in process.said
    assert "Traceback" not in process.said


def test_two_processes_are_supervised():
    process = Process("shop_there:idle", "--processes", "2")
    process.says("polls task list")
    process.says("polls task list")
    process.signal()
    assert process.end() == 0
    assert process.said.count("worker stopped, 0 tasks abandoned") == 2
    assert "all workers have ended, exit code 0" in process.said


def test_workers_whose_supervisor_is_killed_stop_by_themselves():
    process = Process("shop_there:idle", "--processes", "2")
    process.says("polls task list")
    process.says("polls task list")
    process.signal(signal.SIGKILL)
    assert process.end() == -signal.SIGKILL  # The output ends when the last of them has ended.
    assert process.said.count("the supervisor of this worker is gone: the worker stops") == 2
    assert process.said.count("worker stopped, 0 tasks abandoned") == 2

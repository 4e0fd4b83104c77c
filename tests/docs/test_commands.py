"""Every command on a page is run by a test, or stands in `EXCUSED`, which says why not and what is checked instead.

A new command is run here as it is written, in the folder and beside the SWF of `machine`, and has to end with 0. A
name alone (``flowpy show``, in a line of text) is one of a command that another line of the pages runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click
import pytest
from attrs import frozen
from botocore import xform_name
from botocore.session import Session as BotocoreSession
from packaging.requirements import Requirement
from tests.docs.machine import Machine
from tests.docs.pages import ROOT, Session, sessions

from flowpy.cli.commands import flowpy as command
from flowpy.testing import Environment

WITH_OUTPUT: Final = {
    "docs/command-line.md": "test_command_line.py",
    "docs/determinism-guard.md": "test_determinism_guard.py",
    "docs/tutorial.md": "test_tutorial.py",
}
"""Pages that show what commands print, fences ``console``, and the tests that compare it."""


# --- what cannot be run ---------------------------------------------------------------------


def would_be_made(line: str) -> None:
    """``make`` has all that the target asks for."""
    environment = {**os.environ, "MAKEFLAGS": "n"}
    subprocess.run(["/bin/sh", "-c", line], cwd=ROOT, env=environment, capture_output=True, check=True)


def can_be_required(line: str) -> None:
    """What is installed is pytest, or a clone with extras that it has: flowpy is on no package index."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    for word in (word.strip("'") for word in line.split()[2:]):
        assert word.startswith(".[") or word == "pytest"
        assert Requirement(word.replace(".[", "flowpy-swf[")).extras <= {*setup["options.extras_require"]}


def has_the_options(line: str) -> None:
    """The script, or a module beside it that it imports, adds each option that is shown."""
    script = ROOT / line.split()[1]
    code = script.read_text(encoding="utf-8")
    for name in re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE):
        module = script.parent / f"{name}.py"
        code += module.read_text(encoding="utf-8") if module.exists() else ""

    assert set(re.findall(r"--[a-z-]+", line)) <= set(re.findall(r'add_argument\(\s*"(--[a-z-]+)"', code))


def is_a_test(line: str) -> None:
    """The file is there and heeds the variable."""
    variable, file = line.partition("=")[0], line.rsplit(maxsplit=1)[-1]
    assert f'"{variable}"' in (ROOT / file).read_text(encoding="utf-8")


def can_be_parsed(line: str) -> None:
    subprocess.run(["/bin/sh", "-n", "-c", line], check=True)


@frozen
class Excuse:
    """Why commands are not run, what is checked of them instead, and which they are."""

    why: str
    check: Callable[[str], None]
    commands: tuple[str, ...]


EXCUSED: Final = (
    Excuse(
        "makes a virtual environment first, which takes the network",
        would_be_made,
        (
            "make demo",
            "make demo PYTHON=python3.13",
            "make test",
            "make lint",
            "make types",
            "make unit",
            "make unit PYTEST_ARGS='-x tests/history'",
            "HYPOTHESIS_PROFILE=search make unit",
            "FLOWPY_CHAOS_SEEDS=100:1100 make unit PYTEST_ARGS=tests/chaos/test_simulated.py",
            "FLOWPY_CHAOS_SEED=7 FLOWPY_CHAOS_WORKFLOWS=500 make unit PYTEST_ARGS=tests/chaos",
            "make docs",
            "make oldest",
            "make bench",
            "make bench BENCH_ARGS='--json --rounds 11'",
            "make bench BENCH_ARGS=--check",
        ),
    ),
    Excuse(
        "takes the network",
        can_be_required,
        (
            "pip install",
            "pip install pytest",
            "pip install '.[cli]'",
            "pip install '.[server]'",
            "pip install '.[cli,server]'",
            "pip install '.[cli,server]' pytest",
            "pip install '.[encryption]'",
        ),
    ),
    Excuse(
        "builds in an environment of its own, which takes the network",
        can_be_parsed,
        (
            "pip wheel --no-deps --wheel-dir ~/wheels ~/flowpy",
            "pip install --find-links ~/wheels ~/shop",
        ),
    ),
    Excuse(
        "measures for minutes, beside libraries that tests do not install",
        has_the_options,
        (
            "python benchmarks/decider.py",
            "python benchmarks/decider.py [--rounds 9] [--whole-rounds 3] [--lines parse,wire,…] [--json] [--check]",
            "python benchmarks/guard.py",
            "python benchmarks/guard.py [--rounds 7] [--json]",
            "python benchmarks/local.py [--rounds 5] [--json] [--check]",
            "python benchmarks/replay.py [--rounds 7] [--peers flowpy,durabletask,botoflow] [--json] [--check]",
            "python benchmarks/soak.py",
            "python benchmarks/soak.py [--minutes 30] [--processes 2] [--open 40] [--json] [--check]",
            "python benchmarks/testing.py",
            "python benchmarks/testing.py [--check] [--rounds N]",
            "python benchmarks/view.py",
            "python benchmarks/view.py [EVENTS]",
        ),
    ),
    Excuse(
        "is run as a process of its own by tests/samples/test_demo.py",
        has_the_options,
        (
            "python samples/demo.py [--json]",
            "python samples/worker.py --endpoint-url http://127.0.0.1:8042",
        ),
    ),
    Excuse(
        "takes minutes; CI runs the same test once",
        is_a_test,
        ("FLOWPY_DEPLOYS=20 python -m pytest tests/worker/test_deploy.py",),
    ),
    Excuse(
        "takes root, or a program that is not there",
        can_be_parsed,
        ("apt-get install chromium", "valgrind --tool=cachegrind"),
    ),
    Excuse(
        "makes an environment to install into, which takes the network",
        can_be_parsed,
        ("python3 -m venv ~/flow && . ~/flow/bin/activate",),
    ),
    Excuse(
        "is about the reader's clone or service, which is not here",
        can_be_parsed,
        ("git status", "git clean -n", "systemctl status", "docker run --init"),
    ),
)
CHECKS: Final = {line: excuse for excuse in EXCUSED for line in excuse.commands}

SETTINGS: Final = re.compile(r"flowpy worker (?!.*--task-list)")
"""A worker takes two seconds to start and to stop. One is started here and two by the tutorial; the settings of the
others are read (``--show-config``). Several processes are started by tests/worker/test_supervising.py."""


# --- which commands there are ---------------------------------------------------------------

ALL: Final = sessions()
LINES: Final = {line for session in ALL for line in session.commands}


def is_name(line: str) -> bool:
    """Whether it names a program's command, and nothing that it is given."""
    program, *words = line.split()
    if program == "flowpy":
        group: click.Command | None = command
        while words and isinstance(group, click.Group):
            group = group.get_command(click.Context(group), words.pop(0))
        return group is not None and not words
    if program == "python":
        return words in (["-m"], ["-m", "flowpy.local"])
    return program == "aws" and len(words) == 2


COMPARED: Final = {line for session in ALL if session.kind == "console" for line in session.commands}
TO_RUN: Final = {
    lines: Session(session.page, session.line, session.kind, lines)
    for session in reversed(ALL)
    if not COMPARED.issuperset(session.commands)
    and (lines := tuple(line for line in session.commands if line not in CHECKS and not is_name(line)))
}
RUN: Final = {part for lines in [COMPARED, *TO_RUN] for line in lines for part in line.split(" | ")}


@pytest.fixture
def machine(swf: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FLOWPY_DOMAIN", "shop")
    monkeypatch.setenv("PAYROLL_KEY", b64encode(bytes(32)).decode())
    for name in [name for name in sys.modules if name == "shop" or name.startswith("shop.")]:
        monkeypatch.delitem(sys.modules, name)
    before = set(sys.modules)
    with ExitStack() as stack:
        yield Machine(swf, monkeypatch, stack)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("session", TO_RUN.values(), ids=str)
def test_it_does_what_it_says(session: Session, machine: Machine) -> None:
    machine.prepare(session)

    for line in session.commands:
        machine.run(f"{line} --show-config" if SETTINGS.search(line) else line)


def test_what_is_printed_is_compared_where_it_is_shown() -> None:
    assert {session.kind for session in ALL} == {"console", "sh", "line", "block", "ini", "yaml"}
    assert {session.page for session in ALL if session.kind == "console"} == {*WITH_OUTPUT}
    for page, test in WITH_OUTPUT.items():
        assert Path(page).name in (Path(__file__).parent / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(line for line in LINES if is_name(line)))
def test_a_name_is_that_of_a_command(name: str) -> None:
    if name.startswith("aws "):
        model = BotocoreSession().get_service_model("swf")
        assert name.split()[2] in {xform_name(operation, "-") for operation in model.operation_names}
    elif name != "python -m":
        assert any(line == name or line.startswith(f"{name} ") for line in RUN)


@pytest.mark.parametrize("line", CHECKS)
def test_an_excuse_is_still_needed_and_what_can_be_checked_is_right(line: str) -> None:
    assert line in LINES
    CHECKS[line].check(line)

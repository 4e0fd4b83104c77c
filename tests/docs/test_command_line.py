"""docs/command-line.md: each of its sessions prints what is shown, and each command and exit code stands on it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.docs.pages import PAGES, fences
from tests.docs.sessions import Shell, commands

from flowpy.cli.commands import flowpy as command
from flowpy.cli.failing import Exit
from flowpy.testing import Environment

PAGE = "docs/command-line.md"
TEXT = PAGES[PAGE]
ELSEWHERE = {"show", "worker"}
"""Commands with pages of their own."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def shown(swf: Environment, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """What each session of the page shows, and what it prints."""
    shell = Shell(swf, monkeypatch)
    for block in fences(PAGE, "console", "python"):
        if block.language == "console":
            yield block.text, shell.session(block.text)
            if "flowpy server" in block.text:
                swf.declare(importlib.import_module("shop").order, importlib.import_module("returns").Return)
        else:
            name = block.text.splitlines()[0].removeprefix("# ")
            Path(name).write_text(block.text, encoding="utf-8")


def test_the_sessions_print_what_is_shown(swf: Environment, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, printed in shown(swf, monkeypatch):
        assert printed == text


def test_each_command_is_run() -> None:
    lines = [line for block in fences(PAGE, "console") for line in commands(block.text)]
    run = {part.split()[1] for line in lines for part in line.split(" | ") if part.startswith("flowpy ")}

    assert set(command.list_commands(click.Context(command))) - ELSEWHERE == run


@pytest.mark.parametrize("code", Exit)
def test_each_exit_code_is_explained(code: Exit) -> None:
    assert f"\n| {int(code)} | " in TEXT

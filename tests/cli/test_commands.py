"""What all commands have in common: help, ``--json``, completion, a fast start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import flowpy_pytest
from flowpy.cli.commands import COMMANDS
from flowpy.cli.commands import flowpy as command

CONTEXT = click.Context(command)
SILENT = {"completion", "server", "worker"}
"""Commands whose output is for shells and logs."""


def commands() -> Iterator[tuple[str, click.Command]]:
    for name in command.list_commands(CONTEXT):
        found = command.get_command(CONTEXT, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from ((f"{name} {sub}", one) for sub, one in found.commands.items())
        else:
            yield name, found


ALL = dict(commands())


def test_the_help_names_every_command_and_fits_80_columns() -> None:
    done = CliRunner().invoke(command, ["--help"], prog_name="flowpy", terminal_width=80)

    assert [name for names in COMMANDS.values() for name in names if f"\n  {name} " not in done.stdout] == []
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "..." not in done.stdout.partition("Options:")[2]


@pytest.mark.parametrize("name", [[], ["types"], *(name.split() for name in ALL)])
def test_no_help_is_wider_than_80_columns_or_cut(name: list[str]) -> None:
    done = CliRunner().invoke(command, [*name, "--help"], prog_name="flowpy", terminal_width=80)

    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "...\n" not in done.stdout.partition("\n")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "there is no command 'rum'; did you mean 'run'?"),
        (["zzz"], "there is no command 'zzz'"),
        (["--vershion"], "No such option '--vershion'"),
    ],
)
def test_a_command_that_there_is_not(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(command, arguments, prog_name="flowpy")

    first, second = done.stderr.splitlines()
    assert first.startswith(f"error: {message}")
    assert (second, done.exit_code) == ("hint: flowpy --help", 2)


@pytest.mark.parametrize("name", ALL)
def test_each_command_explains_itself_in_80_columns(name: str) -> None:
    done = CliRunner().invoke(command, [*name.split(), "--help"], prog_name="flowpy", terminal_width=80)

    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    unexplained = [one.name for one in ALL[name].params if isinstance(one, click.Option) and not one.help]
    assert unexplained == []


@pytest.mark.parametrize("name", set(ALL) - SILENT)
def test_each_command_has_json(name: str) -> None:
    assert any("--json" in one.opts for one in ALL[name].params)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    done = CliRunner().invoke(command, ["completion", shell], prog_name="flowpy")

    assert (done.exit_code, "_FLOWPY_COMPLETE" in done.stdout) == (0, True)


def test_what_is_completed() -> None:
    from click.shell_completion import ShellComplete

    complete = ShellComplete(command, {}, "flowpy", "_FLOWPY_COMPLETE")

    assert {one.value for one in complete.get_completions(["types"], "")} == {
        "deprecate",
        "list",
        "register",
        "undeprecate",
    }
    assert "--status" in {one.value for one in complete.get_completions(["list"], "--s")}
    assert {one.value for one in complete.get_completions(["list", "--status"], "F")} == {"failed"}


HEAVY = ("boto3", "rich", "uvicorn", "flowpy.testing", "flowpy.local", "flowpy.worker", "flowpy.client", "sqlite3")


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    program = (
        "import sys\n"
        "from flowpy.cli import main\n"
        "for line in (['--help'], ['list', '--help'], ['list', '--domain', '']):\n"
        "    sys.argv = ['flowpy', *line]\n"
        "    try:\n        main()\n    except SystemExit:\n        pass\n"
        f"sys.stderr.write(repr([name for name in {HEAVY!r} if name in sys.modules]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(flowpy_pytest.__file__).parent)}

    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stderr.splitlines()[-1] == "[]"

"""``flowpy init``: what it makes passes its tests at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import flowpy_pytest

Flowpy = Callable[..., Result]

SRC = Path(flowpy_pytest.__file__).parent


def test_its_tests_pass_and_one_of_them_is_the_stored_history(flowpy: Flowpy, tmp_path: Path) -> None:
    made = flowpy("init", "my-orders", "--json")
    assert json.loads(made.stdout) == {
        "folder": "my-orders",
        "files": [
            "my_orders.py",
            "tests/test_my_orders.py",
            "pyproject.toml",
            "README.md",
            "tests/histories/my_orders.history.json",
        ],
    }

    # A process of its own, as a user has it: this one has pytest's options and modules already.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "flowpy_pytest", "-p", "no:cacheprovider", "-q"],
        cwd=tmp_path / "my-orders",
        env={**os.environ, "PYTHONPATH": str(SRC), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_here(flowpy: Flowpy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop-two").mkdir()
    monkeypatch.chdir(tmp_path / "shop-two")

    done = flowpy("init")

    assert done.stdout.splitlines()[-2:] == [
        "next: pytest",
        "      flowpy run shop_two:order o-7 --signal approval true",
    ]
    assert flowpy("run", "shop_two:order", "o-7", "--signal", "approval", "true").stdout == "receipt o-7 4200\n"
    assert flowpy("check", ".").exit_code == 0


def test_the_module_of_any_folder_can_be_imported_and_the_commands_be_copied(flowpy: Flowpy) -> None:
    done = flowpy("init", "2 shops")

    assert "made 2 shops/workflows_2_shops.py" in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        "next: cd '2 shops' && pytest",
        "      flowpy run workflows_2_shops:order o-7 --signal approval true",
    ]


def test_nothing_that_is_there_is_changed(flowpy: Flowpy, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "README.md").write_text("mine")

    done = flowpy("init", "there")

    assert (done.exit_code, done.stderr.splitlines()[0]) == (5, "error: there/README.md is there already")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["README.md"]


def test_a_stored_history_is_not_changed_either(flowpy: Flowpy, tmp_path: Path) -> None:
    stored = tmp_path / "there" / "tests" / "histories" / "there.history.json"
    stored.parent.mkdir(parents=True)
    stored.write_text("mine")

    assert flowpy("init", "there").exit_code == 5
    assert stored.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("class", "class_workflows.py"),
        ("json", "json_workflows.py"),
        ("click", "click_workflows.py"),
        ("7 up!", "workflows_7_up.py"),
    ],
)
def test_names_that_no_module_can_have(flowpy: Flowpy, tmp_path: Path, name: str, module: str) -> None:
    told = json.loads(flowpy("init", "made", "--name", name, "--json").stdout)

    assert told["files"][0] == module
    assert module.removesuffix(".py").isidentifier()

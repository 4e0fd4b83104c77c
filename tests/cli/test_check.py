"""``flowpy check``: what it prints, in three forms, and how it exits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import flowpy
from flowpy.cli.commands import flowpy as command
from flowpy.rules import RULES

ROOT = Path(__file__).parents[2]
SHOP = """\
import time
import flowpy

SEEN: list[str] = []


@flowpy.workflow
async def order(order_id: str) -> str:
    "é"; time.time()
    SEEN.append(order_id)
    return order_id
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my shop.py"
    file.write_text(SHOP, encoding="utf-8")
    return file


def check(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["check", *arguments])


def test_it_prints_place_rule_and_remedy(shop: Path) -> None:
    done = check(".")

    assert done.output == (
        "./my shop.py:9:10 FLOW101 time.time in order: each replay reads another time\n"
        "    instead: flowpy.now()\n"
        "./my shop.py:10:5 FLOW131 (warning) SEEN.append in order: "
        "runs share it, and a replay in another process does not find it\n"
        "    instead: arguments, local variables, attributes of the workflow's object\n"
        "1 error, 1 warning\n"
    )
    assert done.exit_code == 1


def test_nothing_found_is_exit_code_0(shop: Path) -> None:
    shop.write_text("import flowpy\n")

    done = check("my shop.py")

    assert (done.output, done.exit_code) == ("0 errors, 0 warnings\n", 0)


def test_rules_may_be_left_out(shop: Path) -> None:
    assert check(".", "--ignore", "FLOW131").output.endswith("1 error, 0 warnings\n")
    assert check(".", "--ignore", "FLOW131", "--ignore", "FLOW101").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing argument 'PATH...'"),
        (["nowhere"], "Path 'nowhere' does not exist"),
        ([".", "--ignore", "FLOW1"], "no rule FLOW1; there are FLOW101"),
        ([".", "--loud"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_code_2(shop: Path, arguments: list[str], says: str) -> None:
    done = check(*arguments)

    assert says in done.output
    assert done.exit_code == 2


def test_as_json(shop: Path) -> None:
    done = check(".", "--json")

    assert json.loads(done.output)["findings"][0] == {
        "path": "./my shop.py",
        "line": 9,
        "column": 10,
        "rule": "FLOW101",
        "severity": "error",
        "function": "order",
        "message": "time.time in order: each replay reads another time",
        "remedy": "flowpy.now()",
    }
    assert done.exit_code == 1


def test_as_sarif(shop: Path) -> None:
    log = json.loads(check(".", "--sarif").output)

    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert run["tool"]["driver"]["version"] == flowpy.__version__
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    error, warning = run["results"]
    assert error == {
        "ruleId": "FLOW101",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "time.time in order: each replay reads another time. Instead: flowpy.now()"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "my%20shop.py"},
                    "region": {"startLine": 9, "startColumn": 10},
                },
                "logicalLocations": [{"fullyQualifiedName": "order", "kind": "function"}],
            }
        ],
    }
    assert (warning["level"], run["tool"]["driver"]["rules"][warning["ruleIndex"]]["id"]) == ("warning", "FLOW131")


# What the schema of SARIF 2.1.0 asks of the objects that are written here.
_REQUIRED: dict[str, set[str]] = {
    "log": {"version", "runs"},
    "run": {"tool"},
    "driver": {"name"},
    "rule": {"id"},
    "result": {"message"},
}
_LEVELS = {"none", "note", "warning", "error"}


def test_sarif_has_what_its_schema_requires(shop: Path) -> None:
    (shop.parent / "broken.py").write_text("def (")
    log: dict[str, Any] = json.loads(check(str(shop.parent), "--sarif").output)
    (run,) = log["runs"]
    driver = run["tool"]["driver"]

    assert _REQUIRED["log"] <= log.keys()
    assert _REQUIRED["run"] <= run.keys()
    assert _REQUIRED["driver"] <= driver.keys()
    for rule in driver["rules"]:
        assert _REQUIRED["rule"] <= rule.keys()
        assert rule["defaultConfiguration"]["level"] in _LEVELS
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert result["message"]["text"]
        assert result["level"] in _LEVELS
        assert place["region"]["startLine"] >= 1
        assert place["region"]["startColumn"] >= 1
        assert place["artifactLocation"]["uri"].startswith("file:///"), "absolute, for the path given was"
    assert len(run["results"]) == 3


def test_it_runs_as_a_module_of_python() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flowpy.cli", "check", "samples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "0 errors, 0 warnings\n", "")


def test_that_click_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from flowpy.cli import main

    monkeypatch.delitem(sys.modules, "flowpy.cli.commands")
    monkeypatch.setitem(sys.modules, "click", None)

    with pytest.raises(SystemExit, match=re.escape("pip install 'flowpy-swf[cli]'")):
        main()


def test_the_hook_for_pre_commit_calls_it() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")

    assert "id: flowpy-check" in hooks
    assert "entry: flowpy check" in hooks

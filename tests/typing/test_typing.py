"""What a user's type checker says: ``good_*.py`` is clean, ``bad_*.py`` is flagged where marked ``# error``."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
FILES = sorted([*HERE.glob("good_*.py"), *HERE.glob("bad_*.py")])
PYRIGHTS = ("basedpyright", "pyright")  # the first brings its own node, so it works offline

Flagged = dict[str, dict[int, str]]  # file name -> line -> message


def run(*command: str) -> str:
    # A color setting of the shell would put escape codes between file and line.
    environment = {**os.environ, "MYPYPATH": str(SOURCE), "NO_COLOR": "1", "FORCE_COLOR": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def mypy_flags(tmp_path_factory: pytest.TempPathFactory) -> Flagged:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    config = tmp_path_factory.mktemp("mypy") / "mypy.ini"
    config.write_text("[mypy]\nstrict = true\n")  # as a user has it, without what this repository adds
    files = map(str, FILES)
    cache = str(config.parent / "cache")
    output = run(sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", cache, *files)
    flagged: Flagged = {}
    for path, line, message in re.findall(r"^(.+?):(\d+): error: (.+)$", output, re.MULTILINE):
        flagged.setdefault(Path(path).name, {})[int(line)] = message
    return flagged


@pytest.fixture(scope="module")
def pyright_flags(tmp_path_factory: pytest.TempPathFactory) -> Flagged:
    tool = next((name for name in PYRIGHTS if importlib.util.find_spec(name)), None)
    if tool is None:
        pytest.skip("neither basedpyright nor pyright is installed")
    project = tmp_path_factory.mktemp("pyright") / "pyrightconfig.json"
    settings = {"include": [str(HERE)], "extraPaths": [str(SOURCE)], "typeCheckingMode": "strict"}
    project.write_text(json.dumps(settings))
    output = run(sys.executable, "-m", tool, "--outputjson", "--project", str(project), *map(str, FILES))
    flagged: Flagged = {}
    for found in json.loads(output)["generalDiagnostics"]:
        if found["severity"] == "error":
            line = found["range"]["start"]["line"] + 1
            flagged.setdefault(Path(found["file"]).name, {})[line] = found["message"]
    return flagged


def expected(file: Path) -> set[int]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# error")}


def compare(file: Path, flagged: Flagged) -> None:
    found, marked = flagged.get(file.name, {}), expected(file)
    assert {line: message for line, message in found.items() if line not in marked} == {}, "flagged, but right"
    assert marked - set(found) == set(), "wrong, but not flagged"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_mypy_strict(file: Path, mypy_flags: Flagged) -> None:
    compare(file, mypy_flags)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_pyright_strict(file: Path, pyright_flags: Flagged) -> None:
    compare(file, pyright_flags)


def test_the_marked_files_are_there() -> None:
    assert [file.name for file in FILES if expected(file)] == [f.name for f in FILES if f.name.startswith("bad_")]

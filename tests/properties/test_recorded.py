"""Runs recorded on one Python replay on all: committed ones here, fresh ones under other hash seeds and Pythons."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from . import corpus

HERE = Path(__file__).parent
RECORDED = sorted((HERE / "recorded").glob("*.json"))
ROOT = HERE.parents[1]
VERSIONS = ("3.11", "3.12", "3.13")

COMMITTED = [
    pytest.param(run, id=f"{path.stem} {run['seed']}-{number}")
    for path in RECORDED
    for number, run in enumerate(corpus.read(path))
]


@pytest.mark.parametrize("run", COMMITTED)
def test_a_recorded_run_replays(run: dict[str, Any]) -> None:
    assert list(corpus.differences(run)) == []


def test_runs_of_every_supported_python_are_recorded() -> None:
    assert [path.stem for path in RECORDED] == [f"python{version}" for version in VERSIONS]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "fresh.json"
    corpus.write(path, corpus.record(77_000, 8))
    return path


@pytest.mark.parametrize("seed", ["0", "1", "4294967295"])
def test_fresh_runs_replay_under_another_hash_seed(fresh: Path, seed: str) -> None:
    check(sys.executable, fresh, seed)


@pytest.mark.parametrize("version", VERSIONS)
def test_fresh_runs_replay_on_another_python(fresh: Path, version: str) -> None:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip("this is that Python")
    check(python(version), fresh, "random")


def check(interpreter: str, path: Path, hash_seed: str) -> None:
    ran = run_python(interpreter, "-m", "properties.corpus", "check", str(path), PYTHONHASHSEED=hash_seed)
    assert ran.returncode == 0, ran.stderr


def run_python(interpreter: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
    return subprocess.run(
        [interpreter, *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def python(version: str) -> str:
    """An interpreter of a version that has flowpy's dependencies: from FLOWPY_PYTHONS (a path list) or from PATH."""
    given = [path for path in os.environ.get("FLOWPY_PYTHONS", "").split(os.pathsep) if path]
    found = [*given, *filter(None, [shutil.which(f"python{version}")])]
    probe = f"import sys, attrs, cattrs, greenlet; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    for interpreter in found:
        if run_python(interpreter, "-c", probe).returncode == 0:
            return interpreter
    pytest.skip(f"no Python {version} with attrs, cattrs and greenlet: name it in FLOWPY_PYTHONS")

"""What holds for every sample: a test, stored histories that replay, a row in the table, a way to run it.

That the commands of the docstrings work is held with those of all pages, by ``tests/docs/test_commands.py``.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from flowpy.testing.recorded import workflows_in

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "samples"
OF_THE_DEMO = {"demo", "processes", "table", "worker"}
SAMPLES = sorted({file.stem for file in FOLDER.glob("*.py")} - OF_THE_DEMO)
WITH_A_CONVERTER = {"encryption", "large_payloads"}  # their own tests replay what is stored of them
HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.history.json"))


def sample_of(history):
    return history.name.partition(".")[0]


@pytest.mark.parametrize(
    "history",
    [history for history in HISTORIES if sample_of(history) not in WITH_A_CONVERTER],
    ids=lambda history: history.name.removesuffix(".history.json"),
)
def test_a_stored_history_replays(history, replay):
    replay(workflows_in([f"samples.{sample_of(history)}"]), history)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_is_complete(sample):
    told = importlib.import_module(f"samples.{sample}").__doc__

    assert f"samples.{sample}" in told, "its docstring says how to run it"
    assert (Path(__file__).parent / f"test_{sample}.py").exists()
    assert sample in {sample_of(history) for history in HISTORIES}
    assert f"| [{sample}]({sample}.py) |" in (FOLDER / "README.md").read_text()


def test_no_history_is_of_a_sample_that_is_gone():
    assert {sample_of(history) for history in HISTORIES} <= set(SAMPLES)

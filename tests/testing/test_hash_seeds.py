"""Replays in processes with other hash seeds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import flowpy
from flowpy.replay.divergence import Divergence
from flowpy.testing import Environment
from flowpy.testing.hash_seeds import HashSeeds

GREETINGS = """\
import asyncio
from flowpy import activity, workflow

@activity
def greet(name: str) -> str:
    return name

@workflow
async def greetings() -> int:
    return len(await asyncio.gather(*[greet(f"guest {name}") for name in set("abcdefghijklm")]))
"""


@pytest.fixture
def greetings(tmp_path: Path, monkeypatch):
    file = tmp_path / "greetings.py"
    file.write_text(GREETINGS, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("greetings", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "greetings", module)
    spec.loader.exec_module(module)
    return module.greetings


def test_what_differs_there_is_data_here(greetings, tmp_path: Path):
    seeds = HashSeeds((1, 2), tmp_path)
    try:
        with Environment() as swf:
            swf.run(greetings)
            with pytest.raises(flowpy.NonDeterminismError, match="replayed under PYTHONHASHSEED=") as found:
                seeds.check(swf)
    finally:
        seeds.close()

    divergence = found.value.divergence
    assert isinstance(divergence, Divergence)
    assert (divergence.guess, divergence.workflow) == ("hash order", ("greetings", "1.0"))
    line = divergence.differences[0].line
    assert line is not None
    assert (line.file, line.line) == (str(tmp_path / "greetings.py"), 10)

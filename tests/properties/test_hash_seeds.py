"""Decisions do not follow the order of sets: they are the same in every process (law L8)."""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Any

import pytest

from . import hashed
from .test_recorded import python, run_python

SEEDS = ("0", "1", "2", "12345", "4294967295")


@cache
def decided(interpreter: str, seed: str) -> dict[str, Any]:
    ran = run_python(interpreter, "-m", "properties.hashed", PYTHONHASHSEED=seed)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


@pytest.mark.parametrize("seed", SEEDS[1:])
def test_decisions_are_the_same_under_every_hash_seed(seed: str) -> None:
    assert decided(sys.executable, seed) == decided(sys.executable, SEEDS[0])


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_decisions_are_the_same_on_every_python(version: str) -> None:
    assert decided(python(version), "random") == decided(sys.executable, SEEDS[0])


def test_cancellations_of_one_cause_go_out_in_order_of_creation() -> None:
    names = [json.loads(decision) for decisions in hashed.decided(hashed.failing_group) for decision in decisions]
    cancelled = [
        d["requestCancelActivityTaskDecisionAttributes"]["activityId"]
        for d in names
        if d["decisionType"] == "RequestCancelActivityTask"
    ]
    numbers = [int(id.split(".")[0].removeprefix("t")) for id in cancelled]
    assert len(numbers) > 5
    assert numbers == sorted(numbers)

"""The check finds what is marked in the fixture files, line by line, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.fixtures.marks import ALLOWED, FORBIDDEN, marks

from flowpy.check import check_paths
from flowpy.rules import RULES

SAMPLES = Path(__file__).parents[2] / "samples"


def test_each_forbidden_line_is_found() -> None:
    found = [(finding.line, finding.rule_id) for finding in check_paths([str(FORBIDDEN)])]

    assert found == marks(FORBIDDEN, "check")


def test_every_rule_has_an_example() -> None:
    found = {finding.rule_id for finding in check_paths([str(FORBIDDEN)])}

    assert found == set(RULES) - {"FLOW190", "FLOW191"}


def test_the_guard_and_the_check_together_find_forty_and_more() -> None:
    assert len({line for by in ("guard", "check", "loop") for line, _ in marks(FORBIDDEN, by)}) >= 40


def test_what_is_deterministic_raises_no_alarm() -> None:
    assert check_paths([str(ALLOWED)]) == []


def test_the_samples_raise_no_alarm() -> None:
    assert check_paths([str(SAMPLES)]) == []

"""docs/errors.md: a row for each class of the tree, with its code, its cause and its cure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flowpy import errors

TEXT = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
CODES = {name: getattr(getattr(errors, name), "code", None) for name in errors.__all__}
ROWS = {
    row[1].strip("`"): row
    for row in (re.split(r"\s*\|\s*", line) for line in TEXT.splitlines() if line.startswith("| `FLOWPY"))
}
STEERING = {name for name, code in CODES.items() if code is None}


def test_the_page_and_the_tree_have_the_same_classes_and_codes() -> None:
    shown = {row[2].strip("`"): code for code, row in ROWS.items()}

    assert shown == {name: code for name, code in CODES.items() if code not in {None, "FLOWPY"}}


@pytest.mark.parametrize("code", ROWS)
def test_each_says_why_and_what_to_do(code: str) -> None:
    _, _, name, cause, cure, _ = ROWS[code]

    assert cause
    assert cure or "base" in cause or name == "`WorkflowCanceled`"


def test_what_has_no_code_is_told_apart() -> None:
    rows = TEXT.split("## Without a code")[1]

    assert set(re.findall(r"^\| `(\w+)`", rows, re.MULTILINE)) == STEERING

"""What ``docs/non-determinism.md`` shows is what flowpy says, letter by letter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from flowpy.replay.divergence import Guess

from .changes import ACTIVITIES, Example, examples, history_of, warnings

PAGE = Path(__file__).parents[2] / "docs" / "non-determinism.md"
EXAMPLES = examples(PAGE)
PATCHED = PAGE.read_text(encoding="utf-8").split("\n## Changing code")[1].split("```")[1].removeprefix("python\n")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_the_page_shows_what_is_said_of(example: Example) -> None:
    said, _ = example.says()

    assert said == example.report


def test_the_page_shows_the_activities_that_are_used() -> None:
    assert f"```python\n{ACTIVITIES}```" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_kind_of_guess() -> None:
    assert {example.says()[1] for example in EXAMPLES} - {""} == {*get_args(Guess)} - {"unknown"}


def test_every_example_is_found_and_every_block_is_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    run = {ACTIVITIES, PATCHED} | {code for example in EXAMPLES for code in (example.before, example.after)}

    assert text.count("```text") == len(EXAMPLES)
    assert set(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)) == run


def test_runs_from_before_go_on_with_the_patch_that_it_shows_and_new_ones_do_what_is_new() -> None:
    before = re.sub(r"    if flowpy.*\n.*\n", "", PATCHED)

    assert before.count("\n") == PATCHED.count("\n") - 2
    assert warnings(before, PATCHED) == []
    assert "audit" in str(history_of(PATCHED))

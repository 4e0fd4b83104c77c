"""What ``docs/non-determinism.md`` shows is what flowpy says, letter by letter."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from flowpy.replay.divergence import Guess

from .changes import ACTIVITIES, Example, examples

PAGE = Path(__file__).parents[2] / "docs" / "non-determinism.md"
EXAMPLES = examples(PAGE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_the_page_shows_what_is_said_of(example: Example) -> None:
    said, _ = example.says()

    assert said == example.report


def test_the_page_shows_the_activities_that_are_used() -> None:
    assert f"```python\n{ACTIVITIES}```" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_kind_of_guess() -> None:
    assert {example.says()[1] for example in EXAMPLES} - {""} == {*get_args(Guess)} - {"unknown"}


def test_every_example_is_found() -> None:
    assert PAGE.read_text(encoding="utf-8").count("```text") == len(EXAMPLES)

"""docs/writing-workflows.md: it covers the face, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flowpy

PAGE = Path(__file__).parents[2] / "docs" / "writing-workflows.md"
TEXT = PAGE.read_text(encoding="utf-8")

# What the page need not show: types of what calls give, and errors, which it names where they are raised.
FACE = [name for name in flowpy.__all__ if name[0].islower()]


@pytest.mark.parametrize("name", FACE)
def test_the_page_covers_the_face(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT)


def test_the_errors_it_names_exist() -> None:
    named = re.findall(r"`((?:Activity|Child|Workflow|Lambda|External|Payload|NonDet|Await|Outside)[A-Z]\w+)`", TEXT)
    others = {  # of Flow for Java
        "ActivityExecutionContext",
        "ActivitySchedulingOptions",
        "ActivityWorker",
        "WorkflowClientExternal",
        "WorkflowClock",
        "WorkflowExecutionLocal",
        "WorkflowExecutionUtils",
        "WorkflowReplayer",
        "WorkflowTest",
        "WorkflowWorker",
    }

    assert set(named) - {*flowpy.__all__} == others

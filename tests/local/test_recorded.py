"""What the engine writes is what Amazon wrote, where the same came from outside and the same was decided."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowpy.history import read_history

from .recorded import COLON, NOT_FIRST, NULL_TAG, Again

_BESIDE = Path(__file__).parents[2] / ".." / "shared" / "histories"
_FOLDER = Path(os.environ.get("FLOWPY_RECORDED_HISTORIES", _BESIDE))
_FILES = sorted(_FOLDER.glob("*.json"))
_PAGE = Path(__file__).parents[2] / "docs" / "embedded-service.md"

DIFFERENCES = {
    "DecisionTaskScheduled.scheduleToStartTimeout is NONE, not absent",
    COLON,
    NULL_TAG,
    NOT_FIRST,
}
"""All there are; the documentation says who is right and why."""


@pytest.mark.skipif(not _FILES, reason="no recorded histories: set FLOWPY_RECORDED_HISTORIES to a folder of them")
@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_the_engine_writes_what_the_service_wrote(path):
    assert Again(read_history(path).events).compare() <= DIFFERENCES


@pytest.mark.parametrize("difference", sorted(DIFFERENCES))
def test_each_difference_is_documented(difference):
    assert f"| {difference} |" in _PAGE.read_text(encoding="utf-8")


@pytest.mark.skipif("FLOWPY_RECORDED_HISTORIES" in os.environ or not _FILES, reason="not all recordings are there")
def test_each_difference_is_one():
    found = set().union(*(Again(read_history(path).events).compare() for path in _FILES))
    assert found == DIFFERENCES

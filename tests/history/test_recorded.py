"""Histories the real service wrote, where they lie beside the checkout; they are not part of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowpy.history import read_history, seconds

_BESIDE = Path(__file__).parents[2] / ".." / "shared" / "histories"
_FOLDER = Path(os.environ.get("FLOWPY_RECORDED_HISTORIES", _BESIDE))
_FILES = sorted(_FOLDER.glob("*.json"))


@pytest.mark.skipif(not _FILES, reason="no recorded histories: set FLOWPY_RECORDED_HISTORIES to a folder of them")
@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_a_recorded_history_reads(path: Path) -> None:
    events = read_history(path).events

    times = [seconds(event) for event in events]
    assert times == sorted(times)
    assert events[0]["eventId"] == 1

"""Histories the real service wrote, where they lie beside the checkout; they are not part of it."""

from __future__ import annotations

import os
from pathlib import Path

_BESIDE = Path(__file__).parents[2] / ".." / "shared" / "histories"
FOLDER = Path(os.environ.get("FLOWPY_RECORDED_HISTORIES", _BESIDE))
FILES = sorted(FOLDER.glob("*.json"))

"""The samples are modules of the folder ``samples``; those of the demo are scripts that import one another."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

sys.path[:0] = [str(ROOT / "samples"), str(ROOT)]


@pytest.fixture(scope="session")
def histories():
    """The folder of the stored histories, ``<sample>.<what of it>.history.json``."""
    return Path(__file__).parent / "histories"

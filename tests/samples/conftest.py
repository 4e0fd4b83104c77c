"""The samples are scripts beside each other; tests import them as they import one another."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "samples"))

"""The processes are started as those of the samples are; tests import what does it from there."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "samples"))

"""docs/telemetry.md: it shows all there is of its kit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"
TEXT = PAGE.read_text(encoding="utf-8")

KIT = ("ContextFilter", "MemoryMeter", "Meter", "OpenTelemetry", "add_context")


@pytest.mark.parametrize("name", KIT)
def test_the_page_covers_the_kit(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT)

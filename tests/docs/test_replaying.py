"""docs/replaying.md: it shows all there is of its kit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flowpy.testing import HistoryBuilder

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "replaying.md"
TEXT = PAGE.read_text(encoding="utf-8")

KIT = ("HistoryBuilder", "Replayer", "Selection", "redact", "replay")


@pytest.mark.parametrize("name", KIT)
def test_the_page_covers_the_kit(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT)


def test_the_page_has_every_call_of_the_builder() -> None:
    calls = {name for name in dir(HistoryBuilder) if name[0] != "_"}

    assert {name for name in calls if not re.search(rf"\b{name}\b", TEXT)} == set()

"""docs/interceptors.md: it shows all there is of its kit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "interceptors.md"
TEXT = PAGE.read_text(encoding="utf-8")

KIT = ("ActivityCall", "ClientCall", "DecisionCall", "Interceptor", "Proceed", "WorkflowCall", "surrounded")


@pytest.mark.parametrize("name", KIT)
def test_the_page_covers_the_kit(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT)

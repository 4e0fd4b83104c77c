"""docs/payloads.md: it names every error of its kind."""

from __future__ import annotations

import re
from pathlib import Path

from flowpy import errors

PAGE = Path(__file__).parents[2] / "docs" / "payloads.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_it_names_every_error_of_its_kind() -> None:
    own = {name for name in errors.__all__ if issubclass(getattr(errors, name), errors.PayloadUnavailable)}

    assert set(re.findall(r"^\| `(Payload\w+)` \|", TEXT, re.MULTILINE)) == own - {"PayloadUnavailable"}

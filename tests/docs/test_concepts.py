"""docs/concepts.md: each timeout of SWF has its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "concepts.md"
TEXT = PAGE.read_text(encoding="utf-8")
PICTURES = PAGE.parent / "pictures" / "concepts"


def test_its_pictures_are_all_there_and_all_shown() -> None:
    shown = re.findall(r"\]\(pictures/concepts/([^)]+)\)", TEXT)

    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())
    assert len(re.findall(r"^### ", TEXT.split("## The six timeouts")[1], re.MULTILINE)) == 6


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_is_for_light_and_dark_and_for_those_who_hear_it(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")

    assert "prefers-color-scheme: dark" in text
    assert re.search(r"<title id=.t.>.+</title>", text)

"""What the README shows is real: its example runs as written, and its test passes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flowpy.testing import Environment

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_is_shown_and_its_test_passes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (example, test), (shown,) = blocks(ROOT / "README.md", "python"), blocks(ROOT / "README.md", "text")
    page: dict[str, Any] = {"__name__": "__main__"}

    exec(compile(example, "README.md", "exec"), page)  # noqa: S102 - our own file

    assert capsys.readouterr().out == shown

    first = ModuleType("first")
    vars(first).update(page, __name__="first")
    monkeypatch.setitem(sys.modules, "first", first)
    exec(compile(test, "README.md", "exec"), page)  # noqa: S102 - our own file
    with Environment() as swf:
        page["test_order"](swf)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))

    assert [target for target in targets if not (document.parent / target).exists()] == []

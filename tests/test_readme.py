"""What the README shows is real: its example runs as written, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def code_of(document: Path) -> list[str]:
    return [*blocks(document, "sh"), *re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8"))]


def test_the_example_is_code_that_declares_a_workflow() -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    names: dict[str, Any] = {"__name__": "readme"}

    exec(compile(example, "README.md", "exec"), names)  # noqa: S102 - our own file

    assert isinstance(names["charge"], Activity)
    assert isinstance(names["order"], Workflow)
    assert names["charge"].fn("o-7", 4200) == "receipt-o-7-4200"


def test_the_commands_are_targets() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    shown = set(re.findall(r"\bmake ([a-z]+)", "\n".join(code for document in DOCUMENTS for code in code_of(document))))

    assert shown >= {"demo", "test"}
    assert shown <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))

    assert [target for target in targets if not (document.parent / target).exists()] == []

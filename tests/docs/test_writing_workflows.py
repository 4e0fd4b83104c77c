"""docs/writing-workflows.md is one program: it runs as written and prints what is shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import flowpy

PAGE = Path(__file__).parents[2] / "docs" / "writing-workflows.md"
TEXT = PAGE.read_text(encoding="utf-8")

# What the page need not show: types of what calls give, and errors, which it names where they are raised.
FACE = [name for name in flowpy.__all__ if name[0].islower()]


def sections() -> Iterator[tuple[str, str, str]]:
    """Each heading with the code below it and the output shown."""
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        code = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        shown = re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        if code:
            yield section.splitlines()[0], "\n".join(code), "".join(shown)


def padded(code: str) -> str:
    """The code on the lines where it stands, so that a traceback leads to the page."""
    return "\n" * TEXT[: TEXT.index(code)].count("\n") + code


def test_the_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    page = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", page)

    printed = {}
    for heading, code, _ in sections():
        exec(compile(padded(code), str(PAGE), "exec", dont_inherit=True), vars(page))  # noqa: S102 - our own file
        printed[heading] = capsys.readouterr().out

    assert printed == {heading: shown for heading, _, shown in sections()}


@pytest.mark.parametrize("name", FACE)
def test_the_page_covers_the_face(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT)


def test_the_errors_it_names_exist() -> None:
    named = re.findall(r"`((?:Activity|Child|Workflow|Lambda|External|Payload|NonDet|Await|Outside)[A-Z]\w+)`", TEXT)
    others = {"WorkflowClock", "WorkflowReplayer", "WorkflowTest", "ActivitySchedulingOptions"}  # of Flow for Java

    assert set(named) - {*flowpy.__all__} == others

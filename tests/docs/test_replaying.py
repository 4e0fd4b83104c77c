"""docs/replaying.md is one program: it runs as written and prints what is shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from flowpy.testing import HistoryBuilder

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "replaying.md"
TEXT = PAGE.read_text(encoding="utf-8")

KIT = ("HistoryBuilder", "Replayer", "Selection", "redact", "replay")


def sections() -> Iterator[tuple[str, str, str]]:
    """Each python block with the output shown below it, "" if none is."""
    for number, (code, shown) in enumerate(
        re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", TEXT, re.MULTILINE | re.DOTALL), 1
    ):
        yield f"block {number}", code, shown


def padded(code: str) -> str:
    """The code on the lines where it stands, so that what is shown of it leads to the page."""
    return "\n" * TEXT[: TEXT.index(code)].count("\n") + code


def test_the_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    page = ModuleType("replaying_page")
    monkeypatch.setitem(sys.modules, "replaying_page", page)
    monkeypatch.chdir(ROOT)

    printed = {}
    for name, code, _ in sections():
        exec(compile(padded(code), str(PAGE), "exec", dont_inherit=True), vars(page))  # noqa: S102 - our own file
        printed[name] = capsys.readouterr().out

    assert printed == {name: shown for name, _, shown in sections()}


@pytest.mark.parametrize("name", KIT)
def test_the_page_covers_the_kit(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT)


def test_the_page_has_every_call_of_the_builder() -> None:
    calls = {name for name in dir(HistoryBuilder) if name[0] != "_"}

    assert {name for name in calls if not re.search(rf"\b{name}\b", TEXT)} == set()

"""docs/testing.md: all of its Python is one test module, which passes and prints what is shown."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import flowpy.testing.session  # noqa: F401 - once, for the run below too
import flowpy_pytest
from flowpy.testing.faults import Faults

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
TEXT = PAGE.read_text(encoding="utf-8")
PLUGIN = Path(flowpy_pytest.__file__).read_text(encoding="utf-8")
INSTALLED = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))


def module() -> str:
    """The Python of the page, on the lines where it stands."""
    inside, lines = False, []
    for line in TEXT.splitlines():
        if line == "```python":
            inside = True
            lines.append("")
        elif line == "```":
            inside = False
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def unnumbered(text: str) -> str:
    """Without line numbers, which a sentence more on the page would change."""
    return re.sub(r"\.py:\d+ in", ".py in", text)


def test_it_passes_and_prints_what_it_shows(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_page.py").write_text(module(), encoding="utf-8")
    plugin = [] if INSTALLED else ["-p", "flowpy_pytest"]

    result = pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider", "-s")

    assert result.ret == 0
    for shown in re.findall(r"^```text\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL):
        assert unnumbered(shown) in unnumbered(result.stdout.str() + "\n")


@pytest.mark.parametrize("fault", [name for name in vars(Faults) if not name.startswith("_")])
def test_it_shows_every_fault(fault: str) -> None:
    assert f"swf.faults.{fault}(" in TEXT


@pytest.mark.parametrize("option", sorted(set(re.findall(r"--flowpy-[a-z-]+[a-z]", PLUGIN))))
def test_it_names_every_option(option: str) -> None:
    assert option in TEXT

"""docs/testing.md: all of its Python is one test module, which passes and prints what is shown."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, fences

import flowpy.testing.session  # noqa: F401 - once, for the run below too
import flowpy_pytest
from flowpy.testing.faults import Faults

PAGE = "docs/testing.md"
TEXT = PAGES[PAGE]
PLUGIN = Path(flowpy_pytest.__file__).read_text(encoding="utf-8")
INSTALLED = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))
PLUGIN_IF_NOT_INSTALLED = ("-p", "no:cacheprovider", *([] if INSTALLED else ["-p", "flowpy_pytest"]))


def module(name: str) -> str:
    """The Python of a file, on the lines where it stands on the page."""
    lines = [""] * TEXT.count("\n")
    for fence in fences(PAGE, "python"):
        first, _, _ = fence.text.partition("\n")
        if (first.removeprefix("# ") if first.startswith("# ") else "test_page.py") == name:
            code = fence.text.splitlines()
            lines[fence.line - 1 : fence.line - 1 + len(code)] = code
    return "\n".join(lines)


def unnumbered(text: str) -> str:
    """Without line numbers, which a sentence more on the page would change."""
    return re.sub(r"\.py:\d+ in", ".py in", text)


def test_it_passes_and_prints_what_it_shows(pytester: pytest.Pytester) -> None:
    for name in ("conftest.py", "test_page.py"):
        (pytester.path / name).write_text(module(name), encoding="utf-8")
    pytester.makepyfile(shop="from flowpy.data import Converter\n\nconverter = Converter()\n")

    result = pytester.runpytest_inprocess(*PLUGIN_IF_NOT_INSTALLED, "-s")

    assert result.ret == 0
    for shown in fences(PAGE, "text"):
        assert unnumbered(shown.text) in unnumbered(result.stdout.str() + "\n")


TESTED = """\
from shop.workflows import order


def test_order(swf):
    swf.run(order)
"""


@pytest.mark.parametrize(
    ("language", "file", "folder"),
    [("ini", "pytest.ini", "histories"), ("toml", "pyproject.toml", "tests/histories")],
)
def test_its_configuration_makes_tests_of_stored_histories(
    language: str, file: str, folder: str, pytester: pytest.Pytester
) -> None:
    for part in ("shop", "tests"):
        pytester.mkdir(part)
    order = "import flowpy\n\n\n@flowpy.workflow\nasync def order() -> None: ...\n"
    (fence,) = fences(PAGE, language)
    for name, text in {
        file: fence.text,
        "shop/__init__.py": "",
        "shop/workflows.py": order,
        "shop/returns.py": order.replace("order", "send_back"),
        "tests/test_order.py": TESTED,
    }.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    if language == "ini":
        pytester.syspathinsert()  # the other one says where the modules are

    pytester.runpytest_inprocess(*PLUGIN_IF_NOT_INSTALLED, "--flowpy-record").assert_outcomes(passed=1)
    assert [path.name for path in (pytester.path / folder).iterdir()] == ["tests.test_order.test_order.history.json"]
    pytester.runpytest_inprocess(*PLUGIN_IF_NOT_INSTALLED).assert_outcomes(passed=2)


@pytest.mark.parametrize("fault", [name for name in vars(Faults) if not name.startswith("_")])
def test_it_shows_every_fault(fault: str) -> None:
    assert f"swf.faults.{fault}(" in TEXT


@pytest.mark.parametrize("option", sorted(set(re.findall(r"--flowpy-[a-z-]+[a-z]", PLUGIN))))
def test_it_names_every_option(option: str) -> None:
    assert option in TEXT

"""Sizes that keep rooms small enough to read: modules, functions and parameter lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[1] / "src" / "flowpy"
MODULES = sorted(ROOT.rglob("*.py"))

MODULE_LINES = 400
MEDIAN_LINES = 200
FUNCTION_LINES = 60
PARAMETERS = 8

# A module over 400 lines says why it is one, in a line of its docstring that begins so.
REASON = "One module because"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """Lines from ``def`` to the end, without the docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def parameters(function: Function) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len([each for each in named if each.arg not in {"self", "cls"}])


def takes_options(function: Function) -> bool:
    """Whether the names are SWF's own options, each spelled out so that editors and type checkers know it."""
    return "start_to_close_timeout" in {each.arg for each in function.args.kwonlyargs} or (
        "task_start_to_close_timeout" in {each.arg for each in function.args.kwonlyargs}
    )


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_fits_in_the_head(path: Path) -> None:
    lines = line_count(path)
    reason = any(line.strip().startswith(REASON) for line in (ast.get_docstring(parsed(path)) or "").splitlines())

    assert lines <= MODULE_LINES or reason, f"{named(path)} has {lines} lines: split it, or say '{REASON} …' on top"


def test_most_modules_are_small() -> None:
    assert median(line_count(path) for path in MODULES) < MEDIAN_LINES


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_functions_fit_on_a_screen(path: Path) -> None:
    long = {f"{named(path)}:{f.lineno} {f.name}": body_lines(f) for f in functions(parsed(path))}

    assert {name: lines for name, lines in long.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_parameter_lists_are_short(path: Path) -> None:
    counts = {
        f"{named(path)}:{f.lineno} {f.name}": parameters(f) for f in functions(parsed(path)) if not takes_options(f)
    }

    assert {name: count for name, count in counts.items() if count > PARAMETERS} == {}

"""Where the order of a set shows (FLOW120), and where coroutines are taken in the order of their addresses."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from flowpy.check.kinds import SETS, Kind, Known

if TYPE_CHECKING:
    from flowpy.check.reading import Reader

# What gives the same whatever the order; a comprehension inside is only passed through.
_NO_ORDER: Final = frozenset(f"builtins.{name}" for name in "sorted set frozenset len sum min max any all".split()) | {
    "collections.Counter",
    "statistics.mean",
    "math.fsum",
}
_SHOWS: Final = frozenset(
    {f"builtins.{name}" for name in "list tuple iter enumerate zip map filter reversed str repr format next".split()}
    | {"functools.reduce", "collections.deque", "builtins.dict.fromkeys", "random.Random"}
)
_SHOWS_BY_METHOD: Final = frozenset({"join", "extend", "extendleft", "writelines", "fromkeys"})
_NUMBERS: Final = "a set of numbers has the same order in every process, but not on every Python"


def of_iteration(reader: Reader, given: ast.expr, at: ast.AST) -> None:
    """Something goes through a value in its order."""
    known = reader.kinds.of(given)
    if known in SETS:
        _report(reader, at, given, known)


def of_unpacking(reader: Reader, target: ast.expr, known: Known) -> None:
    """``a, b = {"eu", "us"}``."""
    if isinstance(target, ast.Tuple | ast.List) and known in SETS:
        _report(reader, target, target, known)


def of_comprehension(reader: Reader, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> None:
    """A list, dict or generator made from a set has the set's order."""
    if node in reader.kinds.unordered:
        return
    for generator in node.generators:
        if not generator.is_async:
            of_iteration(reader, generator.iter, node)


def of_call(reader: Reader, node: ast.Call, name: str) -> None:
    """A function that shows the order of what it is given, or that does not care."""
    if name in _NO_ORDER:
        reader.kinds.unordered.update(each for each in node.args if isinstance(each, ast.ListComp | ast.GeneratorExp))
    elif name in _SHOWS or name.startswith("itertools.") or _is_method(node, _SHOWS_BY_METHOD):
        for each in node.args:
            of_iteration(reader, each, node)
    elif _is_method(node, frozenset({"pop"})) and not node.args:
        assert isinstance(node.func, ast.Attribute)
        of_iteration(reader, node.func.value, node)
    elif name == "asyncio.as_completed" and node.args and reader.kinds.of(node.args[0]) is Kind.COROUTINES:
        reader.report(node, "FLOW122", "asyncio.as_completed")


def _is_method(node: ast.Call, names: frozenset[str]) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in names


def _report(reader: Reader, at: ast.AST, given: ast.expr, known: Known) -> None:
    text = ast.unparse(given)
    what = text if len(text) <= 40 else f"{text[:39]}…"
    if known is Kind.NUMBERS:
        reader.report(at, "FLOW120", what, _NUMBERS, "warning")
    else:
        reader.report(at, "FLOW120", what)

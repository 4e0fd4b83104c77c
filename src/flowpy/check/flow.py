"""Where control flow is swallowed (FLOW130)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from flowpy.check.names import SCOPES, dotted

if TYPE_CHECKING:
    from flowpy.check.reading import Reader

_CONTROL_FLOW: Final = frozenset(
    {"builtins.BaseException", "builtins.GeneratorExit", "greenlet.GreenletExit"}
    | {f"flowpy.{name}" for name in ("ContinueAsNew", "errors.ContinueAsNew")}
)


def of_try(reader: Reader, node: ast.Try) -> None:
    """Handlers that catch control flow and do not raise, and a ``finally`` that returns."""
    for handler in node.handlers:
        caught = _caught(reader, handler.type)
        if caught and not any(isinstance(each, ast.Raise) for each in _inside(handler.body)):
            reader.report(handler, "FLOW130", caught)
    for each in _inside(node.finalbody):
        if isinstance(each, ast.Return):
            reader.report(each, "FLOW130", "return in finally", "it swallows whatever was on its way out")


def of_call(reader: Reader, node: ast.Call, name: str) -> None:
    """``suppress(BaseException)``."""
    if name == "contextlib.suppress":
        for each in node.args:
            if dotted(each, reader.names) in _CONTROL_FLOW:
                reader.report(node, "FLOW130", f"suppress({ast.unparse(each)})")


def _caught(reader: Reader, type_: ast.expr | None) -> str:
    """How a handler catches control flow, "" if it does not."""
    if type_ is None:
        return "except:"
    for each in type_.elts if isinstance(type_, ast.Tuple) else [type_]:
        if dotted(each, reader.names) in _CONTROL_FLOW:
            return f"except {ast.unparse(each)}"
    return ""


def _inside(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for statement in statements:
        yield statement
        if not isinstance(statement, SCOPES):
            yield from _inside(ast.iter_child_nodes(statement))

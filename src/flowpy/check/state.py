"""Where workflow code changes the state of a module (FLOW131)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from flowpy.check.names import dotted

if TYPE_CHECKING:
    from flowpy.check.reading import Reader

_CHANGES: Final = frozenset(
    "append extend insert remove pop popitem clear update setdefault add discard sort reverse appendleft extendleft "
    "popleft difference_update intersection_update symmetric_difference_update".split()
)


def of_global(reader: Reader, node: ast.Global) -> None:
    """``global x``, which is only needed to assign to it."""
    reader.report(node, "FLOW131", f"global {', '.join(node.names)}", severity="warning")


def of_target(reader: Reader, target: ast.expr) -> None:
    """An item or attribute of something that the module holds is assigned to, or deleted."""
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            of_target(reader, each)
    elif isinstance(target, ast.Attribute | ast.Subscript):
        name = _held(reader, target.value)
        if name:
            reader.report(target, "FLOW131", ast.unparse(target), severity="warning")


def of_call(reader: Reader, node: ast.Call) -> None:
    """A method that changes something that the module holds."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES and _held(reader, node.func.value):
        reader.report(node, "FLOW131", ast.unparse(node.func), severity="warning")


def _held(reader: Reader, node: ast.expr) -> str:
    """The variable, class or module of the tree that an expression is, or is an item of; "" if it is none."""
    while isinstance(node, ast.Subscript):
        node = node.value
    name = dotted(node, reader.names)
    if not name:
        return ""
    source = reader.definition.source
    found = reader.project.find(name, source)
    is_module = reader.project.module(name, source) is not None
    first = found[1].partition(".")[0] if found is not None else ""
    held = found is not None and (first in found[0].variables or first in found[0].classes)
    return name if held or is_module else ""

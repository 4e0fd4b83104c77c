"""Where workflow code changes the state of a module (FLOW131), or draws chance from it (FLOW103, FLOW104)."""

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

_GENERATORS: Final = {"random.Random": "FLOW103", "random.SystemRandom": "FLOW104"}
"""What a module may hold, and what its methods break: each replay goes on where another run has left it."""


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
    """A method that changes something that the module holds, or ``next`` of an iterator that it holds."""
    if isinstance(node.func, ast.Attribute):
        drawn = _drawn(reader, node.func.value)
        if drawn:
            reader.report(node, drawn, ast.unparse(node.func))
        elif node.func.attr in _CHANGES and _held(reader, node.func.value):
            reader.report(node, "FLOW131", ast.unparse(node.func), severity="warning")
    elif dotted(node.func, reader.names) == "builtins.next" and node.args and _held(reader, node.args[0]):
        reader.report(node, "FLOW131", ast.unparse(node), severity="warning")


def _drawn(reader: Reader, node: ast.expr) -> str:
    """The rule that drawing from an expression breaks: a generator of random numbers that a module holds; or ""."""
    name = dotted(node, reader.names)
    found = reader.project.find(name, reader.definition.source) if name else None
    value = found[0].variables.get(found[1]) if found is not None else None
    if found is None or not isinstance(value, ast.Call):
        return ""
    made = reader.project.resolve(dotted(value.func, found[0].names), found[0])[1]
    return _GENERATORS.get(made, "")


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

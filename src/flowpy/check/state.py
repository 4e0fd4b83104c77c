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

_MAKES_CHANGEABLE: Final = frozenset(
    {f"builtins.{name}" for name in "list dict set bytearray".split()}
    | {f"collections.{name}" for name in "deque defaultdict Counter OrderedDict ChainMap".split()}
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
    """The variable, class or module of the tree that an expression is, or is an item of; "" if it is none.

    So are a list that stands in a class, reached by ``self``, and one that is a parameter's default: there is one for
    all objects, and for all calls.
    """
    while isinstance(node, ast.Subscript):
        node = node.value
    if _is_of_class(reader, node) or _is_default(reader, node):
        return ast.unparse(node)
    name = dotted(node, reader.names)
    if not name:
        return ""
    source = reader.definition.source
    found = reader.project.find(name, source)
    is_module = reader.project.module(name, source) is not None
    first = found[1].partition(".")[0] if found is not None else ""
    held = found is not None and (first in found[0].variables or first in found[0].classes)
    return name if held or is_module else ""


def _is_of_class(reader: Reader, node: ast.expr) -> bool:
    owner, function = reader.definition.owner, reader.definition.node
    first = next(iter((*function.args.posonlyargs, *function.args.args)), None)
    if owner is None or first is None or not isinstance(node, ast.Attribute):
        return False
    if not isinstance(node.value, ast.Name) or node.value.id != first.arg:
        return False
    own = (each for each in ast.walk(owner) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return any(
        _is_changeable(reader, statement.value)
        for statement in owner.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and node.attr in _names(statement)
    ) and all(each.attr != node.attr for each in own)


def _is_default(reader: Reader, node: ast.expr) -> bool:
    function = reader.definition.node
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args][::-1]
    defaults = [
        *zip(named, arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    if not isinstance(node, ast.Name) or not any(
        each.arg == node.id and _is_changeable(reader, default) for each, default in defaults
    ):
        return False
    # A function that gives the name another value may have made a list of its own.
    return not any(
        isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store)
        for each in ast.walk(function)
    )


def _names(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _is_changeable(reader: Reader, value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return dotted(value.func, reader.names) in _MAKES_CHANGEABLE
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)

"""What a name in a piece of code stands for, as a dotted name."""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap
from collections.abc import Iterator

Names = ChainMap[str, str]
"""From names to dotted names, innermost scope first; "" stands for a local variable, of which nothing is known."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BINDING = (
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

BUILTINS = {name: f"builtins.{name}" for name in dir(builtins)}


def dotted(node: ast.AST, names: Names) -> str:
    """The dotted name an expression stands for, "" if that is unknown."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""


def imported(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """The names that an import statement binds, with what they stand for.

    Args:
        node: Any statement.
        package: The package that relative imports start from.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            yield alias.asname or alias.name, f"{source}.{alias.name}"


def within(node: ast.AST) -> Iterator[ast.AST]:
    """Everything inside a function or module, but not inside the functions and classes defined in it."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, SCOPES):
            waiting += ast.iter_child_nodes(one)


def local_names(function: Function | ast.Lambda, package: str) -> dict[str, str]:
    """The names that a function binds: those of its imports with what they stand for, the others with ""."""
    found = dict.fromkeys((argument.arg for argument in arguments(function)), "")
    shared: set[str] = set()
    bound: dict[str, str] = {}
    for node in within(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] = ""
        elif isinstance(node, _BINDING):
            if node.name:
                found[node.name] = ""
        else:
            bound.update(imported(node, package))
    return {name: target for name, target in {**found, **bound}.items() if name not in shared}


def arguments(function: Function | ast.Lambda) -> Iterator[ast.arg]:
    """The parameters of a function."""
    spec = function.args
    yield from (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    yield from (each for each in (spec.vararg, spec.kwarg) if each is not None)

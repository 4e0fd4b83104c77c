"""What ``from module import *`` binds."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flowpy.rules import RULES

if TYPE_CHECKING:
    from flowpy.check.source import Source

__all__ = ["starred"]

_STANDARD: Final = frozenset(call.removesuffix(".*") for rule in RULES.values() for call in rule.calls)


def starred(source: Source, module: Callable[[str], Source | None]) -> dict[str, str]:
    """The names that a module has from its star imports, with what they stand for.

    Args:
        source: The module.
        module: Gives a module of the tree, or None for those outside of it.
    """
    found: dict[str, str] = {}
    for name in source.stars:
        beside = module(name)
        found.update({each: f"{name}.{each}" for each in _outside(name)} if beside is None else _public(beside))
    return found


def _public(source: Source) -> dict[str, str]:
    """What a module of the tree gives to a star."""
    listed = _listed(source.variables.get("__all__"))
    names = {**source.names.maps[1], **source.names.maps[0]}
    return {
        name: target
        for name, target in names.items()
        if (name in listed if listed is not None else not name.startswith("_"))
    }


@cache
def _outside(name: str) -> Iterable[str]:
    """What a module outside of the tree gives: flowpy's faces, and those of the standard library with rules."""
    if name in ("flowpy", "flowpy.declare"):
        tree = ast.parse(Path(__file__).parents[1].joinpath(*name.split(".")[1:], "__init__.py").read_text("utf-8"))
        assigned = (node for node in tree.body if isinstance(node, ast.Assign))
        lists = [_listed(node.value) for node in assigned if ast.unparse(node.targets[0]) == "__all__"]
        return lists[0] or [] if lists else []
    has_rules = any(call == name or call.startswith(f"{name}.") for call in _STANDARD)
    if not has_rules or name.partition(".")[0] not in sys.stdlib_module_names:
        return []
    # Imported, as nothing else here is: only Python itself knows what its modules give.
    module = import_module(name)
    return getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")]


def _listed(value: ast.expr | None) -> list[str] | None:
    """The texts in a list that is written out, None if there is none."""
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    return [each.value for each in value.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]

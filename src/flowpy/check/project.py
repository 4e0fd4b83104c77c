"""The modules that are checked, and those beside them which they import."""

from __future__ import annotations

import ast
import os
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import define, field

from flowpy.check.finding import Finding
from flowpy.check.names import dotted
from flowpy.check.source import DECLARED, Definition, Source
from flowpy.check.stars import starred

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})
_HOPS = 8
"""How often a name may be passed on by the modules that import it."""


@define
class Project:
    """Modules by name, read when they are first asked for."""

    _roots: dict[str, None] = field(factory=dict, init=False)
    _modules: dict[tuple[str, str], Source | None] = field(factory=dict, init=False)

    def add(self, path: str) -> Source:
        """Read a file; its folder, above the packages it lies in, becomes one that imports are looked up in."""
        root, name = _module(path)
        self._roots[root] = None
        known = self._modules.get((root, name))
        if known is None:
            known = self._read(root, path, name)
        return known

    def _read(self, root: str, path: str, name: str) -> Source:
        # Known before its imports are followed: they may lead back.
        source = self._modules[root, name] = _read(path, name)
        source.learn(starred(source, lambda module: self.module(module, source)), self._passed_on(source))
        return source

    def _passed_on(self, source: Source) -> dict[str, str]:
        """The decorators that a module has from another one of the tree, which has them from flowpy."""
        own = source.names.maps[0].items()
        named = [(name, target) for name, target in own if target.rpartition(".")[2] in DECLARED]
        return {name: self.resolve(target, source)[1] for name, target in named if not target.startswith("flowpy.")}

    def module(self, name: str, near: Source) -> Source | None:
        """A module of the tree: beside the one that asks first."""
        if name == "flowpy" or name.startswith("flowpy."):
            # What flowpy does for a workflow is made for replays.
            return None
        root, _ = _module(near.path)
        for each in (root, *self._roots):
            found = self._look_up(each, name)
            if found is not None:
                return found
        return None

    def _look_up(self, root: str, name: str) -> Source | None:
        key = (root, name)
        if key not in self._modules:
            base = os.path.join(root, *name.split("."))  # noqa: PTH118 - thousands of times, and Path is slow
            self._modules[key] = None
            for path in (f"{base}.py", f"{base}/__init__.py"):
                if os.path.isfile(path):  # noqa: PTH113 - as above
                    self._read(root, path, name)
                    break
        return self._modules[key]

    def find(self, name: str, near: Source) -> tuple[Source, str] | None:
        """The module that defines what a dotted name stands for, and its name in there; None outside of the tree.

        Args:
            name: Such as ``"shop.helpers.deadline"`` or ``"shop.Order.total"``.
            near: The module that uses it.
        """
        return self.resolve(name, near)[0]

    def resolve(self, name: str, near: Source) -> tuple[tuple[Source, str] | None, str]:
        """What ``find`` gives, and the dotted name that a name stands for in the end, in the tree or outside.

        ``clock`` of a module with ``clock = time.time``, or one that imports it from there, is ``time.time``.
        """
        for _ in range(_HOPS):
            split = self._split(name, near)
            if split is None:
                return None, name
            source, rest = split
            first, _, more = rest.partition(".")
            if first in source.functions or first in source.classes:
                return split, name
            target = source.names.maps[0].get(first, "") or source.names.maps[1].get(first, "")
            if first in source.variables:
                target = dotted(source.variables[first], source.names)
                if not target:
                    return split, name
            if not target or target == name:
                return None, name
            name, near = f"{target}.{more}" if more else target, source
        return None, name

    def _split(self, name: str, near: Source) -> tuple[Source, str] | None:
        """The module of the tree that a dotted name begins with, and the rest."""
        module, _, rest = name.rpartition(".")
        while module:
            source = near if module == near.name else self.module(module, near)
            if source is not None:
                return source, rest
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}"
        return None

    def function(self, name: str, near: Source) -> Definition | None:
        """The function that a dotted name stands for, if it is of the tree."""
        found = self.find(name, near)
        if found is None:
            return None
        source, rest = found
        if rest in source.functions:
            return Definition(source, source.functions[rest])
        owner, _, method = rest.partition(".")
        if method and owner in source.classes:
            return next((each for each in source.methods(source.classes[owner]) if each.node.name == method), None)
        return None

    def is_coroutine(self, name: str, near: Source) -> bool:
        """Whether calling a function gives a coroutine, not a promise."""
        found = self.function(name, near)
        return found is not None and isinstance(found.node, ast.AsyncFunctionDef) and not kind(found)


def kind(definition: Definition) -> str:
    """What a function is declared as: ``"activity"``, ``"workflow"``, ``"asynchronous"`` or ""."""
    return definition.source.kind_of(definition.node)


def python_files(paths: Iterable[str]) -> Iterator[str]:
    """The files that paths stand for: themselves, and those with Python code in folders, in order.

    Folders of virtual environments, caches, hidden ones and what was built are left out.

    Raises:
        FileNotFoundError: There is nothing at a path.
    """
    for path in paths:
        if os.path.isfile(path):  # noqa: PTH113 - as above
            yield path
        elif os.path.isdir(path):  # noqa: PTH112 - as above
            yield from _below(path)
        else:
            raise FileNotFoundError(f"{path}: no such file or folder")


def _below(folder: str) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(
            each
            for each in folders
            if not each.startswith(".") and each not in _SKIPPED and not Path(where, each, "pyvenv.cfg").exists()
        )
        yield from (os.path.join(where, each) for each in sorted(files) if _is_code(each))  # noqa: PTH118


def _is_code(name: str) -> bool:
    # A hidden file is none of the code: editors keep locks and copies so.
    return name.endswith(".py") and not name.startswith(".")


def _module(path: str) -> tuple[str, str]:
    """The folder that a module is imported from, and its dotted name."""
    file = Path(path)
    names = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists() and folder.name:
        names.insert(0, folder.name)
        folder = folder.parent
    return str(folder), ".".join(names) or file.stem


def _read(path: str, name: str) -> Source:
    try:
        with tokenize.open(path) as file:
            text = file.read()
        return Source(path, name, text, is_package=path.endswith("__init__.py"))
    except (SyntaxError, UnicodeDecodeError, OSError, RecursionError) as error:
        source = Source(path, name, "")
        source.error = Finding(path, 1, 1, "FLOW190", note=str(error))
        return source

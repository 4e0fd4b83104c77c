"""The check: from files to findings, along everything that workflow code leads to."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable

from attrs import define, field

from flowpy.check.finding import Finding
from flowpy.check.names import dotted
from flowpy.check.project import Project, kind, python_files
from flowpy.check.reading import Reader
from flowpy.check.source import Definition, Source

__all__ = ["check_paths"]


def check_paths(paths: Iterable[str]) -> list[Finding]:
    """Find what workflow code must not do, in its text.

    Workflow code is what is decorated with ``flowpy.workflow`` (functions, and all methods of classes) or
    ``flowpy.asynchronous``, and every function that it leads to, in the same module and in others of the same tree.

    Args:
        paths: Files and folders.

    Returns:
        The findings, in order of path and line.

    Raises:
        FileNotFoundError: There is nothing at a path.
    """
    check = _Check()
    given = [check.project.add(path) for path in python_files(paths)]
    for source in given:
        if source.error is not None:
            check.findings.append(source.error)
        check.findings += source.without_reason()
        for root in source.roots():
            check.reach(root)
    check.run()
    return sorted(set(check.findings))


@define
class _Check:
    project: Project = field(factory=Project)
    findings: list[Finding] = field(factory=list)
    _waiting: deque[Definition] = field(factory=deque)
    _reached: set[ast.AST] = field(factory=set)
    _classes: dict[ast.ClassDef, Source] = field(factory=dict)
    _attributes: set[str] = field(factory=set)

    def reach(self, definition: Definition) -> None:
        """Have a function read, once."""
        if definition.node not in self._reached and kind(definition) != "activity":
            self._reached.add(definition.node)
            self._waiting.append(definition)

    def run(self) -> None:
        """Read functions until there is no more."""
        while self._waiting:
            definition = self._waiting.popleft()
            reader = Reader(definition, self.project)
            try:
                reader.read()
            except RecursionError:
                reader.report(definition.node, "FLOW190", note="nested too deeply to be read")
            self._follow(definition.source, reader)

    def _follow(self, source: Source, reader: Reader) -> None:
        """Reach what a function uses."""
        self.findings += [finding for finding in reader.findings if not source.ignores(finding)]
        for name, called in reader.used:
            self._use(source, name, called)
        new = set(reader.attributes) - self._attributes
        self._attributes |= new
        for owner, home in self._classes.items():
            self._reach_methods(home, owner, new)

    def _use(self, near: Source, name: str, called: bool) -> None:
        function = self.project.function(name, near)
        if function is not None:
            self.reach(function)
            return
        found = self.project.find(name, near)
        if found is None:
            return
        source, rest = found
        owner = source.classes.get(rest.partition(".")[0])
        if owner is not None:
            self._mention(source, owner)
            if called and rest in source.classes:
                self._make(source, owner)

    def _mention(self, source: Source, owner: ast.ClassDef) -> None:
        """Workflow code knows a class: its methods are reached by their names."""
        if owner in self._classes or source.kind_of(owner):
            return
        self._classes[owner] = source
        self._reach_methods(source, owner, self._attributes)
        for base in owner.bases:
            self._use(source, dotted(base, source.names), called=False)

    def _make(self, source: Source, owner: ast.ClassDef) -> None:
        """Workflow code makes objects of a class."""
        self._reach_methods(source, owner, {"__init__", "__post_init__", "__attrs_post_init__", "__new__"})
        for base in owner.bases:
            found = self.project.find(dotted(base, source.names), source)
            if found is not None and found[1] in found[0].classes and found[0].classes[found[1]] is not owner:
                self._make(found[0], found[0].classes[found[1]])
        if owner in self._reached:
            return
        self._reached.add(owner)
        stand_in = ast.parse(f"def {owner.name}(): ...").body[0]
        assert isinstance(stand_in, ast.FunctionDef)
        reader = Reader(Definition(source, stand_in), self.project)
        reader.read_defaults(owner)
        self._follow(source, reader)

    def _reach_methods(self, source: Source, owner: ast.ClassDef, names: set[str]) -> None:
        for method in source.methods(owner):
            if method.node.name in names:
                self.reach(method)

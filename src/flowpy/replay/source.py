"""Reads user code for a report: which calls it still has, and what in it no replay can repeat.

Only a report asks, and a report does without: where there is no source (a REPL, a frozen program) nothing is found.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import frozen

from flowpy.replay.divergence import CodeLine
from flowpy.rules import RULES

_READINGS: Final = [name for number in range(101, 107) for name in RULES[f"FLOW{number}"].calls]
_NOT_REPEATABLE: Final = frozenset(".".join(name.split(".")[-2:]) for name in _READINGS)
_WHOLE_MODULES: Final = frozenset(name.removesuffix(".*") for name in _READINGS if name.endswith(".*"))
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@frozen
class Found:
    """Something in the code.

    Attributes:
        file: The source file.
        line: Line number.
        text: The code, such as ``time.time``.
        called: Whether it is called there, and not only passed on.
        function: Name of the function it stands in, without those around it.
    """

    file: str
    line: int
    text: str
    called: bool = True
    function: str = ""

    def is_before(self, line: CodeLine) -> bool:
        """Whether it stands above a line of the same function."""
        same = self.file == line.file and self.function == line.function.rpartition(".")[2]
        return same and self.line < line.line


class Source:
    """The functions that some lines of code stand in.

    Args:
        lines: The lines; the innermost function around each is read.
    """

    def __init__(self, lines: Iterable[CodeLine | None]) -> None:
        self._trees: dict[str, ast.Module | None] = {}
        self._functions: dict[int, tuple[str, _Function]] = {}
        for line in lines:
            function = self._function(line) if line is not None else None
            if line is not None and function is not None:
                self._functions[id(function)] = line.file, function

    def mentions(self, names: Iterable[str]) -> list[Found]:
        """Where functions or methods of these names are called or passed on, in the order of lines."""
        return _mentions(self._functions.values(), frozenset(names))

    def calls_anywhere(self, names: Iterable[str]) -> list[Found]:
        """Where they are called in any function of the files that the lines stand in."""
        functions = [
            (file, node)
            for file, tree in self._trees.items()
            if tree is not None
            for node in ast.walk(tree)
            if isinstance(node, _Function)
        ]
        return [found for found in _mentions(functions, frozenset(names)) if found.called]

    def not_repeatable(self, near: CodeLine | None = None) -> Found | None:
        """A reading of a clock, of chance or of the environment.

        Args:
            near: What it may have led to. The last reading that stands there or above is given, else the first of all.
        """
        found = sorted(self._readings(), key=lambda one: (one.file, one.line))
        above = [one for one in found if near is not None and one.file == near.file and one.line <= near.line]
        return above[-1] if above else next(iter(found), None)

    def _readings(self) -> Iterator[Found]:
        for file, node in self._nodes():
            if isinstance(node, ast.Attribute):
                path = ast.unparse(node).split(".")
                known = ".".join(path[-2:]) in _NOT_REPEATABLE and path[0] != "flowpy"
                if known or (len(path) == 2 and path[0] in _WHOLE_MODULES):
                    yield Found(file, node.lineno, ".".join(path))

    def sets_walked(self) -> Found | None:
        """The first loop over a set that is written there."""
        for file, node in self._nodes():
            if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                walked = node.iter
                called = isinstance(walked, ast.Call) and _last(walked.func) in ("set", "frozenset")
                if called or isinstance(walked, ast.Set | ast.SetComp):
                    return Found(file, walked.lineno, ast.unparse(walked))
        return None

    def branch(self, one: int, other: int) -> Found | None:
        """The ``if`` or ``match`` that leads to one line on one way and to the other on another way."""
        found = None
        for file, node in self._nodes():
            if isinstance(node, ast.If | ast.IfExp):
                ways = [_span(node.body), _span(node.orelse)]
                text = ast.unparse(node.test)
            elif isinstance(node, ast.Match):
                ways = [_span(case.body) for case in node.cases]
                text = ast.unparse(node.subject)
            else:
                continue
            places = [next((i for i, way in enumerate(ways) if line in way), None) for line in (one, other)]
            if None not in places and places[0] != places[1]:
                found = Found(file, node.lineno, text)
        return found

    def _nodes(self) -> Iterator[tuple[str, ast.AST]]:
        for file, function in self._functions.values():
            yield from ((file, node) for node in ast.walk(function))

    def _function(self, line: CodeLine) -> _Function | None:
        if line.file not in self._trees:
            self._trees[line.file] = _parsed(line.file)
        tree = self._trees[line.file]
        if tree is None:
            return None
        around = [
            node
            for node in ast.walk(tree)
            if isinstance(node, _Function) and node.lineno <= line.line <= (node.end_lineno or node.lineno)
        ]
        return max(around, key=lambda node: node.lineno, default=None)


def text_of(line: CodeLine) -> str:
    """The source text of a line, "" if it cannot be read."""
    return linecache.getline(line.file, line.line).strip()


def _parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, SystemError):
        # SystemError: CPython 3.11's parser miscounts its depth if a warning runs code meanwhile. A report must not
        # fail for want of a guess.
        return None


def _mentions(functions: Iterable[tuple[str, _Function]], wanted: frozenset[str]) -> list[Found]:
    found = []
    for file, function in functions:
        calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
        called = {id(node) for each in calls for node in ast.walk(each)}
        found += [
            Found(file, node.lineno, ast.unparse(node), id(node) in called, function.name)
            for node in ast.walk(function)
            if isinstance(node, ast.Name | ast.Attribute) and _last(node) in wanted
        ]
    return sorted(found, key=lambda one: one.line)


def _last(function: ast.AST) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _span(body: list[ast.stmt] | ast.expr) -> range:
    nodes: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    if not nodes:
        return range(0)
    first, last = nodes[0], nodes[-1]
    assert isinstance(first, ast.stmt | ast.expr)
    assert isinstance(last, ast.stmt | ast.expr)
    return range(first.lineno, (last.end_lineno or last.lineno) + 1)

"""One module of the code that is checked: what it defines, and what its names stand for."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import ChainMap
from collections.abc import Iterator
from contextlib import suppress

from attrs import define, field, frozen

from flowpy.check.finding import Finding
from flowpy.check.names import BUILTINS, Function, Names, dotted, imported, within
from flowpy.rules import ignored

_FACES = ("flowpy.", "flowpy.declare.")
_ROOTS = frozenset({"workflow", "asynchronous"})
_DEEP = "nested too deeply to be read"
DECLARED = frozenset({"workflow", "asynchronous", "activity"})


@frozen(eq=False)
class Definition:
    """A function of a module.

    Attributes:
        source: The module.
        node: The function.
        owner: The class it is a method of, or None.
        outer: The functions it is defined in, outermost first.
    """

    source: Source
    node: Function = field(repr=False)
    owner: ast.ClassDef | None = field(default=None, repr=False)
    outer: tuple[Function, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Its name, after that of its class."""
        return f"{self.owner.name}.{self.node.name}" if self.owner is not None else self.node.name


@define(eq=False)
class Source:
    """A module.

    Attributes:
        path: Its file, as findings name it.
        name: Its dotted name.
        text: Its text.
        is_package: Whether it is the ``__init__`` of a package.
        tree: Its syntax tree; empty if the text has an error.
        error: The error in its text, or None.
        names: What its names stand for.
        functions: Its functions.
        classes: Its classes.
        variables: Its variables, with what was assigned first.
        stars: The modules that it imports everything from, in order.
    """

    path: str
    name: str
    text: str = field(repr=False)
    is_package: bool = False
    tree: ast.Module = field(init=False, repr=False)
    error: Finding | None = field(default=None, init=False)
    names: Names = field(init=False, repr=False)
    functions: dict[str, Function] = field(factory=dict, init=False, repr=False)
    classes: dict[str, ast.ClassDef] = field(factory=dict, init=False, repr=False)
    variables: dict[str, ast.expr] = field(factory=dict, init=False, repr=False)
    lines: list[str] = field(init=False, repr=False)
    stars: list[str] = field(factory=list, init=False, repr=False)
    _wrapped: set[str] = field(factory=set, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.lines = self.text.splitlines()
        try:
            self.tree = ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.tree = ast.Module([], [])
            line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
            self.error = Finding(self.path, line, column, "FLOW190", note=getattr(error, "msg", str(error)) or _DEEP)
        self.names = ChainMap({}, {}, BUILTINS)
        for node in within(self.tree):
            self._take(node)

    def learn(self, starred: dict[str, str], passed_on: dict[str, str]) -> None:
        """Take what only other modules tell: what star imports bind, and what imported decorators are."""
        self.names.maps[1].update(starred)
        self.names.maps[0].update(passed_on)
        for node in within(self.tree):
            self._take_wrapped(node)

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def _take(self, node: ast.AST) -> None:
        names = self.names.maps[0]
        for name, stands_for in imported(node, self.package):
            if name == "*":
                self.stars.insert(0, stands_for.removesuffix(".*"))  # they come last first
            else:
                names[name] = stands_for
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.functions[node.name] = node
            names[node.name] = f"{self.name}.{node.name}"
        elif isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
            names[node.name] = f"{self.name}.{node.name}"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    self.variables.setdefault(target.id, node.value)
                    names[target.id] = f"{self.name}.{target.id}"

    def _take_wrapped(self, node: ast.AST) -> None:
        """``order = workflow(version="1.0")(_order)``: the function is declared without an ``@``."""
        if isinstance(node, ast.Call) and self.declares(node.func) in _ROOTS:
            self._wrapped.update(each.id for each in node.args if isinstance(each, ast.Name))

    # --- what is declared -------------------------------------------------------------------

    def declares(self, decorator: ast.expr) -> str:
        """``"workflow"``, ``"activity"`` or ``"asynchronous"`` if a decorator is one of these, else ""."""
        while isinstance(decorator, ast.Call):
            decorator = decorator.func
        name = dotted(decorator, self.names)
        own = name.removeprefix(f"{self.name}.")
        if own in self.variables and own != name:
            # ``durable = workflow(version="2.0")``, used as ``@durable``.
            value = self.variables[own]
            return self.declares(value) if value is not decorator and isinstance(value, ast.Call) else ""
        last = name.rpartition(".")[2]
        return last if last in DECLARED and name.startswith(_FACES) else ""

    def kind_of(self, node: Function | ast.ClassDef) -> str:
        """What a function or class is declared as, or ""."""
        for decorator in node.decorator_list:
            if declared := self.declares(decorator):
                return declared
        return "workflow" if node.name in self._wrapped else ""

    def roots(self) -> Iterator[Definition]:
        """The functions with which workflow code begins."""
        if self.stars or any(name in self.text for name in _ROOTS):
            yield from self._roots_in(self.tree, ())

    def _roots_in(self, node: ast.AST, outer: tuple[Function, ...]) -> Iterator[Definition]:
        for each in within(node):
            if isinstance(each, ast.ClassDef):
                is_root = self.kind_of(each) in _ROOTS
                yield from self.methods(each, outer) if is_root else self._roots_in(each, outer)
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                if self.kind_of(each) in _ROOTS:
                    yield Definition(self, each, outer=outer)
                else:
                    yield from self._roots_in(each, (*outer, each))

    def methods(self, owner: ast.ClassDef, outer: tuple[Function, ...] = ()) -> Iterator[Definition]:
        """The methods of a class."""
        for node in owner.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and self.kind_of(node) != "activity":
                yield Definition(self, node, owner, outer)

    # --- comments ---------------------------------------------------------------------------

    def ignores(self, finding: Finding) -> bool:
        """Whether a comment on the line, or alone on the one above, asks not to report it, with a reason."""
        above = self.lines[finding.line - 2].strip() if finding.line >= 2 else ""
        for text in (self.lines[finding.line - 1], above if above.startswith("#") else ""):
            rules, reason = ignored(text)
            if finding.rule_id in rules and reason:
                return True
        return False

    def without_reason(self) -> Iterator[Finding]:
        """Comments that ask not to report something and do not say why."""
        if not any(rules and not reason for rules, reason in map(ignored, self.lines)):
            return
        # Text may hold such a line too; the tokens tell what is a comment.
        with suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                rules, reason = ignored(token.string) if token.type == tokenize.COMMENT else (frozenset(), "")
                if rules and not reason:
                    line, column = token.start
                    yield Finding(self.path, line, column + 1, "FLOW191", what=", ".join(sorted(rules)))

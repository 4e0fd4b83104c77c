"""What an expression gives, as far as its text tells: a set, a path, coroutines, an object of a class of the tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Final

from attrs import define, field

from flowpy.check.names import Names, arguments, dotted
from flowpy.check.project import Project, kind
from flowpy.check.source import Definition, Source


class Kind(Enum):
    """What an expression gives."""

    SET = auto()
    NUMBERS = auto()
    """A set of numbers: its order is the same in every process, but not on every Python."""
    PATH = auto()
    COROUTINES = auto()
    """A list, tuple or set of coroutines that nobody has made tasks of."""


Known = Kind | str | None
"""A kind, the dotted name of a class, or nothing known."""

SETS: Final = frozenset({Kind.SET, Kind.NUMBERS})
_SET_TYPES: Final = frozenset(
    {
        *(f"builtins.{name}" for name in ("set", "frozenset")),
        *(f"typing.{name}" for name in ("Set", "FrozenSet", "AbstractSet", "MutableSet")),
        *(f"collections.abc.{name}" for name in ("Set", "MutableSet")),
    }
)
_MAKES_SET: Final = frozenset({"builtins.set", "builtins.frozenset"})
_STAYS_SET: Final = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
_PATHS: Final = frozenset({"pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath"})
_STAYS_PATH: Final = frozenset({"joinpath", "with_name", "with_suffix", "with_stem", "absolute", "resolve", "parent"})
_NUMBERS: Final = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.complex"})
# Promises and tasks hash by the order in which they were made: sets of them iterate alike in every replay.
_PROMISES: Final = frozenset({"Promise", "ChildPromise", "Task", "Future"})
_MAKES_PROMISES: Final = frozenset({"create_task", "ensure_future", "shield", "sleep", "receive", "lambda_function"})


@define
class Kinds:
    """What the variables of a function hold at the place that is being read.

    Attributes:
        names: What names stand for there.
        variables: Kinds of local variables by their latest assignment, and of ``self.x``.
        unordered: Comprehensions whose order does not show: ``sorted(x for x in names)``.
    """

    source: Source
    project: Project
    names: Names
    variables: dict[str, Known] = field(factory=dict)
    unordered: set[ast.expr] = field(factory=set)

    def learn(self, definition: Definition) -> None:
        """Take what the parameters of a function, and the attributes of its class, are annotated as."""
        if definition.owner is not None:
            self.variables.update({f"self.{name}": known for name, known in self.attributes(definition.owner)})
        for argument in arguments(definition.node):
            if argument.annotation is not None:
                self.variables[argument.arg] = self.annotated(argument.annotation)

    def attributes(self, owner: ast.ClassDef) -> Iterator[tuple[str, Known]]:
        """The attributes of a class, as annotated in its body or first assigned in its methods."""
        for node in ast.walk(owner):
            if isinstance(node, ast.AnnAssign):
                if isinstance(node.target, ast.Name):
                    yield node.target.id, self.annotated(node.annotation)
                elif name := _own(node.target):
                    yield name, self.annotated(node.annotation)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and (name := _own(node.targets[0])):
                yield name, self.of(node.value)

    def annotated(self, annotation: ast.expr) -> Known:
        """What something annotated so is."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self.annotated(annotation.left) or self.annotated(annotation.right)
        base, inner = annotation, None
        if isinstance(annotation, ast.Subscript):
            base, inner = annotation.value, annotation.slice
        name = dotted(base, self.names)
        if name in _SET_TYPES:
            element = dotted(inner.value if isinstance(inner, ast.Subscript) else inner, self.names) if inner else ""
            if element.rpartition(".")[2] in _PROMISES:
                return None
            return Kind.NUMBERS if element in _NUMBERS else Kind.SET
        if name in _PATHS:
            return Kind.PATH
        found = self.project.find(name, self.source) if name else None
        return f"{found[0].name}.{found[1]}" if found is not None and found[1] in found[0].classes else None

    def of(self, node: ast.expr) -> Known:
        """What an expression gives."""
        if isinstance(node, ast.Set):
            return self._set(node.elts)
        if isinstance(node, ast.SetComp):
            return self._set([node.elt])
        if isinstance(node, ast.List | ast.Tuple):
            return Kind.COROUTINES if node.elts and all(self._is_coroutine(each) for each in node.elts) else None
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return Kind.COROUTINES if self._is_coroutine(node.elt) else None
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.IfExp):
            return self.of(node.body) or self.of(node.orelse)
        if isinstance(node, ast.NamedExpr | ast.Await):
            return self.of(node.value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        return None

    def assign(self, target: ast.expr, known: Known) -> None:
        """Remember what a variable holds from here on."""
        if isinstance(target, ast.Name):
            self.variables[target.id] = known
        elif isinstance(target, ast.Starred):
            self.assign(target.value, None)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.assign(each, None)

    # --- the kinds of expressions -----------------------------------------------------------

    def _set(self, elements: Iterable[ast.expr]) -> Known:
        elements = list(elements)
        if all(self._is_coroutine(each) for each in elements):
            return Kind.COROUTINES
        if all(self._is_promise(each) for each in elements):
            return None
        return Kind.NUMBERS if all(self._is_number(each) for each in elements) else Kind.SET

    def _call(self, node: ast.Call) -> Known:
        name = dotted(node.func, self.names)
        if name in _MAKES_SET:
            return self._set_of(node.args[0]) if node.args else Kind.SET
        if name in _PATHS or name in {"pathlib.Path.cwd", "pathlib.Path.home"}:
            return Kind.PATH
        if isinstance(node.func, ast.Attribute):
            of = self.of(node.func.value)
            if (of in SETS and node.func.attr in _STAYS_SET) or (of is Kind.PATH and node.func.attr in _STAYS_PATH):
                return of
        found = self.project.find(name, self.source) if name else None
        if found is None:
            return None
        source, rest = found
        if rest in source.classes:
            return f"{source.name}.{rest}"
        function = source.functions.get(rest)
        if function is None or function.returns is None or source.kind_of(function):
            return None
        return Kinds(source, self.project, source.names).annotated(function.returns)

    def _set_of(self, given: ast.expr) -> Known:
        """What ``set(...)`` of something gives."""
        known = self.of(given)
        if known in SETS or known is Kind.COROUTINES:
            return known
        if isinstance(given, ast.List | ast.Tuple):
            return self._set(given.elts) if given.elts else Kind.SET
        if isinstance(given, ast.ListComp | ast.GeneratorExp):
            return self._set([given.elt])
        is_range = isinstance(given, ast.Call) and dotted(given.func, self.names) == "builtins.range"
        return Kind.NUMBERS if is_range else Kind.SET

    def _operation(self, node: ast.BinOp) -> Known:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Div):
            return Kind.PATH if Kind.PATH in {left, right} else None
        if isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
            if Kind.SET in {left, right} or _is_keys(node.left) or _is_keys(node.right):
                return Kind.SET
            return Kind.NUMBERS if Kind.NUMBERS in {left, right} else None
        return None

    def _name(self, node: ast.Name) -> Known:
        if node.id in self.variables:
            return self.variables[node.id]
        name = self.names.get(node.id, "")
        found = self.project.find(name, self.source) if name else None
        if found is None or found[1] not in found[0].variables:
            return None
        return Kinds(found[0], self.project, found[0].names).of(found[0].variables[found[1]])

    def _attribute(self, node: ast.Attribute) -> Known:
        if _own(node):
            return self.variables.get(f"self.{node.attr}")
        of = self.of(node.value)
        if of is Kind.PATH:
            return Kind.PATH if node.attr in _STAYS_PATH else None
        found = self.project.find(of, self.source) if isinstance(of, str) else None
        if found is None or found[1] not in found[0].classes:
            return None
        kinds = Kinds(found[0], self.project, found[0].names)
        return dict(kinds.attributes(found[0].classes[found[1]])).get(node.attr)

    # --- elements ---------------------------------------------------------------------------

    def _is_coroutine(self, node: ast.expr) -> bool:
        name = dotted(node.func, self.names) if isinstance(node, ast.Call) else ""
        return bool(name) and self.project.is_coroutine(name, self.source)

    def _is_promise(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MAKES_PROMISES:
            return True
        name = dotted(node.func, self.names)
        found = self.project.function(name, self.source) if name else None
        return name.rpartition(".")[2] in _MAKES_PROMISES or (found is not None and bool(kind(found)))

    def _is_number(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp):
            return self._is_number(node.operand)
        if isinstance(node, ast.Call):
            return dotted(node.func, self.names) in {*_NUMBERS, "builtins.len", "builtins.round", "builtins.ord"}
        return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _own(node: ast.expr) -> str:
    """``x`` of ``self.x``, "" of anything else."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own and isinstance(node, ast.Attribute) else ""


def _is_keys(node: ast.expr) -> bool:
    """Whether it is ``x.keys()`` or ``x.items()``, whose set operations give sets."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"keys", "items"}

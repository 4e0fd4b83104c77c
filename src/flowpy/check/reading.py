"""Reading one function of workflow code, in the order of its lines: what breaks a rule, and what it leads to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from attrs import define, field

from flowpy.check import flow, order, state
from flowpy.check.finding import Finding
from flowpy.check.kinds import Kind, Kinds
from flowpy.check.names import Function, Names, dotted, local_names
from flowpy.check.project import Project
from flowpy.check.source import Definition
from flowpy.rules import COMPUTES_BEYOND, PATH_METHODS, Rule, rule_of

_RUN_ONCE = frozenset({"flowpy.side_effect", "flowpy.runtime.recording.side_effect"})
_ONLY_NAMES = frozenset({"builtins.isinstance", "builtins.issubclass", "typing.cast"})
_NO_CALLS = ("Error", "Exception", "Expired", "Warning", ".timeout")
_METHODS = {
    "run_in_executor": "FLOW110",
    "run_until_complete": "FLOW123",
    "run_forever": "FLOW123",
}


@define
class Reader:
    """Reads a function.

    Attributes:
        definition: The function.
        project: The tree.
        findings: What breaks a rule.
        used: Dotted names of what it uses, with whether it calls it, in order.
        attributes: Names of all attributes it looks at: methods that it may call.
    """

    definition: Definition
    project: Project
    findings: list[Finding] = field(factory=list, init=False)
    used: dict[tuple[str, bool], None] = field(factory=dict, init=False)
    attributes: dict[str, None] = field(factory=dict, init=False)
    names: Names = field(init=False)
    kinds: Kinds = field(init=False)

    def __attrs_post_init__(self) -> None:
        source = self.definition.source
        self.names = source.names
        self.kinds = Kinds(source, self.project, self.names)

    def read(self) -> None:
        """Read the function's body."""
        self.kinds.learn(self.definition)
        for each in self.kinds.variables.values():
            if isinstance(each, str):
                self.used.setdefault((each, False))
        with ExitStack() as scopes:
            for function in (*self.definition.outer, self.definition.node):
                scopes.enter_context(self._inside(function))
            for statement in self.definition.node.body:
                self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        """Read a part of it."""
        read = self._read.get(type(node))
        if read is not None:
            read(self, node)
        else:
            self._inner(node)

    def _inner(self, node: ast.AST) -> None:
        for each in ast.iter_child_nodes(node):
            self.visit(each)

    def read_defaults(self, owner: ast.ClassDef) -> None:
        """Read what a class does for each of its objects outside of its methods: ``default_factory`` and the like."""
        for node in owner.body:
            if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Call):
                for keyword in node.value.keywords:
                    if keyword.arg in {"default_factory", "factory"}:
                        self.visit(keyword.value)

    def report(self, node: ast.AST, rule_id: str, what: str = "", note: str = "", severity: str = "error") -> None:
        """Note a finding."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        source = self.definition.source
        # Python counts bytes of UTF-8.
        column = len(source.lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1 if source.lines else 1
        self.findings.append(Finding(source.path, line, column, rule_id, what, self.definition.name, note, severity))

    @contextmanager
    def _inside(self, function: Function | ast.Lambda) -> Iterator[None]:
        outer = self.names
        self.names = self.kinds.names = outer.new_child(local_names(function, self.definition.source.package))
        try:
            yield
        finally:
            self.names = self.kinds.names = outer

    # --- names and calls --------------------------------------------------------------------

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(node, dotted(node, self.names))

    def _attribute(self, node: ast.Attribute) -> None:
        self.attributes[node.attr] = None
        name = dotted(node, self.names)
        if not name:
            self.visit(node.value)
        elif isinstance(node.ctx, ast.Load):
            self._use(node, name)

    def _call(self, node: ast.Call) -> None:
        name = dotted(node.func, self.names)
        if name in _RUN_ONCE:
            return
        if name:
            self._use(node.func, name, node)
        else:
            self.visit(node.func)
        self._method(node)
        order.of_call(self, node, name)
        flow.of_call(self, node, name)
        state.of_call(self, node)
        if name in _ONLY_NAMES:
            return
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(each)

    def _use(self, node: ast.expr, name: str, call: ast.Call | None = None) -> None:
        """Something is called, or handed on to be called."""
        if not name:
            return
        rule = rule_of(name)
        if rule is None:
            name = self.project.resolve(name, self.definition.source)[1]
            rule = rule_of(name)
        if rule is None and name == "random.Random" and call is not None and _given(call) == 0:
            rule = rule_of("random.random")
        if rule is None:
            self.used.setdefault((name, call is not None))
            if isinstance(node, ast.Attribute):
                self.attributes[node.attr] = None
        elif _breaks(rule, name, call):
            self.report(node, rule.id, name.removeprefix("builtins."), severity=rule.severity)

    def _method(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Attribute):
            return
        method = node.func.attr
        if method in _METHODS:
            self.report(node, _METHODS[method], f"loop.{method}")
        elif method in PATH_METHODS and self.kinds.of(node.func.value) is Kind.PATH:
            self.report(node, "FLOW107", f"Path.{method}")

    # --- statements -------------------------------------------------------------------------

    def _nested(self, node: Function) -> None:
        if self.definition.source.kind_of(node) == "activity":
            return
        for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)):
            self.visit(default)
        with self._inside(node):
            self.kinds.learn(Definition(self.definition.source, node))
            for statement in node.body:
                self.visit(statement)

    def _lambda(self, node: ast.Lambda) -> None:
        with self._inside(node):
            self.visit(node.body)

    def _assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        known = self.kinds.of(node.value)
        for target in node.targets:
            order.of_unpacking(self, target, known)
            state.of_target(self, target)
            self.visit(target)
            self.kinds.assign(target, known)

    def _annotated_assign(self, node: ast.AnnAssign) -> None:
        known = self.kinds.annotated(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            known = known or self.kinds.of(node.value)
        state.of_target(self, node.target)
        self.kinds.assign(node.target, known)

    def _augmented_assign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        state.of_target(self, node.target)
        self.visit(node.target)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            state.of_target(self, target)

    def _global(self, node: ast.Global) -> None:
        state.of_global(self, node)

    def _for(self, node: ast.For) -> None:
        order.of_iteration(self, node.iter, node)
        self.visit(node.iter)
        self.kinds.assign(node.target, None)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def _try(self, node: ast.Try) -> None:
        flow.of_try(self, node)
        self._visit_try(node)

    def _try_star(self, node: ast.TryStar) -> None:
        self._visit_try(node)

    def _visit_try(self, node: ast.Try | ast.TryStar) -> None:
        # What it catches are classes, not calls.
        handled = [statement for handler in node.handlers for statement in handler.body]
        for statement in (*node.body, *handled, *node.orelse, *node.finalbody):
            self.visit(statement)

    # --- the order of sets ------------------------------------------------------------------

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> None:
        order.of_comprehension(self, node)
        self._inner(node)

    def _unpacked(self, node: ast.Starred | ast.YieldFrom) -> None:
        order.of_iteration(self, node.value, node)
        self.visit(node.value)

    def _formatted(self, node: ast.FormattedValue) -> None:
        order.of_iteration(self, node.value, node)
        self._inner(node)

    _read: ClassVar[dict[type[ast.AST], Callable[[Any, Any], None]]] = {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.FunctionDef: _nested,
        ast.AsyncFunctionDef: _nested,
        ast.Lambda: _lambda,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated_assign,
        ast.AugAssign: _augmented_assign,
        ast.Delete: _delete,
        ast.Global: _global,
        ast.For: _for,
        ast.Try: _try,
        ast.TryStar: _try_star,
        ast.ListComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _comprehension,
        ast.Starred: _unpacked,
        ast.YieldFrom: _unpacked,
        ast.FormattedValue: _formatted,
    }
    """How each kind of node is read; of all others only what they are made of."""


def _given(call: ast.Call) -> int:
    """How many arguments a call gives that are not None; many if that is unknown."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return 99
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return len([each for each in given if not (isinstance(each, ast.Constant) and each.value is None)])


def _breaks(rule: Rule, name: str, call: ast.Call | None) -> bool:
    """Whether a name that a rule is about breaks it here: constants, errors and classes that are only named do not."""
    if name.endswith(_NO_CALLS):
        return False
    if call is None:
        # `os.environ` itself and functions handed on; not `subprocess.PIPE`, nor a class.
        return name.rpartition(".")[2].islower() or name in rule.calls
    return name not in COMPUTES_BEYOND or _given(call) <= COMPUTES_BEYOND[name]

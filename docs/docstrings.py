"""Docstrings as the reference shows them: a Sphinx extension that mends what autodoc and napoleon make of ours."""

from __future__ import annotations

import re
import sys
from typing import Any

import attrs
from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer

DEFAULT = re.compile(r"attr_dict\['(\w+)'\]\.default")
MADE = re.compile(r"(\w+)(: [^=]+) = NOTHING")
VARIABLE = re.compile(r"~typing\.~")
TYPE = re.compile(r"^:type: (.+)$")


def _signature(_: Any, what: str, _name: str, shown: Any, _options: Any, signature: str | None, returned: Any) -> Any:
    """Defaults of attrs classes as values, parameter lists by letter; no call of a protocol, which nobody makes."""
    if what == "class" and getattr(shown, "_is_protocol", False):
        return "", returned
    if signature and what in {"class", "exception"} and attrs.has(shown):
        fields = attrs.fields(shown)
        defaults = {name: field.default for field in fields for name in (field.name, field.alias)}
        signature = DEFAULT.sub(lambda found: _value(defaults[found[1]]), signature)
        signature = MADE.sub(lambda found: f"{found[1]}{found[2]} = {_value(defaults[found[1]])}", signature)
    return signature and VARIABLE.sub("", signature), returned and VARIABLE.sub("", returned)


def _value(default: Any) -> str:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        made = getattr(default.factory, "__name__", "<lambda>")
        # A signature that is no Python is shown as it is, with all that should have been made readable.
        return {"list": "[]", "dict": "{}", "<lambda>": "..."}.get(made, f"{made}()")
    return getattr(default, "__name__", None) or repr(default)


def _bases(_: Any, _name: str, _shown: Any, _options: Any, bases: list[Any]) -> None:
    """Without those that are private: what they are is told by the public ones."""
    bases[:] = [base for base in bases if not getattr(base, "__name__", "").startswith("_")] or bases


def _constant(_: Any, what: str, name: str, shown: Any, _options: Any, lines: list[str]) -> None:
    """What stands below a constant where it is defined; its type's docstring says nothing of it."""
    package, _, attribute = name.rpartition(".")
    if what != "data" or lines[:1] != (type(shown).__doc__ or "").splitlines()[:1]:
        return
    for module in sorted(each for each in sys.modules if each.startswith(package.partition(".")[0])):
        if getattr(sys.modules[module], attribute, None) is shown:
            try:
                told = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", attribute))
            except PycodeError:
                continue
            if told:
                lines[:] = told
                return


def _sentence(_: Any, what: str, _name: str, _shown: Any, _options: Any, lines: list[str]) -> None:
    """A sentence with a colon is one: napoleon takes what stands before it for a type."""
    if what in {"attribute", "data", "property"}:
        for number, line in enumerate(lines):
            if found := TYPE.match(line):
                lines[:] = [f"{found[1]}: {lines[0]}", *lines[1:number], *lines[number + 1 :]]
                return


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-bases", _bases)
    app.connect("autodoc-process-docstring", _constant, priority=400)  # before napoleon, which has 500
    app.connect("autodoc-process-docstring", _sentence, priority=600)

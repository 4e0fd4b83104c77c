"""Which functions are forbidden, as the objects that Python calls: built-in ones, and the code of the others."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from random import Random
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any, Final

from attrs import define, field

from flowpy.rules import COMPUTES_BEYOND, RULES, Rule

Called = Callable[[Rule, str, FrameType], None]
"""Called with the rule, the name of what was called, and the frame that called it."""

_LOOKED_AT: Final = [f"FLOW1{number:02}" for number in range(1, 13)]
_CODES: Final = (
    ("FLOW110", "concurrent.futures.thread", "ThreadPoolExecutor.submit"),
    ("FLOW110", "concurrent.futures.process", "ProcessPoolExecutor.submit"),
    ("FLOW110", "multiprocessing.process", "BaseProcess.start"),
    ("FLOW106", "os", "_Environ.__getitem__"),
    ("FLOW106", "os", "_Environ.__setitem__"),
    ("FLOW106", "os", "_Environ.__delitem__"),
    ("FLOW106", "os", "_Environ.__iter__"),
    ("FLOW103", "random", "Random.__init__"),
)

_CLOCKS: Final = frozenset({"now", "utcnow", "today"})


@define
class Forbidden:
    """The functions that are forbidden, of the modules that are loaded.

    Attributes:
        called: Told of each call.
        builtins: Built-in functions and methods, each with its rule and name.
        codes: Code objects of functions written in Python, by ``id``, each with its rule and name.
        code_names: Their names, a first sieve.
    """

    called: Called
    builtins: dict[Any, tuple[Rule, str]] = field(factory=dict, init=False)
    codes: dict[int, tuple[CodeType, Rule, str]] = field(factory=dict, init=False)
    code_names: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        for rule, name, function in _functions():
            if isinstance(function, BuiltinFunctionType):
                self.builtins.setdefault(function, (rule, name))
            elif isinstance(function, FunctionType):
                self.codes.setdefault(id(function.__code__), (function.__code__, rule, name))
        self.code_names = frozenset(code.co_name for code, _, _ in self.codes.values())

    def builtin(self, function: Any, frame: FrameType, offset: int) -> None:
        """A built-in function was called by a frame, with the instruction at an offset of its code."""
        known = self.builtins.get(function)
        if known is None:
            if function.__name__ in _CLOCKS and _is_date(function.__self__):
                self.called(RULES["FLOW101"], f"{function.__self__.__name__}.{function.__name__}", frame)
            return
        rule, name = known
        optional = COMPUTES_BEYOND.get(name)
        if optional is None or _arguments(frame.f_code, offset) <= optional:
            self.called(rule, name, frame)

    def started(self, frame: FrameType) -> None:
        """A function written in Python begins."""
        known = self.codes.get(id(frame.f_code))
        if known is None or frame.f_back is None:
            return
        _, rule, name = known
        if name == "random.Random" and frame.f_locals.get("x") is not None:
            return
        self.called(rule, name, frame.f_back)


def _functions() -> Iterator[tuple[Rule, str, Any]]:
    for id in _LOOKED_AT:
        for name in RULES[id].calls:
            module, _, attribute = name.rpartition(".")
            if (function := _find(module, attribute)) is not None:
                yield RULES[id], name, function
    for id, module, path in _CODES:
        if (function := _find(module, path)) is not None:
            name = path.replace("_Environ.__getitem__", "environ").replace("_Environ", "environ")
            yield RULES[id], f"{module}.{name.removesuffix('.__init__')}", function
    # The functions of the module random are methods of one generator, and end in one of these three.
    one = _find("random", "_inst")
    for method in (one.random, one.getrandbits, super(Random, one).seed) if one is not None else ():
        yield RULES["FLOW103"], f"random.{method.__name__}", method


def _find(module: str, path: str) -> Any:
    """A function of a module that is loaded; nothing is imported, for what is not loaded cannot be called."""
    names = path.split(".")
    while module and module not in sys.modules:
        module, _, last = module.rpartition(".")
        names.insert(0, last)
    found: Any = sys.modules.get(module)
    for name in names:
        found = getattr(found, name, None)
    return getattr(found, "__func__", found)


def _is_date(owner: Any) -> bool:
    from datetime import date

    return isinstance(owner, type) and issubclass(owner, date)


def _arguments(code: CodeType, offset: int) -> int:
    """How many arguments a call instruction gives; none are taken to be many if it is not a plain call."""
    bytecode = code.co_code
    return bytecode[offset + 1] if dis.opname[bytecode[offset]] in {"CALL", "PRECALL", "CALL_KW"} else 99

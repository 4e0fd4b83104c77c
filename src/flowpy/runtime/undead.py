"""Code that refuses to die: kept for ever, since collecting it would run it once more (law L10)."""

from __future__ import annotations

import ctypes
from typing import Any, Final

TRIES: Final = 100
"""How often suspended code is asked to end before it is given up."""

REFUSED_CALLS: Final = 100
"""Calls that code of a run that left memory may have refused. Code that swallows every error and calls again would
never come to an await, where it can be given up: beyond these a call gives a promise that is never ready."""

undead: Final[list[Any]] = []
"""Coroutines and greenlets that did not end, for introspection."""


def keep(suspended: Any) -> None:
    """Never let a coroutine or greenlet be collected, not even as the interpreter exits.

    A list alone would not do: at exit CPython clears it, which closes what is suspended in it, and code that swallows
    GeneratorExit and calls again would keep the process from ending.
    """
    undead.append(suspended)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(suspended))

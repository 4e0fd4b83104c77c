"""Which workflow wrote which history: NAME of ``histories/NAME.json`` to a function that declares it.

Every case declares its activities anew, because several cases use one name with different options.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

_MODULES = ("replay", "determinism", "cancel", "signals", "children", "activities", "versioning")

_declared: dict[str, Callable[[], Any]] = {}


def case(declare: Callable[[], Any]) -> Callable[[], Any]:
    """Registers ``declare``, which returns the workflow of the history named like it."""
    assert declare.__name__ not in _declared, declare.__name__
    _declared[declare.__name__] = declare
    return declare


@cache
def workflow_of(name: str) -> Any:
    """The workflow that wrote ``histories/<name>.json``."""
    return cases()[name]()


@cache
def cases() -> dict[str, Callable[[], Any]]:
    """All cases by name."""
    for module in _MODULES:
        import_module(f".{module}_workflows", __package__)
    return _declared

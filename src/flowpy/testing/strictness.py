"""What strict mode adds while workflow code runs: the one place where it is switched on."""

from __future__ import annotations

from contextlib import AbstractContextManager

from flowpy.runtime.guard import Guard

__all__ = ["watched"]


def watched() -> AbstractContextManager[object]:
    """The context in which strict mode runs workflow code: the guard names every call that no replay can repeat."""
    return Guard()

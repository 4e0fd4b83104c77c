"""What strict mode adds while workflow code runs: the one place where it is switched on."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

__all__ = ["watched"]


def watched() -> AbstractContextManager[None]:
    """The context in which strict mode runs workflow code."""
    return nullcontext()

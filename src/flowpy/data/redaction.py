"""Whether messages show values: a worker whose payloads are secret must not write them into its log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["hidden", "hiding", "shown"]

hidden: ContextVar[bool] = ContextVar("flowpy_hidden", default=False)
"""True where values are left out of messages."""


@contextmanager
def hiding(hide: bool) -> Iterator[None]:
    """Leave values out of the messages that are made inside.

    Args:
        hide: False leaves things as they are.
    """
    before = hidden.set(hide or hidden.get())
    try:
        yield
    finally:
        hidden.reset(before)


def shown(text: str) -> str:
    """Give text made of a value, or what stands for it where values are hidden."""
    return f"<{len(text):,} characters, not shown>" if hidden.get() else text

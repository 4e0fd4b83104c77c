"""What tests give: that it is of the kind that is meant, told at the call and not by what stumbles over it later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from flowpy.errors import DeclarationError

__all__ = ["number", "of_kind", "several"]

T = TypeVar("T")


def of_kind(value: Any, kind: type[T], where: str, remedy: str) -> T:
    """A value of a class.

    Args:
        value: What was given.
        kind: The class.
        where: What it was given as, for the message.
        remedy: What to give.

    Raises:
        DeclarationError: It is of none.
    """
    if not isinstance(value, kind):
        raise DeclarationError(f"{where}: {value!r} is no {kind.__name__}", remedy=remedy)
    return value


def number(value: Any, where: str, what: str, least: int | None = 1) -> int:
    """A whole number.

    Args:
        value: What was given.
        where: What it was given as, for the message.
        what: What it is, such as ``"number of calls"``.
        least: The smallest that is one; None: any.

    Raises:
        DeclarationError: It is none, or too small.
    """
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise DeclarationError(f"{where}={value!r} is no {what}", remedy=f"give a whole number{bound}")
    return value


def several(values: Any, where: str, remedy: str, what: str = "list") -> list[Any]:
    """Values of a list, or of anything else that has some; text has characters, which nobody means.

    Args:
        values: What was given.
        where: What it was given as, for the message.
        remedy: What to give.
        what: What they are, such as ``"list of details"``.

    Raises:
        DeclarationError: It is no such thing.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DeclarationError(f"{where}: {values!r} is no {what}", remedy=remedy)
    return list(values)

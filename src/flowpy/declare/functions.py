"""What every declaration has in common: a function that can be declared at all, and its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from flowpy.declare.declared import Declared
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError
from flowpy.words import an

__all__ = ["declarable", "default_name", "is_async", "locating", "refuse_self"]

_SELF_NAMES: Final = ("self", "cls")


def declarable(fn: Any, decorator: str) -> Callable[..., Any]:
    """Returns the function to declare.

    Args:
        fn: What the decorator was put on; a ``staticmethod`` is unwrapped.
        decorator: The decorator, such as ``"@activity"``, for messages.

    Raises:
        DeclarationError: If it is a class, a generator, declared already or no function at all.
    """
    if isinstance(fn, staticmethod):
        fn = fn.__func__
    where = f"{decorator} {getattr(fn, '__qualname__', repr(fn))}"
    if isinstance(fn, Declared):
        raise DeclarationError(
            f"{where}: it is declared with {fn.decorator} already", remedy="keep one of the two decorators"
        )
    if isinstance(fn, classmethod | property):
        raise DeclarationError(
            f"{where}: {an(type(fn).__name__)} cannot be declared", remedy="use a function or a @staticmethod"
        )
    if inspect.isclass(fn):
        raise DeclarationError(
            f"{where}: a class cannot be declared so", remedy="decorate one of its functions instead"
        )
    if not callable(fn):
        raise DeclarationError(f"{where}: {decorator} goes on a function; options are given by name: {decorator}(...)")
    if inspect.isasyncgenfunction(fn):
        raise DeclarationError(
            f"{where}: an async generator has no result to record", remedy="collect the values in a list and return it"
        )
    if inspect.isgeneratorfunction(fn):
        raise DeclarationError(
            f"{where}: a generator has no result to record",
            remedy="collect the values in a list and return it (instead of yield, await promises in an async def)",
        )
    return fn  # type: ignore[no-any-return]


def refuse_self(fn: Callable[..., Any], signature: Signature, decorator: str) -> None:
    """Refuses a method that needs an object, which no other process has.

    Args:
        fn: The function to declare.
        signature: Its signature.
        decorator: The decorator, for messages.

    Raises:
        DeclarationError: If its first parameter is ``self`` or ``cls``.
    """
    first = next((parameter.name for parameter in signature.positional), None)
    if first in _SELF_NAMES:
        raise DeclarationError(
            f"{decorator} {getattr(fn, '__qualname__', fn)}: a method needs its object, which the process that runs "
            f"it does not have",
            remedy=f"drop {first} and put @staticmethod above {decorator}, or declare a bound method: "
            f"{decorator.lstrip('@')}(thing.{getattr(fn, '__name__', 'method')})",
        )


def default_name(fn: Callable[..., Any], decorator: str) -> str:
    """Returns the name a function or class is known by: its qualified name within its module or function.

    Args:
        fn: The function or class.
        decorator: The decorator, for messages.

    Raises:
        DeclarationError: If it has none, like a lambda or ``functools.partial``.
    """
    name = str(getattr(fn, "__qualname__", "")).rpartition("<locals>.")[2]
    if not name or "<lambda>" in name:
        raise DeclarationError(
            f"{decorator} {fn!r}: it has no name of its own", remedy=f"give one: {decorator}(name=...)"
        )
    return name


def is_async(fn: Callable[..., Any]) -> bool:
    """Returns whether calling a function gives a coroutine; callable objects included.

    Args:
        fn: The function.
    """
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(type(fn).__call__)


@contextmanager
def locating(where: str) -> Iterator[None]:
    """Puts the place in front of what a declaration error says.

    Args:
        where: What is declared, such as ``"@activity charge"``.
    """
    try:
        yield
    except DeclarationError as error:
        raise type(error)(f"{where}: {error.what}", remedy=error.remedy) from None

"""``@execute``, ``@signal`` and ``@query``: what the methods of a workflow class are for.

The markers leave the method as it is, so that a class can be tested without a run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

from attrs import field, frozen

from flowpy.declare.functions import declarable, is_async, locating
from flowpy.declare.names import check_signal_name
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError

__all__ = ["Handlers", "execute", "query", "signal"]

F = TypeVar("F", bound=Callable[..., Any])

_MARK: Final = "__flowpy_marker__"
_EXECUTE: Final = "execute"
_SIGNAL: Final = "signal"
_QUERY: Final = "query"


@frozen
class _Marker:
    """What a method was marked as, and the name it answers to."""

    role: str
    name: str


@frozen
class Handlers:
    """The marked methods of a workflow class, those of its bases included.

    Attributes:
        execute: Attribute of the method that is the workflow.
        signals: Signal name to attribute.
        queries: Query name to attribute.
        signatures: Attribute to signature, without ``self``, of all of these methods.
    """

    execute: str
    signals: dict[str, str] = field(factory=dict)
    queries: dict[str, str] = field(factory=dict)
    signatures: dict[str, Signature] = field(factory=dict)

    @classmethod
    def of(cls, owner: type, where: str) -> Handlers:
        """Collects the marked methods of a class.

        Args:
            owner: The class.
            where: What is declared, such as ``"@workflow Order"``; begins the messages.

        Raises:
            DeclarationError: If there is not exactly one ``@execute``, or two methods answer to one name.
        """
        marked = _marked(owner)
        found = [attribute for attribute, marker in marked.items() if marker.role == _EXECUTE]
        if len(found) != 1:
            raise DeclarationError(
                f"{where}: a workflow class needs exactly one @execute method, the one that runs; it has "
                + (", ".join(found) or "none"),
                remedy="unmark all but one" if found else "put @execute on it",
            )
        return cls(
            found[0],
            _by_name(marked, _SIGNAL, where),
            _by_name(marked, _QUERY, where),
            {attribute: Signature.of(getattr(owner, attribute), skip_first=True) for attribute in marked},
        )


def execute(fn: F, /) -> F:
    """Marks the one method of a workflow class that is the workflow itself.

    Args:
        fn: The method, ``async def`` or plain ``def``.

    Raises:
        DeclarationError: If it is a generator or no function.
    """
    _mark(fn, _EXECUTE, None)
    return fn


@overload
def signal(fn: F, /) -> F: ...


@overload
def signal(name: str | None = None, /) -> Callable[[F], F]: ...


@overload
def signal(*, name: str | None = None) -> Callable[[F], F]: ...


def signal(fn: Any = None, /, *, name: str | None = None) -> Any:
    """Marks a method of a workflow class as the handler of a signal.

    Args:
        fn: The method, which takes the signal's value or nothing; or the signal's name.
        name: Name of the signal; default the method's.

    Raises:
        DeclarationError: If the method takes more than one value, or the name is refused.
    """
    return _marking(fn, name, _SIGNAL)


@overload
def query(fn: F, /) -> F: ...


@overload
def query(name: str | None = None, /) -> Callable[[F], F]: ...


@overload
def query(*, name: str | None = None) -> Callable[[F], F]: ...


def query(fn: Any = None, /, *, name: str | None = None) -> Any:
    """Marks a method of a workflow class as a query: it reads the object's state and returns a value.

    Args:
        fn: The method, a plain ``def``; or the query's name.
        name: Name of the query; default the method's.

    Raises:
        DeclarationError: If the method is ``async``: a query cannot wait.
    """
    return _marking(fn, name, _QUERY)


def _marking(fn: Any, name: str | None, role: str) -> Any:
    """Marks at once, or returns the decorator that will."""
    if fn is None or isinstance(fn, str):
        known_as = name if fn is None else fn
        return lambda method: _mark(method, role, known_as)
    return _mark(fn, role, name)


def _mark(fn: Any, role: str, name: str | None) -> Any:
    """Checks a method and writes on it what it is for."""
    where = f"@{role} {getattr(fn, '__qualname__', repr(fn))}"
    method = declarable(fn, f"@{role}")
    if isinstance(marker := getattr(method, _MARK, None), _Marker):
        raise DeclarationError(f"{where}: it is marked @{marker.role} already; a method has one role and one name")
    if isinstance(fn, staticmethod) or not inspect.isfunction(method):
        raise DeclarationError(f"{where}: goes on a method that takes self")
    signature = Signature.of(method, skip_first=True)
    with locating(where):
        signature.refuse_variadic()
    if role == _QUERY and is_async(method):
        raise DeclarationError(f"{where}: a query cannot wait, it only reads", remedy="make it a plain def")
    if role == _SIGNAL and signature.needs > 1:
        raise DeclarationError(
            f"{where}: a signal carries one value, the method needs {signature.needs}",
            remedy="take one dataclass or dict",
        )
    known_as = check_signal_name(method.__name__ if name is None else name, where)
    setattr(method, _MARK, _Marker(role, known_as))
    return fn


def _marked(owner: type) -> dict[str, _Marker]:
    """Attribute to marker; a method that overrides a marked one is marked too, unless it says otherwise."""
    marked: dict[str, _Marker] = {}
    for base in reversed(owner.__mro__):
        for attribute, value in vars(base).items():
            if isinstance(marker := getattr(value, _MARK, None), _Marker):
                marked[attribute] = marker
            elif attribute in marked and not inspect.isfunction(value):
                del marked[attribute]
    return marked


def _by_name(marked: dict[str, _Marker], role: str, where: str) -> dict[str, str]:
    """Name to attribute of one role."""
    named: dict[str, str] = {}
    for attribute, marker in marked.items():
        if marker.role != role:
            continue
        if marker.name in named:
            raise DeclarationError(
                f"{where}: {named[marker.name]} and {attribute} both answer {role} {marker.name!r}", remedy="rename one"
            )
        named[marker.name] = attribute
    return named

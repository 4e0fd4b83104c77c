"""The value that interceptors are given in, and the order in which they stand around each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from attrs import fields, frozen

from flowpy.errors import DeclarationError
from flowpy.interceptors.calls import ActivityCall, ClientCall, DecisionCall, WorkflowCall

__all__ = ["Around", "Interceptor", "Proceed", "chosen", "is_async", "nested"]

C = TypeVar("C")

Proceed = Callable[[C], Any]
"""Goes on with a call, the same or another one made of it (``attrs.evolve``), and gives what that gives."""

Around = Callable[[C, Proceed[C]], Any]
"""Stands around a call: what it returns or raises takes the place of what ``proceed(call)`` gives."""

_PLAIN_ONLY = ("decision", "client")


def is_async(around: Callable[..., Any]) -> bool:
    """Whether an interceptor is to be awaited."""
    return iscoroutinefunction(around) or iscoroutinefunction(getattr(around, "__call__", None))  # noqa: B004


@frozen(kw_only=True, repr=False)
class Interceptor:
    """Plain functions around calls, each taking the call and ``proceed``; give those that are wanted.

    ``def`` and ``async def`` both stand around ``def`` and ``async def`` workflows and activities: in the one
    ``proceed(call)`` gives the outcome, in the other ``await proceed(call)`` does.

    Args:
        workflow: Around the workflow's function. It is workflow code: it runs again in every replay, and must decide
            the same each time.
        activity: Around the activity's function, where that runs.
        decision: Around the deciding of a decision task; ``def`` only. It must not change what is decided.
        client: Around operations that a ``Client`` calls, retries included; ``def`` only.

    Raises:
        DeclarationError: None is given, one cannot be called, or one is ``async def`` that must not be.
    """

    workflow: Around[WorkflowCall] | None = None
    activity: Around[ActivityCall] | None = None
    decision: Around[DecisionCall] | None = None
    client: Around[ClientCall] | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse what could not be called when it is too late to say so."""
        given = self._given()
        if not given:
            raise DeclarationError(
                "Interceptor: it stands around nothing",
                remedy="give workflow=, activity=, decision= or client=, a function each",
            )
        for kind, around in given.items():
            if not callable(around):
                raise DeclarationError(f"Interceptor: {kind}={around!r} cannot be called")
            if kind in _PLAIN_ONLY and is_async(around):
                raise DeclarationError(f"Interceptor: {kind}={_name(around)} is async def: nothing awaits it there")

    def __repr__(self) -> str:
        return f"<Interceptor {' '.join(f'{kind}={_name(around)}' for kind, around in self._given().items())}>"

    def _given(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(Interceptor)}
        return {kind: around for kind, around in values.items() if around is not None}


def _name(around: Any) -> str:
    return getattr(around, "__qualname__", None) or repr(around)


def chosen(interceptors: Iterable[Interceptor], where: str, *kinds: str, strict: bool = True) -> tuple[list[Any], ...]:
    """The functions of each kind, outermost first.

    Args:
        interceptors: As they were given.
        where: To whom, for messages.
        *kinds: Which kinds are of use there.
        strict: Refuse one that is of no use there.

    Raises:
        DeclarationError: One is no interceptor, or (if strict) has nothing of these kinds.
    """
    given: list[Any] = list(interceptors)
    for each in given:
        if not isinstance(each, Interceptor):
            hint = f"Interceptor({kinds[0]}=…)"
            raise DeclarationError(f"{where}: {each!r} is no flowpy.interceptors.Interceptor", remedy=f"give {hint}")
        if strict and all(getattr(each, kind) is None for kind in kinds):
            raise DeclarationError(f"{where} uses {', '.join(kinds)} of an interceptor, and {each!r} has none of these")
    return tuple([around for each in given if (around := getattr(each, kind)) is not None] for kind in kinds)


def nested(arounds: Iterable[Around[C]], innermost: Proceed[C]) -> Proceed[C]:
    """Plain functions around a plain one, the first outermost."""
    proceed = innermost
    for around in reversed(list(arounds)):
        proceed = partial(_through, around, proceed)
    return proceed


def _through(around: Around[C], proceed: Proceed[C], call: C) -> Any:
    return around(call, proceed)

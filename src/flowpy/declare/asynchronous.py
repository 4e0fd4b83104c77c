"""``@asynchronous``: workflow code that runs when the promises it is given are ready.

Flow's asynchronous methods. They run in the workflow itself, in a task of their own, and again in every replay: for
work, use activities.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import MethodType
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar, overload

from flowpy.declare.calling import Calls
from flowpy.declare.declared import Declared
from flowpy.declare.functions import declarable, default_name, is_async
from flowpy.declare.promise import Promise
from flowpy.declare.signature import Signature
from flowpy.errors import OutsideWorkflow

__all__ = ["Asynchronous", "asynchronous"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")

_DECORATOR: Final = "@asynchronous"


class Asynchronous(Declared[P, Promise[R]], Generic[P, R]):
    """A declared asynchronous function; calling it in workflow code starts a task of the run.

    Attributes:
        name: Its qualified name, for messages.
        fn: The plain function, or a bound method of it.
        signature: Its signature, without ``self`` if it is bound.
        is_async: Whether it is an ``async def``.
    """

    decorator = _DECORATOR

    def __init__(self, fn: Callable[..., Any], *, name: str, signature: Signature, is_async: bool) -> None:
        self._wrap(fn, name)
        self.name = name
        self.signature = signature
        self.is_async = is_async
        self._method_signature: Signature | None = None

    def _ask(self, calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Promise[R]:
        return calls.call_asynchronous(self, args, kwargs)

    def _outside(self) -> OutsideWorkflow:
        return OutsideWorkflow(
            f"asynchronous function {self.name!r} was called outside workflow code",
            remedy=f"call {self.__name__}.fn(...) to run the plain function here, or call it in a @workflow function",
        )

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(
        self: Asynchronous[Concatenate[S, Q], R], instance: S, owner: type | None = None
    ) -> Asynchronous[Q, R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Binds a method to its object."""
        if instance is None:
            return self
        if self._method_signature is None:
            self._method_signature = Signature.of(self.fn, skip_first=True)
        method = MethodType(self.fn, instance)
        return Asynchronous(method, name=self.name, signature=self._method_signature, is_async=self.is_async)

    def __repr__(self) -> str:
        return f"<asynchronous {self.name}>"


@overload
def asynchronous(fn: Callable[P, Coroutine[Any, Any, Promise[R]]], /) -> Asynchronous[P, R]: ...


@overload
def asynchronous(fn: Callable[P, Coroutine[Any, Any, R]], /) -> Asynchronous[P, R]: ...


@overload
def asynchronous(fn: Callable[P, Promise[R]], /) -> Asynchronous[P, R]: ...


@overload
def asynchronous(fn: Callable[P, R], /) -> Asynchronous[P, R]: ...


def asynchronous(fn: Any, /) -> Any:
    """Declares a function or method of workflow code that runs when its promises are ready.

    Args:
        fn: An ``async def`` or a plain ``def``, a method too. It gets values where the call gave promises; a promise
            it returns is waited for and replaced by its value.

    Raises:
        DeclarationError: If it is a generator, declared already or no function.
    """
    plain = declarable(fn, _DECORATOR)
    name = default_name(plain, _DECORATOR)
    return Asynchronous(plain, name=name, signature=Signature.of(plain), is_async=is_async(plain))

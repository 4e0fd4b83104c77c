"""Signals: values sent to a run from outside, queued until it takes them."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from flowpy.declare.calling import calls_or_raise
from flowpy.declare.durations import Duration, seconds
from flowpy.declare.functions import declarable, locating
from flowpy.declare.names import check_signal_name
from flowpy.declare.promise import Promise
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError

__all__ = ["Signal"]

T = TypeVar("T")
H = TypeVar("H", bound=Callable[..., Any])


class Signal(Generic[T]):
    """A signal a run can receive, with the type of its value.

    Args:
        name: Name of the signal, as the sender gives it.
        type: Type of the value; without it the value is what its JSON says.

    Attributes:
        name: Name of the signal.
        type: Type of the value, ``Any`` if none was given.

    Raises:
        DeclarationError: If the name is empty, over 256 characters or begins with ``flowpy.``.
    """

    __slots__ = ("name", "type")

    name: str
    type: Any

    @overload
    def __init__(self: Signal[Any], name: str) -> None: ...

    @overload
    def __init__(self: Signal[T], name: str, type: builtins.type[T]) -> None: ...

    @overload
    def __init__(self: Signal[Any], name: str, type: object) -> None: ...

    def __init__(self, name: str, type: Any = None) -> None:
        self.name = check_signal_name(name, "Signal")
        self.type = Any if type is None else type

    def receive(self, timeout: Duration | None = None) -> Promise[T]:
        """Takes the next value, waiting for one if none is queued.

        Args:
            timeout: Longest wait, such as ``"3d"``; a durable timer. None and NONE wait for ever.

        Returns:
            The promise of the value; it raises TimeoutError if none came in time.

        Raises:
            OutsideWorkflow: If no workflow code is executing here.
            DurationError: If the timeout is refused.
        """
        calls = calls_or_raise(f"Signal({self.name!r}).receive", "call it in a @workflow function")
        return calls.receive(self, None if timeout is None else seconds(timeout, "receive timeout"))

    def handler(self, fn: H) -> H:
        """Calls a function for every value, those queued already first, each in a task of its own.

        Args:
            fn: A function of the value, or of nothing; ``async def`` or plain ``def``.

        Raises:
            OutsideWorkflow: If no workflow code is executing here.
            DeclarationError: If it needs more than one argument.
        """
        calls = calls_or_raise(f"Signal({self.name!r}).handler", "decorate the function inside a @workflow function")
        needs = Signature.of(declarable(fn, f"@{self.name}.handler")).needs
        with locating(f"handler of signal {self.name!r}"):
            if needs > 1:
                raise DeclarationError(
                    f"a signal carries one value, the function needs {needs}", remedy="take one value"
                )
        calls.set_handler(self, fn)
        return fn

    def __repr__(self) -> str:
        return f"Signal({self.name!r}, {self.type!r})"

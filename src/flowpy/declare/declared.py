"""What activities, workflows and asynchronous functions have in common: they wrap a function and ask the run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast, overload

from flowpy.declare.calling import Calls, current
from flowpy.declare.promise import Deferred
from flowpy.errors import OutsideWorkflow

__all__ = ["Declared"]

P = ParamSpec("P")
C = TypeVar("C")


class Declared(Generic[P, C]):
    """The base of everything a decorator of flowpy makes; calling it asks the run that is executing.

    Attributes:
        decorator: The decorator that made it, for messages.
        fn: The plain function (or class) itself, to be called directly in tests.
    """

    decorator: ClassVar[str]
    fn: Callable[P, Any]
    __name__: str

    # ParamSpec cannot say "or a promise of it", so a call with a promise among its first three arguments is not checked
    # any further; every other call is.
    @overload
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> C: ...

    @overload
    def __call__(self, first: Deferred, /, *rest: Any, **named: Any) -> C: ...

    @overload
    def __call__(self, first: Any, second: Deferred, /, *rest: Any, **named: Any) -> C: ...

    @overload
    def __call__(self, first: Any, second: Any, third: Deferred, /, *rest: Any, **named: Any) -> C: ...

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Asks the run that is executing to do it, and returns the promise of the result.

        Args:
            *args: Arguments of the function; promises among them, also in lists, tuples and values of dicts, defer the
                call until they are ready.
            **kwargs: The same, by name.

        Raises:
            OutsideWorkflow: If no workflow code is executing here.
            TypeError: If the arguments do not fit the function.
        """
        calls = current.get()
        if calls is None:
            raise self._outside()
        return self._ask(calls, args, kwargs)

    def _ask(self, calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> C:
        """Makes the call of this kind of thing."""
        raise NotImplementedError

    def _outside(self) -> OutsideWorkflow:
        """Makes the error for a call outside workflow code."""
        raise NotImplementedError

    def _wrap(self, fn: Callable[..., Any], name: str) -> None:
        """Takes over name, module, documentation and signature, as ``functools.wraps`` does."""
        self.__name__ = name
        functools.update_wrapper(cast("Callable[..., Any]", self), fn, updated=())
        self.fn = fn

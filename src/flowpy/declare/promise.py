"""The interface of a promise: what workflow code gets from every call that takes time.

The runtime makes promises; user code only receives them. A promise has the interface of ``asyncio.Future``, so it may
be awaited, and given to ``asyncio.gather``, ``asyncio.wait`` and ``asyncio.wait_for``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

if TYPE_CHECKING:
    from asyncio import Future as _Interface
else:
    # Type checkers must see a Future so that gather and wait take it; at run time the runtime brings its own.
    _Interface = Generic

__all__ = ["ChildPromise", "Deferred", "Promise"]

T = TypeVar("T")

_INTERFACE: Final = "Promise is an interface: promises are made by calls in workflow code, never directly"


class Promise(_Interface[T]):
    """A value that will be there later: the result of an activity, a child, a timer, a signal.

    In ``async`` code ``await`` it; in a plain ``def`` workflow call ``.result()``. Giving it as an argument to an
    activity, a child workflow or an ``@asynchronous`` function defers that call until the value is there.
    """

    __slots__ = ()

    def result(self) -> T:
        """Returns the value, or raises the error, of a promise that is done.

        In a plain ``def`` workflow it waits: the run is suspended, no thread is.

        Raises:
            AwaitNeeded: In ``async`` code, if the promise is not done: await it instead.
            asyncio.CancelledError: If it was cancelled.
        """
        raise NotImplementedError(_INTERFACE)

    def exception(self) -> BaseException | None:
        """Returns the error the promise ended with, or None if it has a value; it counts as observed.

        Raises:
            AwaitNeeded: In ``async`` code, if the promise is not done.
            asyncio.CancelledError: If it was cancelled.
        """
        raise NotImplementedError(_INTERFACE)

    def done(self) -> bool:
        """Returns whether there is a value, an error or a cancellation."""
        raise NotImplementedError(_INTERFACE)

    def cancelled(self) -> bool:
        """Returns whether the promise was cancelled."""
        raise NotImplementedError(_INTERFACE)

    def cancel(self, msg: Any | None = None) -> bool:
        """Asks what stands behind the promise to stop, as ``on_cancel`` says; twice does nothing.

        Args:
            msg: Given to the ``CancelledError`` that waiting code gets.

        Returns:
            False if the promise was done already.
        """
        raise NotImplementedError(_INTERFACE)

    def detach(self) -> None:
        """Lets the run close without waiting for this, and without failing if it fails unobserved."""
        raise NotImplementedError(_INTERFACE)

    def add_done_callback(self, fn: Callable[[Self], object], /, *, context: Context | None = None) -> None:
        """Calls a function with this promise once it is done; the promise counts as observed.

        Args:
            fn: Called soon after; it may read and cancel promises, but not make calls that need an id.
            context: The context it runs in; default a copy of the current one.
        """
        raise NotImplementedError(_INTERFACE)

    def __await__(self) -> Generator[Any, None, T]:
        """Waits for the value; raises the error the promise ended with."""
        raise NotImplementedError(_INTERFACE)


class ChildPromise(Promise[T]):
    """The promise of a child workflow's result."""

    __slots__ = ()

    @property
    def started(self) -> Promise[str]:
        """A promise of the child's runId, there as soon as SWF has started it."""
        raise NotImplementedError(_INTERFACE)

    @property
    def workflow_id(self) -> str:
        """The child's workflowId, known at the call."""
        raise NotImplementedError(_INTERFACE)


Deferred = Promise[Any] | Sequence[Promise[Any]] | Mapping[str, Promise[Any]]
"""What defers a call until it is ready, as far as type checkers can tell."""

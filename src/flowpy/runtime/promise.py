"""Promises and the futures that asyncio's own primitives make: one class, alike on every Python.

They have the interface of ``asyncio.Future`` and not its implementation: the order in which waiting code resumes must
not depend on the Python version, a promise must know whether anybody ever looked at it, and cancelling it may mean a
decision. A waiting task stands in the list of callbacks itself, which saves a handle for every await.
"""

from __future__ import annotations

from asyncio.exceptions import CancelledError, InvalidStateError
from collections.abc import Callable, Generator
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

import greenlet

from flowpy.declare.promise import ChildPromise, Promise
from flowpy.errors import AwaitNeeded

if TYPE_CHECKING:
    from flowpy.runtime.loop import Loop
    from flowpy.runtime.task import Task

T = TypeVar("T")

PENDING: Final = "PENDING"
DONE: Final = "FINISHED"
FAILED: Final = "FAILED"
CANCELLED: Final = "CANCELLED"


class Work(Protocol):
    """What stands behind a promise and can be cancelled with it."""

    def cancel(self) -> bool:
        """Stop the work. Returns whether the promise is cancelled at once; False: it ends with the work."""
        ...

    def detach(self) -> None:
        """Let the run close without waiting for the work."""
        ...


class PlainGreenlet(greenlet.greenlet):  # type: ignore[misc]  # greenlet ships no types
    """The greenlet of a plain ``def`` workflow; its parent awaits the promises it switches out with."""


def suspended(future: Any) -> Any:
    """The result of a future that is not done: plain ``def`` code is suspended until it is.

    Raises:
        AwaitNeeded: The code is async.
    """
    here = greenlet.getcurrent()
    if isinstance(here, PlainGreenlet):
        assert here.parent is not None
        return here.parent.switch(future)
    raise AwaitNeeded(f"{future!r} is not done: in async code await it; only plain def workflows use .result()")


class Future(Promise[T]):
    """What ``loop.create_future()`` gives, and the base of promises and tasks.

    Hashes by its creation number, so that even sets iterate the same way in every replay. Promises and tasks count up
    from 1; the futures that asyncio's own primitives make have a count of their own, downwards, and no part in that.
    """

    # No __slots__: one is made for every call in every replay, and what has its default need not be set. What is read
    # for every promise is set all the same: CPython 3.11 is slow to find what only the class has.
    loop: Loop
    _number: int
    _value: T
    _error: Any
    _cancel_message: Any = None
    _state: str
    _work: Any
    _observed = False
    _waiting: Any
    """The one task that waits, or a list of tasks and (callback, context)."""
    _owed: list[Task[Any]] | None = None

    # asyncio knows futures by this attribute. Its own tasks want it true between yield and await; ours need no such
    # sign, because whatever future of theirs a coroutine yields is waited for.
    _asyncio_future_blocking = False

    def __init__(self, loop: Loop, number: int = 0, work: Work | None = None) -> None:
        self.loop = loop
        self._number = number
        self._work = work
        self._state = PENDING
        self._waiting = None

    def __hash__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        what = getattr(self._work, "id", "") or f"number {self._number}"
        return f"<promise {what} {self._state.lower()}>"

    def get_loop(self) -> Any:
        """The loop of the run it belongs to."""
        return self.loop

    def done(self) -> bool:
        return self._state is not PENDING

    def cancelled(self) -> bool:
        return self._state is CANCELLED

    def result(self) -> T:
        state = self._state
        if state is DONE:
            return self._value
        if state is PENDING:
            value: T = suspended(self)
            return value
        self._observed = True
        if state is CANCELLED:
            raise self._make_cancelled_error()
        raise self._error

    def exception(self) -> BaseException | None:
        state = self._state
        if state is PENDING:
            raise InvalidStateError(f"{self!r} has no outcome yet: await it first")
        self._observed = True
        if state is CANCELLED:
            raise self._make_cancelled_error()
        return self._error if state is FAILED else None

    def __await__(self) -> Generator[Any, None, T]:
        if self._state is PENDING:
            yield self
        if self._state is DONE:
            return self._value
        if self._state is PENDING:
            raise RuntimeError(
                "a promise was resumed before it was done: it was yielded outside an await. Await it before it is "
                "iterated over, as in `for` and `in`"
            )
        return self.result()

    __iter__ = __await__

    # --- ending -----------------------------------------------------------------------------

    def set_result(self, value: T) -> None:
        """End with a value; waiting code resumes in the order in which it began to wait."""
        if self._state is not PENDING:
            raise InvalidStateError(f"{self!r} has ended already")
        self._value = value
        self._state = DONE
        if self._waiting is not None:
            self._wake()

    def set_exception(self, error: BaseException | type[BaseException]) -> None:
        """End with an error."""
        if self._state is not PENDING:
            raise InvalidStateError(f"{self!r} has ended already")
        self._error = error() if isinstance(error, type) else error
        self._state = FAILED
        if self._number > 0 and not self._observed:
            self.loop.failed.append(self)
        if self._waiting is not None:
            self._wake()

    def cancel(self, msg: Any | None = None) -> bool:
        if self._state is not PENDING:
            return False
        self._cancel_message = msg
        if self._work is not None and not self._work.cancel():
            return True
        self.set_cancelled(msg)
        return True

    def set_cancelled(self, msg: Any | None = None, error: CancelledError | None = None) -> None:
        """End as cancelled, whatever stands behind it.

        Args:
            msg: Argument of the CancelledError.
            error: The error itself, if it says more.
        """
        if self._state is not PENDING:
            return
        self._cancel_message = msg
        self._error = error
        self._state = CANCELLED
        self._owed = None
        if self._waiting is not None:
            self._wake()

    def _make_cancelled_error(self) -> CancelledError:
        # asyncio.gather asks its last child for this by name, even one that was not cancelled.
        if self._state is not CANCELLED:
            return CancelledError()
        error = self._error
        if isinstance(error, CancelledError):
            return error
        return CancelledError() if self._cancel_message is None else CancelledError(self._cancel_message)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        ready = self.loop.ready
        for callback in waiting if type(waiting) is list else (waiting,):
            if type(callback) is tuple:
                self.loop.soon(callback[0], (self,), callback[1])
            else:
                ready.append(callback)
        if self._owed is not None:
            # "wait" mode: the work ended otherwise than cancelled; the cancellation is owed at the next await.
            for task in self._owed:
                task.owe_cancel()

    # --- waiting ----------------------------------------------------------------------------

    def await_in(self, task: Task[Any]) -> None:
        """A task waits for this: it stands in line like any callback."""
        self._observed = True
        if self._waiting is None:
            self._waiting = task
        else:
            self._line().append(task)

    def waiters(self) -> int:
        """How many tasks and callbacks stand in line."""
        return len(self._line())

    def _line(self) -> list[Any]:
        """Those who wait, as a list that can be added to."""
        if type(self._waiting) is not list:
            self._waiting = [] if self._waiting is None else [self._waiting]
        line: list[Any] = self._waiting
        return line

    def add_done_callback(self, fn: Callable[[Any], object], /, *, context: Context | None = None) -> None:
        self._observed = True
        if context is None:
            context = copy_context()
        if self._state is not PENDING:
            self.loop.soon(fn, (self,), context)
        else:
            self._line().append((fn, context))

    def remove_done_callback(self, fn: Callable[[Any], object], /) -> int:
        """Remove a callback; returns how often it stood there."""
        before = self._line()
        kept = [callback for callback in before if type(callback) is not tuple or callback[0] != fn]
        self._waiting = kept or None
        return len(before) - len(kept)

    def detach(self) -> None:
        self._observed = True
        if self._work is not None:
            self._work.detach()


class RunPromise(Future[T]):
    """A promise of one run: numbered, so that sets of promises iterate alike in every replay."""

    __init__ = object.__init__  # calls of activities set what is needed themselves

    @classmethod
    def of(cls, loop: Loop, work: Work | None = None) -> Self:
        """A promise with the next number of a run."""
        promise: Self = cls()
        promise.loop, promise._work, promise._state, promise._waiting = loop, work, PENDING, None
        loop.number = promise._number = loop.number + 1
        return promise


class RunChildPromise(RunPromise[T], ChildPromise[T]):
    """The promise of a child workflow."""

    def __init__(self, loop: Loop, workflow_id: str) -> None:
        loop.number += 1
        Future.__init__(self, loop, loop.number)
        self._workflow_id = workflow_id
        self._started: RunPromise[str] = RunPromise.of(loop)
        # Nobody has to look at it: a child that cannot start fails its own promise too.
        self._started._observed = True

    @property
    def started(self) -> Promise[str]:
        return self._started

    @property
    def workflow_id(self) -> str:
        return self._workflow_id

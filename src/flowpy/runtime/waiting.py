"""Waiting in workflow code: sleeping, joining promises, and clean-up that a cancellation leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from inspect import iscoroutine
from typing import Any, Final, TypeVar, overload

from flowpy.declare.durations import Duration
from flowpy.declare.promise import Promise
from flowpy.runtime.promise import Future, RunPromise
from flowpy.runtime.running import current_run
from flowpy.runtime.values import when_ready

T = TypeVar("T")

_JOINED: Final = (Future, asyncio.Future)  # asyncio.gather makes futures of its own


def sleep(duration: Duration, *, timer_id: str | None = None) -> Promise[None]:
    """Start a durable timer (decision StartTimer), which costs nothing while it runs.

    Args:
        duration: Seconds, a timedelta or text such as ``"30d"``; rounded up to whole seconds, at most one year;
            0 is a timer too.
        timer_id: The timerId; default one made from the place of the call.

    Returns:
        Ready when the timer has fired.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        DurationError: The duration is negative, unreadable or over a year.
        DuplicateId: A timer with this timer_id is open in the run.
    """
    return current_run("flowpy.sleep", "use time.sleep or asyncio.sleep").timers.sleep(duration, timer_id)


def all_of(*promises: Promise[Any] | Iterable[Promise[Any]]) -> Promise[list[Any]]:
    """Join promises, like Flow's AndPromise.

    Args:
        *promises: Promises, or one iterable of them.

    Returns:
        The list of their values in the order given; fails as soon as one of them fails or is cancelled. The
        others go on: cancel them if they are to stop.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        TypeError: Something else is among them.
    """
    run = current_run("flowpy.all_of", "collect the values yourself")
    given = _flat(promises, "flowpy.all_of")
    joined: RunPromise[list[Any]] = RunPromise.of(run.loop)

    def ready(failed: Any) -> None:
        if joined.done():
            return
        if failed is None:
            joined.set_result([promise.result() for promise in given])
        elif failed.cancelled():
            joined.set_cancelled(error=failed._make_cancelled_error())
        else:
            joined.set_exception(failed.exception())

    if given:
        joined._work = _Joint(when_ready(given, ready, deep=False))
    else:
        joined.set_result([])
    return joined


@overload
def any_of(*promises: Promise[T] | Iterable[Promise[T]]) -> Promise[Promise[T]]: ...


@overload
def any_of(*promises: Promise[Any] | Iterable[Promise[Any]]) -> Promise[Promise[Any]]: ...


def any_of(*promises: Promise[Any] | Iterable[Promise[Any]]) -> Promise[Promise[Any]]:
    """The first of several promises to end, like Flow's OrPromise.

    Args:
        *promises: At least one promise, or one iterable of them.

    Returns:
        A promise of the promise that ended first, with a value or not: compare it with ``is``, or await it.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        ValueError: There are none.
        TypeError: Something else is among them.
    """
    run = current_run("flowpy.any_of", "collect the values yourself")
    given = _flat(promises, "flowpy.any_of")
    if not given:
        raise ValueError("flowpy.any_of() of no promises would never be ready: give it at least one")
    first: RunPromise[Promise[Any]] = RunPromise.of(run.loop)

    def ended(promise: Future[Any]) -> None:
        if not first.done():
            first.set_result(promise)
        forget()

    def forget() -> None:
        # A promise that is raced again and again must not keep every race.
        for promise in given:
            promise.remove_done_callback(ended)

    for promise in given:
        promise.add_done_callback(ended)
    first._work = _Joint(forget)
    return first


def shield(awaitable: Awaitable[T]) -> Promise[T]:
    """Run clean-up that no cancellation reaches.

    A coroutine runs in a task of its own, which the run waits for before it closes and leaves alone when the
    workflow function ends; cancelling the code that awaits the shield does not cancel it.

    Args:
        awaitable: A coroutine or a promise.

    Returns:
        The promise of its value.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        TypeError: It is neither of the two.
    """
    run = current_run("flowpy.shield", "use asyncio.shield")
    inner: Any = run.loop.spawn(awaitable, shielded=True) if iscoroutine(awaitable) else awaitable
    if not isinstance(inner, Future):
        raise TypeError(f"flowpy.shield protects a coroutine or a promise, not {awaitable!r}; join with flowpy.all_of")
    outer: RunPromise[T] = RunPromise.of(run.loop)

    def ended(promise: Future[T]) -> None:
        if outer.done():
            return
        if promise.cancelled():
            outer.set_cancelled(error=promise._make_cancelled_error())
        elif promise._state == "FAILED":
            outer.set_exception(promise._error)
        else:
            outer.set_result(promise._value)

    inner.add_done_callback(ended)
    outer._work = _Joint(lambda: inner.remove_done_callback(ended))
    return outer


class _Joint:
    """What stands behind a promise that others make ready: when it is cancelled they need not know of it any more."""

    __slots__ = ("_forget",)

    def __init__(self, forget: Callable[[], object]) -> None:
        self._forget = forget

    def cancel(self) -> bool:
        """Be taken off the others, which go on."""
        self._forget()
        return True

    def detach(self) -> None:
        """Nothing: the others are waited for, or not, on their own account."""


def _flat(promises: tuple[Any, ...], what: str) -> list[Any]:
    alone = len(promises) == 1 and isinstance(promises[0], Iterable) and not isinstance(promises[0], _JOINED)
    given = list(promises[0] if alone else promises)
    for each in given:
        if iscoroutine(each):
            # Not its repr: that has an address, and the reason of a failed run should be the same in every process.
            raise TypeError(f"{what} joins promises and tasks: make a task of {each.__qualname__}() with create_task")
        if not isinstance(each, _JOINED):
            raise TypeError(f"{what} joins promises and tasks, not {each!r}: give what a call returned")
    return given

"""Waiting in workflow code: sleeping, joining promises, and clean-up that a cancellation leaves alone."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from inspect import iscoroutine
from typing import Any, TypeVar

from flowpy.declare.durations import Duration
from flowpy.declare.promise import Promise
from flowpy.runtime.promise import Future, RunPromise
from flowpy.runtime.running import current_run
from flowpy.runtime.values import when_ready

T = TypeVar("T")


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
    """
    run = current_run("flowpy.all_of", "collect the values yourself")
    given = _flat(promises)
    joined: RunPromise[list[Any]] = RunPromise(run.loop)

    def ready(failed: Future[Any] | None) -> None:
        if joined.done():
            return
        if failed is None:
            joined.set_result([promise.result() for promise in given])
        elif failed.cancelled():
            joined.set_cancelled(error=failed._make_cancelled_error())
        else:
            joined.set_exception(failed._error)

    if given:
        when_ready(given, ready, deep=False)
    else:
        joined.set_result([])
    return joined


def any_of(*promises: Promise[T] | Iterable[Promise[T]]) -> Promise[Promise[T]]:
    """The first of several promises to end, like Flow's OrPromise.

    Args:
        *promises: At least one promise, or one iterable of them.

    Returns:
        A promise of the promise that ended first, with a value or not: compare it with ``is``, or await it.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        ValueError: There are none.
    """
    run = current_run("flowpy.any_of", "collect the values yourself")
    given = _flat(promises)
    if not given:
        raise ValueError("flowpy.any_of() of no promises would never be ready: give it at least one")
    first: RunPromise[Promise[T]] = RunPromise(run.loop)

    def ended(promise: Future[Any]) -> None:
        if not first.done():
            first.set_result(promise)

    for promise in given:
        promise.add_done_callback(ended)
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
    """
    run = current_run("flowpy.shield", "use asyncio.shield")
    inner: Any = run.loop.spawn(awaitable, shielded=True) if iscoroutine(awaitable) else awaitable
    outer: RunPromise[T] = RunPromise(run.loop)

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
    return outer


def _flat(promises: tuple[Any, ...]) -> list[Any]:
    if len(promises) == 1 and not isinstance(promises[0], Future):
        return list(promises[0])
    return list(promises)

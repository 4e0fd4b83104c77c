"""Promises among values: found, waited for and replaced, in arguments and in what functions return."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import Context
from typing import Any, Final

from flowpy.runtime.loop import Loop
from flowpy.runtime.promise import Future, RunPromise
from flowpy.words import an

SCALARS: Final = frozenset((int, str, bool, float, type(None), bytes))
"""Types whose values hold no promises."""


def promises_in(values: Iterable[Any], found: list[Future[Any]] | None = None) -> list[Future[Any]]:
    """Promises among values, also inside lists, tuples and the values of dicts, in order.

    Raises:
        TypeError: There is another awaitable among them.
    """
    found = [] if found is None else found
    for value in values:
        kind = type(value)
        if kind in SCALARS:
            continue
        if isinstance(value, Future):
            found.append(value)
        elif kind is list or kind is tuple:
            promises_in(value, found)
        elif kind is dict:
            promises_in(value.values(), found)
        elif hasattr(kind, "__await__"):
            raise TypeError(
                f"{an(kind.__name__)} ({getattr(value, '__qualname__', 'nameless')}) cannot be waited for here: only "
                "promises and tasks can. Await it first, make it a task with asyncio.create_task, or join promises "
                "with flowpy.all_of instead of asyncio.gather"
            )
    return found


def replaced(value: Any) -> Any:
    """The value with every promise in it replaced by its result; all must be done."""
    kind = type(value)
    if isinstance(value, Future):
        return replaced(value.result())
    if kind is list:
        return [replaced(item) for item in value]
    if kind is tuple:
        return tuple(replaced(item) for item in value)
    if kind is dict:
        return {key: replaced(item) for key, item in value.items()}
    return value


def when_ready(
    promises: list[Future[Any]], then: Callable[[Future[Any] | None], None], *, deep: bool = True
) -> Callable[[], None]:
    """Call a function once: with None when all are ready, or with the first that failed or was cancelled.

    Args:
        promises: What to wait for, in order of mention.
        then: Called from a callback, where no task runs.
        deep: Whether a promise that a promise brings, as that of ``any_of`` does, must be ready too.

    Returns:
        A function that stops waiting for those that have not ended.
    """
    left = len(promises)
    finished = False

    def done(promise: Future[Any]) -> None:
        nonlocal left, finished
        left -= 1
        if finished:
            return
        if promise.cancelled() or promise.exception() is not None:
            finished = True
            forget()
            then(promise)
        elif left == 0:
            finished = True
            nested = promises_in([each._value for each in promises]) if deep else None
            if nested:
                when_ready(nested, then)
            else:
                then(None)

    def forget() -> None:
        # A promise that is joined again and again must not keep every joint.
        for promise in promises:
            promise.remove_done_callback(done)

    context = Context()
    for promise in promises:
        promise.add_done_callback(done, context=context)
    return forget


async def settled(loop: Loop, value: Any) -> Any:
    """The value with the promises in it waited for and replaced (what functions of a run return)."""
    promises = promises_in((value,))
    while promises:
        gate: RunPromise[None] = RunPromise.of(loop)
        gate._observed = True

        def open_gate(failed: Future[Any] | None, gate: RunPromise[None] = gate) -> None:
            if gate.done():
                return
            if failed is None:
                gate.set_result(None)
            elif failed.cancelled():
                gate.set_cancelled(error=failed._make_cancelled_error())
            else:
                gate.set_exception(failed._error)

        when_ready(promises, open_gate)
        await gate
        value = replaced(value)
        promises = promises_in((value,))
    return value

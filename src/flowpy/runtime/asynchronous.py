"""Calls of ``@asynchronous`` functions: a task at once, whose body runs when the promises it got are ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.runtime.plain import call
from flowpy.runtime.values import promises_in, settled

if TYPE_CHECKING:
    from flowpy.declare.asynchronous import Asynchronous
    from flowpy.runtime.run import Run


def call_asynchronous(run: Run, function: Asynchronous[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Start the task of an asynchronous function; it takes its number at the call."""
    run.task_here(f"asynchronous function {function.name}")
    function.signature.bind(args, kwargs)
    return run.loop.spawn(_body(run, function, args, kwargs), name=function.name)


async def _body(run: Run, function: Asynchronous[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if promises_in((*args, *kwargs.values())):
        args, kwargs = await settled(run.loop, (args, kwargs))
    return await settled(run.loop, await call(function.fn, function.is_async, args, kwargs))

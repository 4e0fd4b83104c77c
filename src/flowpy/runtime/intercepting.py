"""Interceptors around code that waits: ``def`` and ``async def`` in any order, all in the task of that code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import greenlet

from flowpy.declare.workflow import Workflow
from flowpy.interceptors import Around, WorkflowCall, is_async
from flowpy.runtime.plain import call as coroutine_of
from flowpy.runtime.plain import run_plain

__all__ = ["around_all", "surrounding"]

C = TypeVar("C")
Awaited = Callable[[C], Awaitable[Any]]


def around_all(arounds: Iterable[Around[C]], innermost: Awaited[C]) -> Awaited[C]:
    """Interceptors around what is awaited, the first outermost.

    A plain one runs in a greenlet, so that ``proceed`` gives it the value itself; what it stands around runs in the
    same task and context all the same.
    """
    proceed = innermost
    for around in reversed(list(arounds)):
        proceed = partial(_awaiting if is_async(around) else _waiting, around, proceed)
    return proceed


async def _awaiting(around: Around[C], proceed: Awaited[C], call: C) -> Any:
    return await around(call, proceed)


async def _waiting(around: Around[C], proceed: Awaited[C], call: C) -> Any:
    return await run_plain(around, (call, partial(_suspended, proceed)), {})


def _suspended(proceed: Awaited[C], call: C) -> Any:
    """What is awaited gives; the plain code that asks for it is suspended until then."""
    here = greenlet.getcurrent()
    assert here.parent is not None
    value, error = here.parent.switch(_outcome(proceed, call))
    try:
        if error is not None:
            raise error
        return value
    finally:
        del error


async def _outcome(proceed: Awaited[C], call: C) -> tuple[Any, BaseException | None]:
    """What came of a call: an error that is thrown into a greenlet would lose its traceback."""
    try:
        return await proceed(call), None
    except GeneratorExit:
        raise
    except BaseException as error:
        return None, error


async def surrounding(
    workflow: Workflow[..., Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a workflow's function with its interceptors around it."""

    async def innermost(call: WorkflowCall) -> Any:
        return await coroutine_of(function, workflow.is_async, call.args, call.kwargs)

    return await around_all(workflow.arounds, innermost)(WorkflowCall(workflow, args, kwargs))

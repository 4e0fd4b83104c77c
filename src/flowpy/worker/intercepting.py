"""Interceptors around the activities that a worker runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from attrs import evolve, field, frozen

from flowpy.data.traced import untraced
from flowpy.declare.activity import Activity
from flowpy.declare.calling import RunningActivity
from flowpy.interceptors import ActivityCall, Around, is_async, nested

__all__ = ["NOTHING_AROUND", "AroundActivities"]

Function = Callable[..., Any]


@frozen
class AroundActivities:
    """What a worker was given to stand around activities.

    Args:
        arounds: The interceptors, outermost first.
    """

    arounds: list[Around[ActivityCall]] = field(factory=list)

    def wrapped(
        self, activity: Activity[..., Any], function: Function, context: RunningActivity, text: str | None
    ) -> Function:
        """The function that runs instead of an activity's own: of the same colour, with the same arguments.

        Args:
            activity: The declared activity.
            function: What runs it.
            context: Its context.
            text: Its input as recorded.
        """
        if not self.arounds:
            return function
        call = ActivityCall(activity, (), {}, context.fields, untraced(text)[1])
        if not activity.is_async and not any(map(is_async, self.arounds)):
            proceed = nested(self.arounds, lambda call: function(*call.args, **call.kwargs))
            return lambda *args, **kwargs: proceed(_with(call, args, kwargs))
        from flowpy.runtime.intercepting import around_all

        async def innermost(call: ActivityCall) -> Any:
            if activity.is_async:
                return await function(*call.args, **call.kwargs)
            return _outside(function, call)

        async def run(*args: Any, **kwargs: Any) -> Any:
            return await around_all(self.arounds, innermost)(_with(call, args, kwargs))

        return run if activity.is_async else lambda *args, **kwargs: _driven(run, args, kwargs)


NOTHING_AROUND: Final = AroundActivities()
"""No interceptors."""


def _with(call: ActivityCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ActivityCall:
    return evolve(call, args=args, kwargs=kwargs)


def _driven(run: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Interceptors that await around an activity that does not: on a loop of this thread's own."""
    with asyncio.Runner() as runner:
        return runner.run(run(*args, **kwargs))


def _outside(function: Function, call: ActivityCall) -> Any:
    """Plain code may start a loop itself, and must not find that one is running here."""
    loop = asyncio.get_running_loop()
    asyncio._set_running_loop(None)  # noqa: SLF001 - documented, for those who run loops
    try:
        return function(*call.args, **call.kwargs)
    finally:
        asyncio._set_running_loop(loop)  # noqa: SLF001

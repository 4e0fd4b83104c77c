"""Durable timers: ``flowpy.sleep``, and those behind asyncio's own sleeps and timeouts."""

from __future__ import annotations

import math
from asyncio import futures
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, Any, Final

from flowpy.declare.durations import YEAR, Duration, seconds
from flowpy.declare.names import check_id
from flowpy.errors import DurationError, TimerStartFailed
from flowpy.replay.entities import Timer
from flowpy.runtime.ids import TIMER, fitted
from flowpy.runtime.promise import RunPromise
from flowpy.runtime.sites import call_site

if TYPE_CHECKING:
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

Attributes = dict[str, Any]

_SLEEP_IS_OVER: Final[Any] = vars(futures)["_set_result_unless_cancelled"]
"""The callback by which asyncio.sleep can be told from all other uses of call_later."""

_GRAIN: Final = 1e-5
"""Epoch seconds as floats are exact to 2.4e-7 s: ``(now + 30) - now`` must not round up to 31."""


def whole_seconds(delay: float) -> int:
    """A positive delay in whole seconds, rounded up.

    Raises:
        DurationError: It is over a year, the longest an execution may run.
    """
    if delay > YEAR + 1:
        raise DurationError(
            f"a timer of {delay:g} s is longer than a year, the longest an SWF execution may run: "
            "continue as new in between"
        )
    return max(1, math.ceil(delay - _GRAIN))


def timer_refused(attributes: Attributes, event: Event) -> TimerStartFailed:
    """The error of a StartTimerFailed event."""
    id, cause = attributes["timerId"], attributes["cause"]
    return TimerStartFailed(f"SWF did not start timer {id}: {cause}", cause=cause, id=id, event_id=event["eventId"])


class Timers:
    """The timers of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def take_id(self, what: str) -> str:
        """The next timer id of the task being stepped."""
        task = self._run.task_here(what)
        return fitted(f"{task.path}timer-{task.take(TIMER)}")

    def start(self, id: str, duration: int, listener: Any) -> Timer:
        """Make the decision to start a timer."""
        timer = Timer(id, input=str(duration), listener=listener, site=call_site())
        self._run.execution.make(timer)
        return timer

    def cancel(self, timer: Timer) -> None:
        """Cancel a timer; twice, or after it fired, does nothing."""
        self._run.execution.cancel_timer(timer, call_site())

    def sleep(self, duration: Duration, timer_id: str | None = None) -> RunPromise[None]:
        """A promise that is ready when a timer has fired; see ``flowpy.sleep``."""
        span = seconds(duration, "sleep")
        if span is None:
            raise DurationError("sleep(NONE) would never end: give a duration, or receive a signal without timeout")
        id = self.take_id("flowpy.sleep")
        if timer_id is not None:
            id = check_id(timer_id, "timer_id")
        return SleepCall(self._run, id, span).promise

    def call_later(
        self, delay: float, callback: Callable[..., object], args: tuple[Any, ...], context: Context
    ) -> LoopTimer:
        """What ``loop.call_later`` does with a positive delay."""
        return LoopTimer(self._run, self.take_id("a timer of asyncio"), whole_seconds(delay), callback, args, context)


class SleepCall:
    """A call of ``flowpy.sleep``."""

    def __init__(self, run: Run, id: str, duration: int) -> None:
        self._run = run
        self.promise: RunPromise[None] = RunPromise.of(run.loop, self)
        self._timer = run.timers.start(id, duration, self)

    def fired(self, _attributes: Attributes, _event: Event) -> None:
        """TimerFired."""
        if not self.promise.done():
            self.promise.set_result(None)

    def refused(self, attributes: Attributes, event: Event) -> None:
        """StartTimerFailed."""
        if not self.promise.done():
            self.promise.set_exception(timer_refused(attributes, event))

    def cancel(self) -> bool:
        """Cancel the timer and the promise."""
        self._run.timers.cancel(self._timer)
        return True

    def detach(self) -> None:
        """Nothing: open timers end with the run."""


class LoopTimer:
    """What ``call_later`` and ``call_at`` return: asyncio's TimerHandle on a durable timer."""

    def __init__(
        self,
        run: Run,
        id: str,
        duration: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context,
    ) -> None:
        self._run = run
        self._when = run.clock + duration
        self._callback = callback
        self._args = args
        self._context = context
        self._cancelled = False
        self._timer = run.timers.start(id, duration, self)

    def when(self) -> float:
        """When it fires, in epoch seconds."""
        return self._when

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def cancel(self) -> None:
        """Cancel the timer."""
        if not self._cancelled:
            self._cancelled = True
            self._run.timers.cancel(self._timer)

    def fired(self, _attributes: Attributes, _event: Event) -> None:
        """TimerFired."""
        if not self._cancelled:
            self._run.loop.soon(self._callback, self._args, self._context)

    def refused(self, attributes: Attributes, event: Event) -> None:
        """StartTimerFailed: a sleep raises it; a timeout that cannot be kept fails the run."""
        error = timer_refused(attributes, event)
        future = self._args[0] if self._args and self._callback is _SLEEP_IS_OVER else None
        if future is None:
            self._run.fail(error)
        elif not future.done():
            future.set_exception(error)

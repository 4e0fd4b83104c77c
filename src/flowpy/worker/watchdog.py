"""Reports workflow code that does not let go of its decision task, before SWF times the task out.

Python cannot interrupt such code (an endless loop, a blocking call); saying where it stands is what can be done. The
limit comes from the task's own timeout, so honest code that computes for seconds is left in peace.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from attrs import define, field

__all__ = ["Watchdog", "decision_timeout"]

SHARE: Final = 0.75
"""Share of the decision task's timeout after which it is reported."""

LOOK_EVERY: Final = 1.0
"""Seconds between two looks: waking the thread for every decision would cost more than it tells."""

IDLE_LOOKS: Final = 60
"""Looks without anything to watch after which the thread ends."""

_SCHEDULED: Final = "DecisionTaskScheduled"
_log = logging.getLogger("flowpy.worker")


def decision_timeout(events: list[dict[str, Any]]) -> float | None:
    """Seconds SWF waits for an answer to a run's decision tasks, None for ever.

    Args:
        events: The run's history, or the end of it.
    """
    attributes = events[0].get("workflowExecutionStartedEventAttributes") if events else None
    if attributes is not None:
        text = attributes.get("taskStartToCloseTimeout") or "NONE"
    else:
        text = next((_timeout_of(event) for event in reversed(events) if event["eventType"] == _SCHEDULED), "NONE")
    return float(text) if text.isdigit() else None


def _timeout_of(scheduled: dict[str, Any]) -> str:
    return scheduled["decisionTaskScheduledEventAttributes"].get("startToCloseTimeout") or "NONE"


@define
class _Watched:
    label: str
    due: float
    seconds: float
    thread: int
    late: Callable[[], None] | None


@define(eq=False)
class Watchdog:
    """Watches decisions being made; one thread of its own, started with the first.

    Args:
        report: Called once for each decision that takes too long.
        clock: Monotonic seconds.
    """

    report: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    _watched: dict[int, _Watched] = field(factory=dict, init=False)
    _changed: threading.Condition = field(factory=threading.Condition, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    _next: int = field(default=0, init=False)

    @contextmanager
    def watching(self, label: str, timeout: float | None, late: Callable[[], None] | None = None) -> Iterator[None]:
        """Watch what this thread does inside the block.

        Args:
            label: What it is about, for the log.
            timeout: Seconds until SWF times it out, None for never: then it is not watched.
            late: Called, from another thread, once it takes too long.
        """
        if timeout is None:
            yield
            return
        seconds = timeout * SHARE
        with self._changed:
            self._next += 1
            key = self._next
            self._watched[key] = _Watched(label, self.clock() + seconds, seconds, threading.get_ident(), late)
            self._start()
        try:
            yield
        finally:
            with self._changed:
                self._watched.pop(key, None)

    def check(self) -> float | None:
        """Report what is overdue. Returns seconds until the next one is due, None if nothing is watched."""
        now = self.clock()
        with self._changed:
            overdue = [key for key, watched in self._watched.items() if watched.due <= now]
            late = [self._watched.pop(key) for key in overdue]
            left = [watched.due - now for watched in self._watched.values()]
        for watched in late:
            frame = sys._current_frames().get(watched.thread)  # noqa: SLF001 - documented in sys
            stack = "".join(traceback.format_stack(frame)[-12:]) if frame is not None else "no stack\n"
            _log.error(
                "%s: the workflow code has run for %g s without blocking; SWF will time the decision task out and give "
                "it out again. Put long computations and blocking calls into activities. It stands at:\n%s",
                watched.label,
                watched.seconds,
                stack,
            )
            self.report()
            if watched.late is not None:
                watched.late()
        return min(left) if left else None

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="flowpy-watchdog", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        idle = 0
        while True:
            idle = idle + 1 if self.check() is None else 0
            with self._changed:
                if idle > IDLE_LOOKS and not self._watched:
                    self._thread = None
                    return
                self._changed.wait(LOOK_EVERY)

"""Who takes part in what happens on a virtual clock, and whether all of them are idle."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Condition, RLock, Thread, current_thread
from typing import Any

from attrs import define, field

from flowpy.errors import ServiceError

__all__ = ["Attendance", "Parked"]


@define(eq=False)
class Parked:
    """A thread that waits, for a task, a time or a condition.

    Attributes:
        thread: The thread.
        bell: Rung when it is woken.
        woken: Told the thread when it is woken.
        request: Its poll.
        due: Epoch seconds until which it sleeps, for ever if it polls.
        condition: What it waits to be true; None for what is never true.
        outcome: What its poll ended with.
        is_awake: Whether its wait is over.
        is_met: Whether the condition came true.
        error: What looking at the condition raised.
    """

    thread: Thread
    bell: Condition
    woken: Callable[[Thread], object]
    request: dict[str, Any] = field(factory=dict)
    due: float = math.inf
    condition: Callable[[], bool] | None = None
    outcome: dict[str, Any] | ServiceError | None = None
    is_awake: bool = False
    is_met: bool = False
    error: Exception | None = None

    def is_there(self) -> bool:
        """Whether it still waits."""
        return not self.is_awake

    def give(self, outcome: dict[str, Any] | ServiceError) -> None:
        """Ends its poll."""
        self.outcome = outcome
        self.wake()

    def look(self, now: float) -> None:
        """Wakes the thread if it has slept long enough or its condition is true."""
        try:
            self.is_met = self.condition is not None and self.condition()
        except Exception as error:
            # It belongs to the thread that waits, not to the one that happens to look.
            self.error = error
        if self.is_met or self.error or self.due <= now:
            self.wake()

    def wake(self) -> None:
        """The thread is busy from here on, not only from when it gets to run."""
        self.is_awake = True
        self.woken(self.thread)
        self.bell.notify()


class Attendance:
    """The threads that take part, those of them that wait, and the tasks that are worked on.

    Args:
        lock: Held by whoever calls; threads wait on it.
        awaits: Whether a task is still to be answered.
    """

    def __init__(self, lock: RLock, awaits: Callable[[str], bool]) -> None:
        self.threads: set[Thread] = set()
        self.tasks: set[str] = set()
        self._lock = lock
        self._awaits = awaits
        self._parked: dict[Thread, Parked] = {}

    def park(
        self,
        request: dict[str, Any] | None = None,
        due: float = math.inf,
        condition: Callable[[], bool] | None = None,
    ) -> Parked:
        """This thread takes part, and waits from now on."""
        thread = current_thread()
        parked = Parked(thread, Condition(self._lock), self._forget, request or {}, due, condition)
        self.threads.add(thread)
        self._parked[thread] = parked
        return parked

    def unpark(self, parked: Parked) -> None:
        """The thread does not wait any more."""
        self._forget(parked.thread)

    def _forget(self, thread: Thread) -> None:
        self._parked.pop(thread, None)

    def is_idle(self) -> bool:
        """Whether there are threads that wait, no other ones that take part, and no task that is worked on."""
        if not self._parked:
            return False
        busy = self.threads - self._parked.keys()
        if any(thread.is_alive() for thread in busy):
            return False
        self.threads -= busy
        self.tasks -= {token for token in self.tasks if not self._awaits(token)}
        return not self.tasks

    def next_due(self) -> float:
        """When the first of those that sleep is to be woken; infinity if none sleeps."""
        return min((parked.due for parked in self._parked.values()), default=math.inf)

    def wake(self, now: float) -> None:
        """Wakes those that sleep until now or before, and those whose condition is true."""
        for parked in list(self._parked.values()):
            parked.look(now)

    def wake_all(self) -> None:
        """Wakes everyone."""
        for parked in list(self._parked.values()):
            parked.wake()

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
    """A thread that waits, for a task or for a time.

    Attributes:
        thread: The thread.
        condition: What it waits on.
        woken: Told the thread when it is woken.
        request: Its poll.
        due: Epoch seconds until which it sleeps, for ever if it polls.
        outcome: What its poll ended with.
    """

    thread: Thread
    condition: Condition
    woken: Callable[[Thread], object]
    request: dict[str, Any] = field(factory=dict)
    due: float = math.inf
    outcome: dict[str, Any] | ServiceError | None = None

    def is_there(self) -> bool:
        """Whether it still waits."""
        return self.outcome is None

    def give(self, outcome: dict[str, Any] | ServiceError) -> None:
        """Ends its poll."""
        self.outcome = outcome
        self.wake()

    def wake(self) -> None:
        """The thread is busy from here on, not only from when it gets to run."""
        self.woken(self.thread)
        self.condition.notify()


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

    def park(self, request: dict[str, Any] | None = None, due: float = math.inf) -> Parked:
        """This thread takes part, and waits from now on."""
        thread = current_thread()
        parked = Parked(thread, Condition(self._lock), self._forget, request or {}, due)
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

    def wake_until(self, now: float) -> None:
        """Wakes those that sleep until now or before."""
        for parked in [each for each in self._parked.values() if each.due <= now]:
            parked.wake()

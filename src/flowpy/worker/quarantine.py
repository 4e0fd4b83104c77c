"""Runs that cannot be decided here, kept from taking the time of those that can.

The decision task of a held run comes back whenever it times out, its hold timer fires or a signal arrives. Replaying
tens of thousands of events each time, only to fail again, would take a thread from the others. So a run that failed is
left alone for a while, longer each time; meanwhile its tasks are answered, or not, without reading more than the end
of its history. A new process knows of no quarantine: when the right code is deployed the run goes on at once.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from attrs import define, field

from flowpy.service.retrying import Backoff, Delays

__all__ = ["Quarantine"]

REMEMBERED: Final = 10_000
"""Runs that are remembered; the one that failed longest ago is forgotten first."""

BACKOFF: Final = Backoff(initial=20.0, maximum=3600.0)
"""The first wait is shorter than the default decision timeout: the task that comes back then is tried."""


@define(eq=False)
class _Case:
    """A run that failed.

    Attributes:
        delays: Gives how long it is left alone.
        until: When it is tried again, on the monotonic clock.
        state: What is known of its history: a ``flowpy.replay.hold.HoldState``, None if it was not read.
    """

    delays: Delays
    until: float = 0.0
    state: Any = None


@define(eq=False)
class Quarantine:
    """Which runs are left alone, and until when.

    Args:
        backoff: How long a run is left alone after its first, second, third … failure.
        clock: Monotonic seconds.
    """

    backoff: Backoff = BACKOFF
    clock: Callable[[], float] = time.monotonic
    _cases: OrderedDict[str, _Case] = field(factory=OrderedDict, init=False)
    _deciding: set[str] = field(factory=set, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def __contains__(self, run_id: object) -> bool:
        """Whether a run is to be left alone now: it failed lately, or a thread has been at it since an earlier task."""
        with self._lock:
            if run_id in self._deciding:
                return True
            case = self._cases.get(run_id) if isinstance(run_id, str) else None
            return case is not None and self.clock() < case.until

    def __len__(self) -> int:
        """How many runs failed when they were tried last."""
        return len(self._cases)

    @contextmanager
    def deciding(self, run_id: str) -> Iterator[None]:
        """A thread decides a run; another task of the run does not get a second thread meanwhile."""
        with self._lock:
            self._deciding.add(run_id)
        try:
            yield
        finally:
            with self._lock:
                self._deciding.discard(run_id)

    def failed(self, run_id: str) -> bool:
        """A run could not be decided: it is left alone for a while. Returns whether it is known to fail."""
        with self._lock:
            case, known = self._cases.get(run_id), run_id in self._cases
            if case is None:
                case = self._cases[run_id] = _Case(self.backoff.delays())
            case.until = self.clock() + case.delays.next()
            self._cases.move_to_end(run_id)
            if len(self._cases) > REMEMBERED:
                self._cases.popitem(last=False)
            return known

    def saw(self, run_id: str, state: Any) -> None:
        """Remember what was read of the history of a run that failed."""
        with self._lock:
            if run_id in self._cases:
                self._cases[run_id].state = state

    def state(self, run_id: str) -> Any:
        """What was read of the history of a run that failed; None if nothing was."""
        with self._lock:
            case = self._cases.get(run_id)
            return None if case is None else case.state

    def cured(self, run_id: str) -> bool:
        """A run was decided. Returns whether it had failed before."""
        with self._lock:
            return self._cases.pop(run_id, None) is not None

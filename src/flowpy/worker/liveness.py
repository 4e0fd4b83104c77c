"""Whether a worker can poll: what its polling threads do, and what is wrong with them."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from attrs import define, field

__all__ = ["Liveness"]

LIMIT: Final = 180.0
"""Seconds. SWF holds a poll for 60, and the client gives up after 75."""

AGAIN: Final = 300.0
"""Seconds after which it is said once more that a worker cannot poll."""

_log = logging.getLogger("flowpy.worker")


@define(eq=False)
class _Poller:
    """A thread that polls.

    Attributes:
        name: Of the thread.
        kind: What it polls for.
        answered: When the service last answered a poll of it, or the thread began.
        since: When it began the poll that it is in; None if it is not in one.
        rests: When it began to wait for its turn, which no clock counts; None if it does not.
        error: What its last poll ended with, "" if it was answered.
    """

    name: str
    kind: str
    answered: float
    since: float | None = None
    rests: float | None = None
    error: str = ""

    def rested(self, now: float) -> None:
        """Its wait is over: what it was measured from is as much later."""
        if self.rests is not None:
            took, self.rests = now - self.rests, None
            self.answered += took
            self.since = None if self.since is None else self.since + took


@define(eq=False)
class Liveness:
    """Watches the polling threads of a worker.

    A worker is well while for each kind of poll (decisions, the runs in its memory, activities) at least one thread
    gets answers. A thread that waits for a place of an activity, all being taken, is well too.

    Args:
        limit: Seconds without an answer after which a thread is not well.
        clock: Monotonic seconds.
        count: Told ``polls_stalled`` whenever the worker ceases to be well.
    """

    limit: float = LIMIT
    clock: Callable[[], float] = time.monotonic
    count: Callable[[str], None] = field(default=lambda _: None)
    _pollers: dict[int, _Poller] = field(factory=dict, init=False)
    _told: float | None = field(default=None, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @contextmanager
    def poller(self, name: str, kind: str) -> Iterator[None]:
        """This thread polls inside the block.

        Args:
            name: Its name.
            kind: What for, such as ``"activities"``.
        """
        thread = threading.get_ident()
        with self._lock:
            self._pollers[thread] = _Poller(name, kind, self.clock())
        try:
            yield
        finally:
            with self._lock:
                self._pollers.pop(thread, None)

    @contextmanager
    def poll(self) -> Iterator[None]:
        """This thread is in a poll inside the block."""
        poller = self._pollers.get(threading.get_ident())
        if poller is None:
            yield
            return
        poller.since = self.clock()
        try:
            yield
        except BaseException as error:
            poller.error = f"{type(error).__name__}: {error}"
            raise
        else:
            poller.answered, poller.error = self.clock(), ""
        finally:
            poller.since = None

    @contextmanager
    def resting(self) -> Iterator[None]:
        """This thread waits inside the block until it may poll: nobody owes it an answer meanwhile."""
        poller = self._pollers.get(threading.get_ident())
        if poller is not None:
            poller.rests = self.clock()
        try:
            yield
        finally:
            if poller is not None:
                poller.rested(self.clock())

    def forget(self, thread: int) -> None:
        """A thread has been replaced: it does not poll any more."""
        with self._lock:
            self._pollers.pop(thread, None)

    def reasons(self) -> list[str]:
        """What is wrong, one text for each thread that is not well; empty if all are."""
        return [reason for reasons in self._by_kind().values() for reason in reasons if reason]

    @property
    def is_well(self) -> bool:
        """Whether the worker can poll for all that it is to poll for."""
        return all("" in reasons for reasons in self._by_kind().values())

    @property
    def has_polled(self) -> bool:
        """Whether for each kind of poll a thread is in its first poll, or was answered."""
        with self._lock:
            pollers = list(self._pollers.values())
        ready = {poller.kind for poller in pollers if not poller.error}
        return bool(pollers) and ready == {poller.kind for poller in pollers}

    @property
    def unanswered_seconds(self) -> float:
        """Seconds since the service answered any poll; 0 if there are no polls."""
        now = self.clock()
        with self._lock:
            pollers = list(self._pollers.values())
        return min(((now if one.rests is None else one.rests) - one.answered for one in pollers), default=0.0)

    def check(self) -> bool:
        """Say in the log when the worker ceases to be well, and when it is well again. Returns whether it is."""
        now, well = self.clock(), self.is_well
        if well and self._told is not None:
            self._told = None
            _log.warning("the worker polls again")
        elif not well and (self._told is None or now - self._told >= AGAIN):
            if self._told is None:
                self.count("polls_stalled")
            self._told = now
            _log.error("the worker cannot poll: %s", "; ".join(self.reasons()))
        return well

    def _by_kind(self) -> dict[str, list[str]]:
        now, reasons = self.clock(), defaultdict(list)
        with self._lock:
            pollers = list(self._pollers.values())
        for poller in pollers:
            reasons[poller.kind].append(self._reason(poller, now))
        return reasons

    def _reason(self, poller: _Poller, now: float) -> str:
        since, now = poller.since, now if poller.rests is None else poller.rests
        if since is not None and now - since > self.limit:
            return f"{poller.name}: a poll has been without an answer for {now - since:.0f} s"
        silent = now - poller.answered
        if silent <= self.limit:
            return ""
        if poller.error:
            return f"{poller.name}: no poll was answered for {silent:.0f} s, the last one ended with {poller.error}"
        if since is None and poller.kind != "activities":
            return f"{poller.name}: busy with one decision task for {silent:.0f} s"
        return ""

"""Heartbeats for running activities, sent by threads of their own."""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from attrs import define, field

from flowpy.errors import PayloadError, ServiceUnavailable, Throttled, UnknownResource
from flowpy.service.protocol import Service
from flowpy.worker.activity_context import ActivityContext

__all__ = ["DEFAULT_INTERVAL", "NEVER", "Heartbeats", "interval"]

DEFAULT_INTERVAL = 20.0
"""Seconds between heartbeats of an activity whose type has no heartbeat timeout."""

NEVER = 1e8
"""Interval of manual activities: only the heartbeats they ask for themselves."""

_LEAST = 0.25
_RETRY = 2.0
_GAP = 1.0
_log = logging.getLogger("flowpy.worker")


def interval(timeout: str | None) -> float:
    """Seconds between heartbeats for a declared heartbeat timeout.

    A task does not carry its timeout, so a shorter one given at the call is not known here: declare the
    shortest that is used. Activities without timeout are heartbeated too, or no cancel would reach them.

    Args:
        timeout: SWF's form, seconds as text or "NONE"; None if undeclared.

    Returns:
        A third of it, at least 0.25 s; 20 s without one.
    """
    if timeout is None or timeout == "NONE":
        return DEFAULT_INTERVAL
    # SWF takes a timeout of 0, which nothing can keep: it must not make a loop without a pause.
    return max(_LEAST, int(timeout) / 3)


@define(eq=False)
class _Beat:
    context: ActivityContext
    interval: float
    due: float
    last: float = float("-inf")
    stopped: bool = False
    reported: bool = False


@define(eq=False)
class Heartbeats:
    """Sends a heartbeat for every activity given to ``start`` until ``stop``.

    Args:
        service: The service.
        clock: Monotonic seconds.
        threads: Sending threads; more than one, so that one slow call does not delay all.
    """

    service: Service
    clock: Callable[[], float] = time.monotonic
    threads: int = 4
    _queue: list[tuple[float, int, _Beat]] = field(factory=list, init=False)
    _beats: dict[ActivityContext, _Beat] = field(factory=dict, init=False)
    _count: itertools.count[int] = field(factory=itertools.count, init=False)
    _changed: threading.Condition = field(factory=threading.Condition, init=False)
    _closed: bool = field(default=False, init=False)

    def open(self) -> None:
        """Start the sending threads."""
        for number in range(self.threads):
            threading.Thread(target=self._send, name=f"flowpy-heartbeat-{number + 1}", daemon=True).start()

    def close(self) -> None:
        """End the sending threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def start(self, context: ActivityContext, every: float) -> None:
        """Heartbeat for an activity, the first time one interval from now."""
        beat = _Beat(context, every, self.clock() + every)
        with self._changed:
            self._beats[context] = beat
            self._push(beat)

    def stop(self, context: ActivityContext) -> None:
        """No more heartbeats for an activity; one may be under way."""
        with self._changed:
            beat = self._beats.pop(context, None)
            if beat is not None:
                beat.stopped = True

    def soon(self, context: ActivityContext) -> None:
        """The activity has new details: send them now, or a second after its last heartbeat."""
        with self._changed:
            beat = self._beats.get(context)
            if beat is not None:
                due = max(self.clock(), beat.last + _GAP)
                if due < beat.due:
                    beat.due = due
                    self._push(beat)

    def beat_due(self) -> float | None:
        """Send one heartbeat if one is due.

        Returns:
            0.0 if one was sent, else seconds until the next is due, None if there is none.
        """
        with self._changed:
            beat, wait = self._next()
            if beat is None:
                return wait
            now = self.clock()
            beat.last, beat.due = now, float("inf")
        due = now + self.beat(beat)
        with self._changed:
            if not beat.stopped:
                # The activity may have asked for another one meanwhile.
                beat.due = min(beat.due, due)
                self._push(beat)
        return 0.0

    def beat(self, beat: _Beat) -> float:
        """Send one heartbeat; gives the seconds until the next."""
        context = beat.context
        try:
            self.flush(context)
        except UnknownResource:
            context.request_cancel(gone=True)
            self.stop(context)
        except Throttled:
            # Sooner than ever: two turns missed in a row would be one too many.
            return min(beat.interval, max(_GAP, beat.interval / 4))
        except ServiceUnavailable:
            return min(beat.interval, _RETRY)
        except Exception as error:
            # One activity whose heartbeat is refused must not cost the others theirs.
            if not beat.reported:
                beat.reported = True
                _log.error("heartbeat of %r is refused: %s", context, error, exc_info=True)
        else:
            beat.reported = False
        return beat.interval

    def flush(self, context: ActivityContext) -> None:
        """Send a heartbeat with the newest details now.

        Raises:
            ServiceError: It was not taken.
        """
        try:
            reply = self.service.call("RecordActivityTaskHeartbeat", self._request(context))
        except BaseException:
            context.details_lost()
            raise
        if reply.get("cancelRequested"):
            context.request_cancel()

    def _request(self, context: ActivityContext) -> dict[str, Any]:
        details = context.take_details()
        try:
            return context.sealed("RecordActivityTaskHeartbeat", {} if details is None else {"details": details})
        except PayloadError as error:
            # The activity lives on without its details; those sent before are kept by SWF.
            _log.warning("%r: heartbeat sent without its details: %s", context, error)
            return {"taskToken": context.task_token}

    def _send(self) -> None:
        while True:
            while self.beat_due() == 0.0:
                pass
            with self._changed:
                beat, wait = self._next()
                if self._closed:
                    return
                if beat is None:
                    self._changed.wait(wait)

    def _next(self) -> tuple[_Beat | None, float | None]:
        while self._queue:
            due, _, beat = self._queue[0]
            if beat.stopped or due != beat.due:
                heapq.heappop(self._queue)
                continue
            now = self.clock()
            if due > now:
                return None, due - now
            return beat, 0.0
        return None, None

    def _push(self, beat: _Beat) -> None:
        heapq.heappush(self._queue, (beat.due, next(self._count), beat))
        self._changed.notify()

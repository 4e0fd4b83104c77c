"""Long polls on an event loop: held until there is a task, the hold is over, or the client is gone."""

from __future__ import annotations

import asyncio
import threading
from asyncio import AbstractEventLoop, Future, TimerHandle
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define

from flowpy.errors import ServiceError
from flowpy.local.engine import Engine, VirtualClock
from flowpy.local.waiting import EMPTY, Key, Waiting, key_of, listen

__all__ = ["Connection", "LongPolls"]

_LONGEST_SLEEP = 30.0
"""Seconds: the machine's clock may be set while the event loop's, which the timers run on, goes on evenly."""


@define(eq=False, slots=True)
class Connection:
    """The other end of a request.

    Attributes:
        is_open: Looks at the socket: whether the client can still receive an answer.
        closed: Returns when the client has gone.
    """

    is_open: Callable[[], bool]
    closed: Callable[[], Awaitable[None]]


@define(eq=False)
class _Parked:
    request: dict[str, Any]
    connection: Connection
    outcome: Future[dict[str, Any] | ServiceError | None]

    def is_there(self) -> bool:
        return not self.outcome.done() and self.connection.is_open()

    def give(self, outcome: dict[str, Any] | ServiceError | None) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class LongPolls:
    """One engine's calls, made on an event loop, where polls wait.

    A task is handed out only to a client whose socket is open at that moment. If the socket dies between then and the
    last byte of the answer the task is lost to the worker, as with SWF itself: its timeouts bring it back.

    Args:
        engine: The engine; other threads may call it too.
        hold: Seconds a poll is held.
        loop: The event loop that `call` is awaited on.
    """

    def __init__(self, engine: Engine, hold: float, loop: AbstractEventLoop) -> None:
        self.engine = engine
        self.hold = hold
        self._loop = loop
        self._thread = threading.get_ident()
        self._waiting = Waiting(engine, engine.call_shared)
        self._wake_is_due = False
        self._has_new = False
        self._timer: TimerHandle | None = None
        self._is_closed = False
        listen(engine, self._changed)

    async def call(self, operation: str, request: dict[str, Any], connection: Connection) -> dict[str, Any] | None:
        """Answers one request.

        Args:
            operation: SWF's name of it.
            request: Its members.
            connection: Where it came from.

        Returns:
            The answer, to be written out at once; None if the client went away while its poll waited.

        Raises:
            ServiceError: SWF's fault.
        """
        if operation in EMPTY:
            if self._wake_is_due:
                # Who has waited longer is first.
                self._hand_out()
            if not connection.is_open():
                return None
        answer = self.engine.call_shared(operation, request)
        self._wake_soon()
        if operation not in EMPTY or "taskToken" in answer or self._is_closed:
            return answer
        key = key_of(operation, request)
        return answer if key is None else await self._wait(key, request, connection)

    async def _wait(self, key: Key, request: dict[str, Any], connection: Connection) -> dict[str, Any] | None:
        parked = _Parked(request, connection, self._loop.create_future())
        self._waiting.park(key, parked)
        gone = asyncio.ensure_future(connection.closed())
        gone.add_done_callback(lambda _: parked.give(None))
        timer = self._loop.call_later(self.hold, parked.give, dict(EMPTY[key[0]]))
        try:
            outcome = await parked.outcome
        finally:
            self._waiting.leave(key, parked)
            timer.cancel()
            gone.cancel()
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    def end(self, identity: str) -> int:
        """Answers the polls of one identity that wait, as if their hold were over; gives how many."""
        return self._waiting.release(identity)

    def close(self) -> None:
        """Answers the polls that wait, and from now on every poll at once."""
        self._is_closed = True
        self._waiting.release()
        if self._timer is not None:
            self._timer.cancel()

    def __len__(self) -> int:
        return len(self._waiting)

    # --- what happens by itself -------------------------------------------------------------

    def wake(self) -> None:
        """Lets happen what is due, hands out tasks and sets the timer for what is due next."""
        self._wake_is_due = False
        if self._is_closed:
            return
        clock, due = self.engine.clock, self.engine.next_due()
        if due is not None and due <= clock.now():
            self.engine.tick()
            due = self.engine.next_due()
        self._hand_out()
        if due is not None and not (isinstance(clock, VirtualClock) and due > clock.now()):
            self._set_timer(due)

    def _changed(self) -> None:
        self._has_new = True
        if threading.get_ident() == self._thread:
            self._wake_soon()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_soon)

    def _wake_soon(self) -> None:
        """Once for all that happens in this turn of the loop, and after its answers are written."""
        if not self._wake_is_due:
            self._wake_is_due = True
            self._loop.call_soon(self.wake)

    def _hand_out(self) -> None:
        if self._has_new:
            self._has_new = False
            self._waiting.hand_out()

    def _set_timer(self, due: float) -> None:
        delay = min(max(due - self.engine.clock.now(), 0.0), _LONGEST_SLEEP)
        at = self._loop.time() + delay
        # A timer that comes too early does no harm; to move it at each request would cost more.
        if self._timer is None or at < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.wake()

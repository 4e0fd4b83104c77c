"""An engine for workers in this process: polls that wait, and a virtual clock that jumps when all are idle."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock, Thread, current_thread
from typing import Any, Final

from flowpy.errors import ServiceError
from flowpy.local.attendance import Attendance
from flowpy.local.engine import Engine, VirtualClock
from flowpy.local.waiting import EMPTY, Key, Waiting, key_of, listen

__all__ = ["LocalService"]

_LOOK_AGAIN: Final = 0.05
"""Seconds after which a waiting thread looks whether a thread that was busy has ended, which nobody tells."""


class LocalService:
    """SWF for threads of this process: the method ``call`` of a service, with polls that wait.

    With **autojump**, on a `VirtualClock`, time passes by itself: the clock jumps to the next thing that is due as soon
    as nothing else can happen before it, so that a month takes milliseconds. That is when

    - every thread that takes part waits, in a poll, in `sleep` or in `wait_until`. A thread takes part from the
      first of these until it ends or calls `leave`, and inside of ``with service.attending()``;
    - no task that was handed out here is unanswered. A decision task is given up when its thread polls again; any other
      that nobody will answer, such as that of a worker that a test lets die, with `release`, or `advance` moves time.

    All of it is known under one lock, and a task counts from before its poller learns of it, so no jump can come
    between the end of one thing and the begin of the next. A test that starts, signals and then waits does so inside
    of `attending`, or time may pass between its calls.

    Args:
        engine: The engine. It may be called by others too; tasks it gives to them do not hold the clock.
        hold: Seconds of real time that a poll is held while there is no task. Short, as a worker that stops waits for
            its polls; an empty poll costs nothing here.
        autojump: Whether a virtual clock jumps.
    """

    def __init__(self, engine: Engine, *, hold: float = 1.0, autojump: bool = True) -> None:
        self.engine = engine
        self.hold = hold
        self.autojump = autojump
        self._lock = RLock()
        self._all = Attendance(self._lock, engine.awaits)
        self._deciding: dict[Thread, str] = {}
        self._waiting = Waiting(engine, engine.call, self._all.tasks.add)
        self._goes_on = False
        self._is_closed = False
        listen(engine, self._changed)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answers one request as `Engine.call` does; polls wait for a task.

        Args:
            operation: SWF's name of it.
            request: As boto3's keyword arguments.

        Returns:
            As boto3's result.

        Raises:
            ServiceError: SWF's fault.
        """
        with self._lock:
            answer = self.engine.call(operation, request)
            if operation in EMPTY:
                self._all.threads.add(current_thread())
                return self._polled(operation, request, answer)
            self._go_on()
            return answer

    def _polled(self, operation: str, request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        if operation != "PollForDecisionTask" or request.get("nextPageToken"):
            return self._started_or_waited(operation, request, answer)
        # Who polls again decides nothing any more: a task it left without an answer is left to its timeout.
        self._all.tasks.discard(self._deciding.pop(current_thread(), ""))
        answer = self._started_or_waited(operation, request, answer)
        if "taskToken" in answer:
            self._deciding[current_thread()] = answer["taskToken"]
        return answer

    def _started_or_waited(self, operation: str, request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        key = key_of(operation, request)
        if key is None:
            return answer
        if "taskToken" in answer:
            self._all.tasks.add(answer["taskToken"])
            return answer
        return self._wait_for_task(key, request)

    def _wait_for_task(self, key: Key, request: dict[str, Any]) -> dict[str, Any]:
        parked = self._all.park(request)
        until = time.monotonic() + self.hold
        try:
            self._waiting.park(key, parked)
            self._go_on()
            while parked.outcome is None and not self._is_closed and (left := until - time.monotonic()) > 0:
                parked.bell.wait(min(left, self._nap()))
                self._go_on()
        finally:
            self._waiting.leave(key, parked)
            self._all.unpark(parked)
        if isinstance(parked.outcome, ServiceError):
            raise parked.outcome
        return parked.outcome or dict(EMPTY[key[0]])

    # --- time -------------------------------------------------------------------------------

    def now(self) -> float:
        """Epoch seconds on the engine's clock."""
        return self.engine.clock.now()

    def sleep(self, seconds: float) -> None:
        """Waits on the engine's clock; the thread takes part from now on.

        Args:
            seconds: How long. On a virtual clock the wait ends when the clock gets there, by jumps or `advance`.
        """
        self._rest(self.now() + max(seconds, 0.0), None)

    def wait_until(self, condition: Callable[[], bool], seconds: float = math.inf) -> bool:
        """Waits until something is so, such as that an execution is closed; the thread takes part from now on.

        Args:
            condition: Looked at after all that happens, and before the clock jumps, so that no time passes between
                the moment when it becomes true and the end of the wait. It may call the service.
            seconds: Longest wait, on the engine's clock.

        Returns:
            Whether it is so.
        """
        return self._rest(self.now() + seconds, condition)

    def _rest(self, due: float, condition: Callable[[], bool] | None) -> bool:
        with self._lock:
            parked = self._all.park(due=due, condition=condition)
            try:
                self._go_on()
                while not (parked.is_awake or self._is_closed):
                    parked.bell.wait(self._nap())
                    self._go_on()
            finally:
                self._all.unpark(parked)
            if parked.error is not None:
                raise parked.error
            return parked.is_met

    def advance(self, seconds: float) -> None:
        """Moves a virtual clock on, whoever is busy; what falls due on the way happens at its time, in order."""
        with self._lock:
            self.engine.advance(seconds)
            self._go_on()

    # --- who takes part ---------------------------------------------------------------------

    @contextmanager
    def attending(self) -> Iterator[None]:
        """Makes this thread take part: inside, the clock does not jump unless this thread polls or sleeps."""
        with self._lock:
            self._all.threads.add(current_thread())
        try:
            yield
        finally:
            self.leave()

    def leave(self) -> None:
        """This thread does not take part any more; the clock may jump while it does other things."""
        with self._lock:
            self._all.threads.discard(current_thread())
            self._go_on()

    def release(self, task_token: str) -> None:
        """Nobody works on this task: the clock need not wait for its answer."""
        with self._lock:
            self._all.tasks.discard(task_token)
            self._go_on()

    def close(self) -> None:
        """Answers every poll, now and from now on, at once, and ends every `sleep`."""
        with self._lock:
            self._is_closed = True
            self._waiting.release()
            self._all.wake_all()

    # --- what happens by itself -------------------------------------------------------------

    def _changed(self) -> None:
        with self._lock:
            self._go_on()

    def _go_on(self) -> None:
        """Hands out what there is, and lets time pass if nothing else can happen."""
        if self._goes_on or self._is_closed:
            return
        self._goes_on = True
        try:
            self.engine.tick()
            self._follow()
            while self._jump():
                self._follow()
        finally:
            self._goes_on = False

    def _jump(self) -> bool:
        """Moves the clock to what is due next, unless somebody may do something before that."""
        if not (self.autojump and isinstance(self.engine.clock, VirtualClock) and self._all.is_idle()):
            return False
        due = self._next_due()
        if due == math.inf:
            return False
        self.engine.advance_to(due)
        return True

    def _follow(self) -> None:
        """Wakes whoever has reason to."""
        self._waiting.hand_out()
        self._all.wake(self.now())

    def _next_due(self) -> float:
        """Epoch seconds of what is due next, in the engine or for a thread that sleeps."""
        due = self.engine.next_due()
        return min(math.inf if due is None else due, self._all.next_due())

    def _nap(self) -> float:
        """Seconds after which a thread that waits looks again though nobody woke it."""
        if isinstance(self.engine.clock, VirtualClock):
            return _LOOK_AGAIN
        return max(0.0, min(self._next_due() - self.now(), 1.0))

"""Signals of one run: queued by name until received, or handed to a handler in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from attrs import define

from flowpy.declare.signature import Signature
from flowpy.errors import PayloadNotDecodable
from flowpy.runtime.plain import call
from flowpy.runtime.promise import RunPromise
from flowpy.runtime.timers import timer_refused

if TYPE_CHECKING:
    from contextvars import Context

    from flowpy.declare.signals import Signal
    from flowpy.replay.entities import Timer
    from flowpy.runtime.run import Run


@define
class Received:
    """A signal as it arrived.

    Attributes:
        number: Its number among all signals of the run, from 1: the ``n`` of its handler's path.
        name: The signal's name.
        input: Its payload, opened, or None.
        event_id: The WorkflowExecutionSignaled event, 0 if it was carried over by continue-as-new.
        raw: The text received, which a continued run is given: as it was encoded, or kept in a store.
    """

    number: int
    name: str
    input: str | None
    event_id: int = 0
    raw: str | None = None


@define
class _Handler:
    signal: Signal[Any]
    function: Callable[..., Any]
    takes_value: bool


class SignalBox:
    """What arrived and was not received, who waits, and who handles."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._count = 0
        self._queues: dict[str, deque[Received]] = {}
        self._waiting: dict[str, deque[ReceiveCall]] = {}
        self._handlers: dict[str, _Handler] = {}
        self.undecodable = 0

    # --- arriving ---------------------------------------------------------------------------

    def arrive(self, name: str, input: str | None, event_id: int = 0, *, raw: str | None = None) -> None:
        """A signal came: it goes to the handler, to the first who waits, or into the queue."""
        self._count += 1
        received = Received(self._count, name, input, event_id, input if raw is None else raw)
        handler = self._handlers.get(name)
        if handler is not None:
            self._handle(handler, received)
            return
        waiting = self._waiting.get(name)
        while waiting:
            if waiting.popleft().take(received):
                return
        self._queues.setdefault(name, deque()).append(received)

    def give_back(self, received: Received) -> None:
        """A value that its receiver never got: it is the next one again."""
        waiting = self._waiting.get(received.name)
        while waiting:
            if waiting.popleft().take(received):
                return
        self._queues.setdefault(received.name, deque()).appendleft(received)

    @property
    def queued(self) -> int:
        """How many nobody has received yet."""
        return sum(map(len, self._queues.values()))

    def unreceived(self) -> list[Received]:
        """Everything that nobody received, in order of arrival."""
        return sorted((r for queue in self._queues.values() for r in queue), key=lambda received: received.number)

    # --- receiving --------------------------------------------------------------------------

    def receive(self, signal: Signal[Any], timeout: int | None) -> RunPromise[Any]:
        """The promise of the next value of a signal."""
        timer_id = self._run.timers.take_id("Signal.receive(timeout=...)") if timeout is not None else None
        receive = ReceiveCall(self._run, signal)
        queue = self._queues.get(signal.name)
        if queue:
            receive.take(queue.popleft())
        else:
            if timer_id is not None:
                assert timeout is not None
                receive.timer = self._run.timers.start(timer_id, timeout, receive)
            self._waiting.setdefault(signal.name, deque()).append(receive)
        return receive.promise

    def forget(self, receive: ReceiveCall, name: str) -> None:
        """A call that waited for a signal has ended without one."""
        waiting = self._waiting.get(name)
        if waiting and receive in waiting:
            waiting.remove(receive)

    def set_handler(self, signal: Signal[Any], function: Callable[..., Any]) -> None:
        """Hand queued values, and those to come, to a function, each in a task of its own."""
        handler = self._handlers[signal.name] = _Handler(signal, function, bool(Signature.of(function).positional))
        queue = self._queues.pop(signal.name, None)
        for received in queue or ():
            self._handle(handler, received)

    def _handle(self, handler: _Handler, received: Received) -> None:
        run = self._run
        try:
            value = run.converter.decode(received.input, handler.signal.type)
        except PayloadNotDecodable as error:
            self.undecodable += 1
            run.log_warning(f"signal {received.name} (number {received.number}) was dropped by its handler: {error}")
            return
        args = (value,) if handler.takes_value else ()
        coroutine = call(handler.function, iscoroutinefunction(handler.function), args, {})
        context: Context = run.base_context.copy()
        task = run.loop.spawn(
            coroutine, path=f"s{received.number}.", context=context, name=f"handler of signal {received.name}"
        )
        task.add_done_callback(run.handler_ended, context=context)


class ReceiveCall:
    """A call of ``Signal.receive``."""

    def __init__(self, run: Run, signal: Signal[Any]) -> None:
        self._run = run
        self._signal = signal
        self._received: Received | None = None
        self.timer: Timer | None = None
        self.promise: RunPromise[Any] = RunPromise.of(run.loop, self)

    def take(self, received: Received) -> bool:
        """Take a value. Returns False if nobody waits any more."""
        if self.promise.done():
            return False
        self._stop_timer()
        # A value that several wait for reaches one of them even if another is cancelled.
        if self.promise.waiters() <= 1:
            self._received = received
        try:
            value = self._run.converter.decode(received.input, self._signal.type)
        except PayloadNotDecodable as error:
            message = f"signal {received.name}, event {received.event_id}: {error}"
            self.promise.set_exception(PayloadNotDecodable(message))
        else:
            self.promise.set_result(value)
        return True

    def give_back(self) -> None:
        """The code that waited was cancelled before it saw the value."""
        received, self._received = self._received, None
        if received is not None:
            self._run.signals.give_back(received)

    def fired(self, _attributes: dict[str, Any], _event: dict[str, Any]) -> None:
        """TimerFired: the time is over."""
        self._ended()
        if not self.promise.done():
            self.promise.set_exception(TimeoutError(f"no signal {self._signal.name} arrived in time"))

    def refused(self, attributes: dict[str, Any], event: dict[str, Any]) -> None:
        """StartTimerFailed: the timeout cannot be kept."""
        self._ended()
        if not self.promise.done():
            self.promise.set_exception(timer_refused(attributes, event))

    def cancel(self) -> bool:
        """Wait no longer."""
        self._stop_timer()
        self._ended()
        return True

    def detach(self) -> None:
        """Nothing: the close does not wait for signals."""

    def _ended(self) -> None:
        """Nobody waits any more: a run that asks again and again must not keep what it asked before."""
        self.timer = None
        self._run.signals.forget(self, self._signal.name)

    def _stop_timer(self) -> None:
        if self.timer is not None:
            self._run.timers.cancel(self.timer)
            self.timer = None

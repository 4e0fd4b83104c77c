"""The engine: SWF's operations on a state in memory and a clock that is passed in."""

from __future__ import annotations

from collections import deque
from threading import RLock
from typing import Any

from flowpy.errors import ServiceError
from flowpy.local.engine import closing, faults
from flowpy.local.engine.clock import Clock, VirtualClock
from flowpy.local.engine.dispatch import DEADLINES, EFFECTS, OPERATIONS
from flowpy.local.engine.quotas import Quotas
from flowpy.local.engine.state import Effect
from flowpy.local.engine.world import World

__all__ = ["Engine"]


def _copied(value: Any) -> Any:
    """A copy without the members that are None, which SWF takes as absent."""
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items() if member is not None}
    if isinstance(value, list | tuple):
        return [_copied(member) for member in value]
    return value


class Engine:
    """Amazon SWF in memory.

    It has the method ``call`` of a service, so whatever talks to SWF through one can talk to it. Polls return at once.
    Time is what the clock says: what is due happens, in order, at the begin of the next call, or in `advance`.

    Args:
        clock: Tells the time; default a `VirtualClock`.
        quotas: SWF's limits.
        seed: Decides the runIds, so that the same calls give the same histories.

    Attributes:
        hold_effects: While True, what SWF does a moment later (child starts, deliveries, cancels of unstarted
            activities, Lambda starts, child policies, reports to parents) is left to `settle` and `run_effect`.
    """

    def __init__(self, clock: Clock | None = None, quotas: Quotas | None = None, *, seed: str = "") -> None:
        self.clock: Clock = clock if clock is not None else VirtualClock()
        self.world = World(quotas or Quotas(), seed, self.clock.now())
        self.hold_effects = False
        self._lock = RLock()

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answers one request.

        Args:
            operation: SWF's name of it, such as ``StartWorkflowExecution``.
            request: As boto3's keyword arguments.

        Returns:
            As boto3's result, without ResponseMetadata.

        Raises:
            ServiceError: The fault SWF would answer with; nothing has changed.
        """
        with self._lock:
            self._tick()
            try:
                if operation not in OPERATIONS:
                    raise faults.unknown_operation(operation)
                answer = OPERATIONS[operation](self.world, _copied(request))
            except ServiceError as error:
                error.operation = operation
                raise
            self._prune()
            result: dict[str, Any] = _copied(answer)
            return result

    # --- time -------------------------------------------------------------------------------

    def next_due(self) -> float | None:
        """Epoch seconds at which something will happen by itself, None if nothing will."""
        with self._lock:
            if self.world.effects and not self.hold_effects:
                return self.world.now
            deadline = self.world.deadlines.first(self.world.runs)
            return None if deadline is None else deadline.at

    def advance(self, seconds: float) -> None:
        """Moves a virtual clock on; all that falls due in between happens at its time, in order."""
        self.advance_to(self.clock.now() + seconds)

    def advance_to(self, at: float) -> None:
        """Moves a virtual clock to epoch second `at`."""
        if not isinstance(self.clock, VirtualClock):
            raise TypeError("only an engine on a VirtualClock can be advanced; other clocks advance by themselves")
        with self._lock:
            self.clock.move_to(at)
            self._tick()

    def _tick(self) -> None:
        """All that should have happened by now happens, each at its time."""
        until = max(self.world.now, self.clock.now())
        self._settle_unless_held()
        while (deadline := self.world.deadlines.first(self.world.runs)) is not None and deadline.at <= until:
            run = self.world.runs[deadline.run_id]
            self.world.now = max(self.world.now, deadline.at)
            self.world.deadlines.cancel(run, deadline.kind, deadline.event_id)
            DEADLINES[deadline.kind](self.world, run, deadline.event_id)
            self._prune()
            self._settle_unless_held()
        self.world.now = until

    # --- what follows by itself -------------------------------------------------------------

    @property
    def pending_effects(self) -> list[Effect]:
        """What will happen next by itself, oldest first."""
        with self._lock:
            return list(self.world.effects)

    def settle(self) -> int:
        """Lets all that follows by itself happen, what follows from that too; gives how much it was."""
        with self._lock:
            done = 0
            while self.world.effects:
                self.run_effect(0)
                done += 1
            return done

    def run_effect(self, position: int = 0) -> None:
        """Lets one of `pending_effects` happen."""
        with self._lock:
            effect = self.world.effects[position]
            del self.world.effects[position]
            run = self.world.runs.get(effect.run_id)
            if run is not None:
                EFFECTS[effect.kind](self.world, run, effect.event_id, effect.cause)
            self._prune()

    def _settle_unless_held(self) -> None:
        if not self.hold_effects:
            self.settle()

    def _prune(self) -> None:
        """Terminates executions whose history the last transaction filled."""
        while self.world.overgrown:
            run = self.world.runs[self.world.overgrown.pop()]
            if run.is_open:
                closing.outgrow(self.world, run)

    # --- faults for tests -------------------------------------------------------------------

    def refuse(self, decision_type: str, cause: str, times: int = 1) -> None:
        """Makes the next decisions of a type fail.

        Args:
            decision_type: Such as ``StartTimer``.
            cause: Of the failure event, such as ``TIMER_CREATION_RATE_EXCEEDED``.
            times: How many.
        """
        with self._lock:
            self.world.refusals.setdefault(decision_type, deque()).extend([cause] * times)

"""The engine: SWF's operations on a state, a clock that is passed in and a store that keeps what happened."""

from __future__ import annotations

from collections import deque
from datetime import datetime
from typing import Any, Final

from attrs import frozen

from flowpy.errors import ServiceError
from flowpy.local.engine import closing, faults, lambda_functions
from flowpy.local.engine.buckets import Throttle
from flowpy.local.engine.clock import Clock, VirtualClock
from flowpy.local.engine.decisions import check_closes
from flowpy.local.engine.dispatch import DEADLINES, EFFECTS, OPERATIONS
from flowpy.local.engine.quotas import Quotas
from flowpy.local.engine.started import is_started
from flowpy.local.engine.state import ActivityTask, Effect, Events, Execution
from flowpy.local.engine.store import MemoryStore, Store
from flowpy.local.engine.throttling import admit
from flowpy.local.engine.transactions import Transactions
from flowpy.local.engine.validation import check
from flowpy.local.engine.world import LambdaHandler, World

__all__ = ["Engine"]


_SCALARS: Final = frozenset({str, int, bool, float, datetime})


def _copied(value: Any) -> Any:
    """A copy without the members that are None, which SWF takes as absent."""
    if isinstance(value, dict):
        return {
            name: member if type(member) in _SCALARS else _copied(member)
            for name, member in value.items()
            if member is not None
        }
    if isinstance(value, list | tuple):
        return [_copied(member) for member in value]
    return value


@frozen
class _Disruption:
    error: ServiceError
    after: bool


class Engine(Transactions):
    """Amazon SWF in this process.

    It has the method ``call`` of a service, so whatever talks to SWF through one can talk to it. Polls return at once.
    Time is what the clock says: what is due happens, in order, at the begin of the next call, or in `advance`.

    Args:
        clock: Tells the time; default a `VirtualClock`.
        quotas: SWF's limits.
        seed: Decides the runIds, so that the same calls give the same histories.
        wake_between: True schedules the decision task that a failed decision asks for straight after it; False after
            the last decision of the answer, as recorded from the service.
        store: Keeps the state, so that an engine made later goes on where this one ended; default none, the state is
            in memory. What a call changed is kept before it is answered; what fell due while no engine ran happens at
            its time, in order, at the begin of the first call. A call that a Lambda handler makes is kept with the
            call that the handler runs in.
        region: The AWS region that ARNs name.
        throttle: ``Throttle()`` for the service's own throttling; default none, every call comes through.

    Attributes:
        hold_effects: While True, what SWF does a moment later (child starts, deliveries, cancels of unstarted
            activities, Lambda starts, child policies, reports to parents) is left to `settle` and `run_effect`.
        on_change: Called with nothing after a call or an advance that left something new to poll for; for pollers that
            wait. It is called outside the engine's lock, on the thread that made the call.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        quotas: Quotas | None = None,
        *,
        seed: str = "",
        wake_between: bool = False,
        region: str = "us-east-1",
        store: Store | None = None,
        throttle: Throttle | None = None,
    ) -> None:
        clock = clock if clock is not None else VirtualClock()
        world = World(
            quotas or Quotas(), seed, clock.now(), wake_between=wake_between, region=region, throttle=throttle
        )
        super().__init__(clock, world, store if store is not None else MemoryStore())
        self.hold_effects = False
        self._disruptions: dict[str, deque[_Disruption]] = {}

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
        with self._exclusively():
            result: dict[str, Any] = _copied(self._perform(operation, request))
            return result

    def call_shared(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answers one request as `call` does, but with the engine's own structures: to be written out, not changed.

        A long history costs several times less than its copy.
        """
        with self._exclusively():
            return self._perform(operation, request)

    def _perform(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self._tick()
        try:
            return self._answer(operation, _copied(request))
        except ServiceError as error:
            error.operation = operation
            raise

    def _answer(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation not in OPERATIONS:
            raise faults.unknown_operation(operation)
        disruptions = self._disruptions.get(operation)
        disruption = disruptions.popleft() if disruptions else None
        if disruption is not None and not disruption.after:
            raise disruption.error
        if operation == "RespondDecisionTaskCompleted":
            check_closes(request.get("decisions"))
        check(operation, request)
        admit(self.world, operation, request)
        answer = OPERATIONS[operation](self.world, request)
        self._prune()
        if disruption is not None:
            raise disruption.error
        return answer

    def has_task(self, operation: str, domain: str, task_list: str) -> bool:
        """Whether this poll would find a task now; unlike a call it does not look at the clock.

        Args:
            operation: ``PollForDecisionTask`` or ``PollForActivityTask``.
            domain: Name of the domain.
            task_list: Name of the task list.
        """
        with self._exclusively():
            decides = operation == "PollForDecisionTask"
            lists = self.world.decision_lists if decides else self.world.activity_lists
            return lists.count(domain, task_list) > 0

    def task_lists(self, domain: str) -> list[tuple[str, str, int]]:
        """The task lists of a domain that have tasks: ``"decision"`` or ``"activity"``, name, how many tasks wait."""
        kinds = (("decision", self.world.decision_lists), ("activity", self.world.activity_lists))
        with self._exclusively():
            return [(kind, name, count) for kind, lists in kinds for name, count in lists.counts(domain).items()]

    def awaits(self, task_token: str) -> bool:
        """Whether a task that was handed out is still to be answered; False if it timed out or its execution closed."""
        with self._exclusively():
            return is_started(self.world, task_token)

    # --- time -------------------------------------------------------------------------------

    def next_due(self) -> float | None:
        """Epoch seconds at which something will happen by itself, None if nothing will."""
        with self._exclusively():
            if self.world.effects and not self.hold_effects:
                return self.world.now
            deadline = self.world.deadlines.first()
            return None if deadline is None else deadline.at

    def tick(self) -> None:
        """Lets all happen that is due by now, on whatever clock."""
        with self._exclusively():
            self._tick()

    def advance(self, seconds: float) -> None:
        """Moves a virtual clock on; all that falls due in between happens at its time, in order."""
        self.advance_to(self.clock.now() + seconds)

    def advance_to(self, at: float) -> None:
        """Moves a virtual clock to epoch second `at`."""
        if not isinstance(self.clock, VirtualClock):
            raise TypeError("only an engine on a VirtualClock can be advanced; other clocks advance by themselves")
        with self._exclusively():
            self.clock.move_to(at)
            self._tick()

    def _tick(self) -> None:
        """All that should have happened by now happens, each at its time."""
        until = max(self.world.now, self.clock.now())
        self._settle_unless_held()
        while (deadline := self.world.deadlines.first()) is not None and deadline.at <= until:
            run = self.world.runs[deadline.run_id]
            self.world.now = max(self.world.now, deadline.at)
            self.world.deadlines.cancel(run, deadline.kind, deadline.event_id)
            DEADLINES[deadline.kind](self.world, run, deadline.event_id)
            self._prune()
            self._settle_unless_held()
        self.world.now = until
        self.world.forget()

    # --- what follows by itself -------------------------------------------------------------

    @property
    def pending_effects(self) -> list[Effect]:
        """What will happen next by itself, oldest first."""
        with self._exclusively():
            return list(self.world.effects)

    def settle(self) -> int:
        """Lets all that follows by itself happen, what follows from that too; gives how much it was."""
        with self._exclusively():
            return self._settle()

    def run_effect(self, position: int = 0) -> None:
        """Lets one of `pending_effects` happen."""
        with self._exclusively():
            self._run_effect(position)

    def _run_effect(self, position: int) -> None:
        effect = self.world.effects[position]
        del self.world.effects[position]
        self.world.changes.end_effect(effect)
        run = self.world.runs.get(effect.run_id)
        if run is not None:
            EFFECTS[effect.kind](self.world, run, effect.event_id, effect.cause)
        self._prune()

    def _settle(self) -> int:
        done = 0
        while self.world.effects:
            self._run_effect(0)
            done += 1
        return done

    def _settle_unless_held(self) -> None:
        if not self.hold_effects:
            self._settle()

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
        with self._exclusively():
            self.world.refusals.setdefault(decision_type, deque()).extend([cause] * times)

    def disrupt(self, operation: str, error: ServiceError, *, times: int = 1, after: bool = False) -> None:
        """Makes the next calls of an operation fail.

        Args:
            operation: Such as ``RespondDecisionTaskCompleted``.
            error: What they raise.
            times: How many.
            after: True lets the call take effect before it fails, as when the answer is lost.
        """
        with self._exclusively():
            self._disruptions.setdefault(operation, deque()).extend([_Disruption(error, after)] * times)

    def withhold(self, run_id: str, activity_id: str) -> None:
        """Takes an activity task off its list, as if no worker polled there: nobody is given it.

        Raises:
            UnknownResource: No such activity is open.
        """
        with self._exclusively():
            run = self._run(run_id)
            task = self._activity(run, activity_id)
            key = (run_id, task.scheduled_event_id)
            self.world.activity_lists.remove(run.domain, task.task_list, key)

    def sustain(self, run_id: str, activity_id: str) -> None:
        """Takes the heartbeats of a started activity task for granted until one is recorded again.

        A month of heartbeats costs nothing so.

        Raises:
            UnknownResource: No such activity is open.
        """
        with self._exclusively():
            run = self._run(run_id)
            scheduled = self._activity(run, activity_id).scheduled_event_id
            self.world.touch(run, scheduled)
            self.world.deadlines.cancel(run, "activity.HEARTBEAT", scheduled)

    @staticmethod
    def _activity(run: Execution, activity_id: str) -> ActivityTask:
        task = run.activity_of(activity_id)
        if task is None:
            raise faults.unknown_task("activity", 0)
        return task

    # --- Lambda -----------------------------------------------------------------------------

    def on_lambda(self, name: str, handler: LambdaHandler | None) -> None:
        """Says what a Lambda function does; one of which nothing was said fails with ResourceNotFoundException.

        Args:
            name: The function's name or ARN, as decisions give it; "*" stands for all that are not named.
            handler: Gets the input text and returns the result, text or anything JSON can hold; what it raises is the
                failure. None leaves the function running until `complete_lambda`, `fail_lambda` or its timeout.
        """
        with self._exclusively():
            self.world.lambda_functions[name] = handler

    def complete_lambda(self, run_id: str, scheduled_event_id: int, result: str) -> None:
        """Ends a running Lambda function with a result.

        Raises:
            UnknownResource: No such function runs.
        """
        with self._exclusively():
            self._tick()
            lambda_functions.complete(self.world, self._run(run_id), scheduled_event_id, result)

    def fail_lambda(self, run_id: str, scheduled_event_id: int, reason: str, details: str = "{}") -> None:
        """Ends a running Lambda function with a failure.

        Raises:
            UnknownResource: No such function runs.
        """
        with self._exclusively():
            self._tick()
            lambda_functions.fail(self.world, self._run(run_id), scheduled_event_id, reason, details)

    # --- looking ----------------------------------------------------------------------------

    def events(self, run_id: str) -> Events:
        """The history of an execution: not a copy, so it grows, and in memory outlives the retention period.

        Raises:
            UnknownResource: There is no such execution.
        """
        with self._exclusively():
            return self._run(run_id).events

    def _run(self, run_id: str) -> Execution:
        run = self.world.runs.get(run_id)
        if run is None:
            raise faults.unknown_execution("", run_id)
        return run

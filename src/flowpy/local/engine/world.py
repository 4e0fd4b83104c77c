"""The whole state of one engine, and the few things every transition does with it."""

from __future__ import annotations

import base64
import hashlib
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from attrs import define, field

from flowpy.local.engine import faults
from flowpy.local.engine.buckets import Throttle
from flowpy.local.engine.changes import Changes
from flowpy.local.engine.deadlines import Deadlines
from flowpy.local.engine.event import Event
from flowpy.local.engine.quotas import Quotas
from flowpy.local.engine.runs import MemoryRuns, Runs
from flowpy.local.engine.state import ActivityTask, DecisionTask, Domain, Effect, Execution, attributes_key
from flowpy.local.engine.task_lists import TaskLists

__all__ = ["LambdaHandler", "World", "timestamp"]

LambdaHandler = Callable[[str], Any]
"""Gets the input text ("{}" if there was none), returns the result: text, or anything JSON can hold."""

_ACTIVITY_TASK_EVENTS: Final = "ActivityTask"


def timestamp(epoch: float) -> datetime:
    """Epoch seconds as SWF gives them: UTC, whole milliseconds."""
    return datetime.fromtimestamp(round(epoch, 3), UTC)


@define(eq=False)
class World:
    """Everything the engine knows.

    Attributes:
        quotas: The limits in force.
        seed: Decides the runIds; the same calls on the same seed give the same ids.
        now: Epoch seconds of the transaction under way.
        domains: By name.
        runs: Executions by runId.
        decision_lists: Where decision tasks wait.
        activity_lists: Where activity tasks wait.
        deadlines: What is due when.
        effects: What happens next by itself.
        refusals: Causes to refuse the next decisions of a type with.
        lambda_functions: Handlers by function name.
        deciding: The execution whose decisions are being applied: their decision task is scheduled after the last.
        wake_between: Schedule it straight after the decision that failed instead, which SWF does not promise not to do.
        region: The AWS region that ARNs name.
        throttle: SWF's throttling, None for none.
        stirred: Whether there is something new to poll for, or something that happens by itself.
        overgrown: runIds whose history reached the quota in this transaction.
        changes: What the transaction under way has touched.
        run_count: How many runIds have been made.
        effect_count: How many effects there have been.
    """

    quotas: Quotas = field(factory=Quotas)
    seed: str = ""
    now: float = 0.0
    domains: dict[str, Domain] = field(factory=dict)
    runs: Runs = field(factory=MemoryRuns)
    decision_lists: TaskLists = field(factory=TaskLists)
    activity_lists: TaskLists = field(factory=TaskLists)
    deadlines: Deadlines = field(factory=Deadlines)
    effects: deque[Effect] = field(factory=deque)
    refusals: dict[str, deque[str]] = field(factory=dict)
    lambda_functions: dict[str, LambdaHandler | None] = field(factory=dict)
    deciding: Execution | None = None
    wake_between: bool = False
    region: str = "us-east-1"
    throttle: Throttle | None = None
    stirred: bool = False
    overgrown: set[str] = field(factory=set)
    changes: Changes = field(factory=Changes)
    run_count: int = 0
    effect_count: int = 0

    def domain(self, name: str) -> Domain:
        """The domain of this name.

        Raises:
            UnknownResource: There is none.
        """
        domain = self.domains.get(name)
        if domain is None:
            raise faults.unknown_domain(name)
        return domain

    def find_open(self, domain: Domain, workflow_id: str, run_id: str | None) -> Execution | None:
        """The open execution of this workflowId, and of this runId if one is given."""
        found = domain.open_runs.get(workflow_id)
        if found is None or (run_id and run_id != found):
            return None
        return self.runs[found]

    def new_run_id(self) -> str:
        """A runId of the form the service gives: two digits and the base64 of 32 bytes."""
        self.run_count += 1
        digest = hashlib.sha256(f"{self.seed}/{self.run_count}".encode()).digest()
        return f"22{base64.b64encode(digest).decode()}"

    def append(self, run: Execution, event_type: str, attributes: dict[str, Any]) -> int:
        """Adds an event to a history, without those of its attributes that are None; gives its id."""
        self.changes.runs[run.run_id] = run
        event_id = len(run.events) + 1
        run.events.append(
            Event(
                {
                    "eventTimestamp": timestamp(self.now),
                    "eventType": event_type,
                    "eventId": event_id,
                    attributes_key(event_type): {
                        name: value for name, value in attributes.items() if value is not None
                    },
                }
            )
        )
        if event_type.startswith(_ACTIVITY_TASK_EVENTS):
            run.latest_activity = self.now
        if event_id >= self.quotas.events:
            self.overgrown.add(run.run_id)
        return event_id

    def offer_decision(self, run: Execution, task: DecisionTask) -> None:
        """Puts a decision task where pollers find it; one that had a place gets it back."""
        key = (run.run_id, task.scheduled_event_id)
        task.place = self.decision_lists.put(run.domain, task.task_list, key, run.priority, task.place)
        self.stirred = True

    def offer_activity(self, run: Execution, task: ActivityTask) -> None:
        """Puts an activity task where pollers find it; one that had a place gets it back."""
        key = (run.run_id, task.scheduled_event_id)
        task.place = self.activity_lists.put(run.domain, task.task_list, key, task.priority, task.place)
        self.stirred = True

    def later(self, kind: str, run: Execution, event_id: int, cause: str = "") -> None:
        """Leaves something to be done in a later transaction."""
        self.effect_count += 1
        effect = Effect(kind, run.run_id, event_id, cause, self.effect_count)
        self.effects.append(effect)
        self.changes.add_effect(effect)
        self.stirred = True

    def touch(self, run: Execution, event_id: int) -> None:
        """What that event of an execution opened is new, changes or closes."""
        self.changes.runs[run.run_id] = run
        self.changes.open.add((run.run_id, event_id))

    def retain(self, run: Execution) -> None:
        """Keeps a closed execution for as long as its domain says."""
        days = self.domains[run.domain].retention
        keep = 0 if days == "NONE" else int(days) * 86_400
        run.expires = self.now + keep
        self.runs.retain(run, run.expires)

    def forget(self) -> None:
        """Drops the closed executions that have been kept long enough."""
        self.runs.forget(self.now, lambda run_id: any(effect.run_id == run_id for effect in self.effects))

    def set_deadline(self, run: Execution, kind: str, event_id: int, duration: int | None) -> None:
        """Sets a deadline that many seconds from now; None sets none."""
        if duration is not None:
            self.deadlines.set(run, kind, event_id, self.now + duration)

    def refusal(self, decision_type: str) -> str:
        """The cause with which a test or the throttle wants the next decision of this type refused, or ""."""
        causes = self.refusals.get(decision_type)
        if causes:
            return causes.popleft()
        return self.throttle.refusal(decision_type, self.now) if self.throttle is not None else ""

"""One run on the in-memory service, decided when the test says so.

::

    run = Driver(order, "o-7")
    assert run.decide() == ["ScheduleActivityTask charge-1"]
    run.complete("charge-1", "r-1")
    assert run.decide() == ['CompleteWorkflowExecution "r-1"']

Every decision task is decided by a decider that has never seen the run, and by one that keeps it in memory; the two
must decide the same. ``finished()`` also replays the whole history.
"""

from __future__ import annotations

import json
from typing import Any

from flowpy.errors import UnknownResource
from flowpy.local.engine import Engine, VirtualClock, check_history
from flowpy.runtime.decider import Answer, Decider, DecisionTask
from flowpy.runtime.replaying import replay_history
from flowpy.runtime.run import Run

NOON = 1_767_268_800.0
_POLL = {"domain": "shop", "taskList": {"name": "list"}}
_IDS = ("activityId", "timerId", "control", "id", "workflowId")


MADE: list[Driver] = []
"""Drivers whose runs are to leave memory after the test."""


class Driver:
    """One run of a workflow.

    Args:
        workflow: The declared workflow.
        *args: Its arguments.
        uses: Activities and workflows that it calls, to be registered.
        **options: Further arguments of StartWorkflowExecution.
    """

    def __init__(self, workflow: Any, *args: Any, uses: tuple[Any, ...] = (), **options: Any) -> None:
        self.workflow = workflow
        self.engine = Engine(VirtualClock(NOON))
        self.taken: dict[str, dict[str, Any]] = {}
        self._begun: list[dict[str, Any]] = []
        self._others: list[dict[str, Any]] = []
        self.context: str | None = None
        self.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")
        for each in (workflow, *uses):
            kind = "Workflow" if hasattr(each, "is_class") else "Activity"
            named = {"name": each.name, "version": each.version}
            self.call(f"Register{kind}Type", domain="shop", **named, **each.registered.defaults("list"))
        type_ = {"name": workflow.name, "version": workflow.version}
        start = {"domain": "shop", "workflowId": "w", "workflowType": type_, "input": json.dumps(args), **options}
        self.run_id = self.call("StartWorkflowExecution", **start)["runId"]
        self._warm: Run | None = None
        MADE.append(self)

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.engine.call(operation, request)

    # --- the decider ------------------------------------------------------------------------

    def decide(self) -> list[str]:
        """Decide the decision task that waits; gives what was decided, [] if none waits."""
        task = self.begin()
        return [] if task is None else self.answer(task)

    def begin(self) -> dict[str, Any] | None:
        """Begin the decision task that waits; ``answer`` is to follow."""
        self._poll()
        return self._begun.pop(0) if self._begun else None

    def _poll(self) -> None:
        """Begin all decision tasks that wait, those of children too."""
        while (task := self.call("PollForDecisionTask", **_POLL))["startedEventId"]:
            while token := task.get("nextPageToken"):
                page = self.call("PollForDecisionTask", **_POLL, nextPageToken=token)
                task = {**page, "events": task["events"] + page["events"]}
            mine = task["workflowExecution"]["runId"] == self.run_id
            (self._begun if mine else self._others).append(task)

    def answer(self, task: dict[str, Any]) -> list[str]:
        answer = self.answered(task)
        self.context = answer.execution_context
        context = {} if self.context is None else {"executionContext": self.context}
        token = task["taskToken"]
        self.call("RespondDecisionTaskCompleted", taskToken=token, decisions=answer.decisions, **context)
        return [told(decision) for decision in answer.decisions]

    def answered(self, task: dict[str, Any]) -> Answer:
        """What would be answered."""
        events, type_ = task["events"], (self.workflow.name, self.workflow.version)
        answer = Decider([self.workflow]).decide(DecisionTask("w", self.run_id, type_, events, domain="shop"))
        if self._warm is None:
            self._warm = Run(self.workflow, "w", self.run_id, domain="shop")
        self._warm.feed(events[self._warm.episodes.last_event_id :])
        assert Answer(*self._warm.answer()) == answer
        return answer

    def close_child(self, how: str, **attributes: Any) -> None:
        """A child that was begun ends with a closing decision."""
        decision = {"decisionType": how, f"{how[0].lower()}{how[1:]}DecisionAttributes": attributes}
        self._poll()
        while self._others:
            # What came meanwhile has to be seen before it may close: the first answer may be refused.
            token = self._others.pop()["taskToken"]
            self.call("RespondDecisionTaskCompleted", taskToken=token, decisions=[decision])
            self._poll()

    def lose(self) -> None:
        """The decision task that was begun times out."""
        self.forget()
        self.engine.advance(30)

    def forget(self) -> None:
        """The run leaves memory."""
        if self._warm is not None:
            self._warm.evict()
        self._warm = None

    # --- what happens -----------------------------------------------------------------------

    def take(self) -> list[str]:
        """A worker takes all activities that wait; gives the ids of all it has."""
        while (task := self.call("PollForActivityTask", domain="shop", taskList={"name": "list"}))["startedEventId"]:
            self.taken[task["activityId"]] = task
        return list(self.taken)

    def _respond(self, how: str, id: str, **attributes: Any) -> None:
        self.take()
        self.call(f"RespondActivityTask{how}", taskToken=self.taken.pop(id)["taskToken"], **attributes)

    def complete(self, id: str, value: Any = None) -> None:
        self._respond("Completed", id, result=json.dumps(value))

    def fail(self, id: str, reason: str = "Busy: no") -> None:
        self._respond("Failed", id, reason=reason)

    def acknowledge(self, id: str) -> None:
        """A worker says that it has stopped an activity as it was asked to."""
        self._respond("Canceled", id)

    def signal(self, name: str, value: Any = None) -> None:
        run = {"domain": "shop", "workflowId": "w", "runId": self.run_id}
        self.call("SignalWorkflowExecution", **run, signalName=name, input=json.dumps(value))

    def cancel(self) -> None:
        self.call("RequestCancelWorkflowExecution", domain="shop", workflowId="w", runId=self.run_id)

    def advance(self, seconds: float) -> None:
        self.engine.advance(seconds)

    # --- what can be seen -------------------------------------------------------------------

    @property
    def events(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.engine.world.runs[self.run_id].events
        return events

    @property
    def types(self) -> list[str]:
        return [event["eventType"] for event in self.events]

    def last(self, event_type: str) -> dict[str, Any]:
        """The attributes of the last event of a type."""
        found = [event for event in self.events if event["eventType"] == event_type]
        return next(value for name, value in found[-1].items() if name.endswith("EventAttributes"))

    def finished(self) -> Any:
        """The result of the run, after replays of its history; raises RuntimeError if it did not complete."""
        self.forget()
        check_history(self.events)
        for warm in (False, True):
            replay_history(self.workflow, self.events, "w", self.run_id, warm=warm).check()
        if self.types[-1] != "WorkflowExecutionCompleted":
            raise RuntimeError(f"{self.types[-1]}: {self.last(self.types[-1])}")
        return json.loads(self.last("WorkflowExecutionCompleted")["result"])

    def to_the_end(self) -> Any:
        """All activities give 1, all timers fire, until the run closes; gives its result."""
        for _ in range(60):
            self.decide()
            if self.types[-1].startswith("WorkflowExecution") and len(self.types) > 2:
                break
            for id in self.take():
                try:
                    self.complete(id, 1)
                except UnknownResource:
                    continue
            due = self.engine.next_due()
            if "DecisionTaskScheduled" not in self.types[-2:] and due is not None and due < NOON + 1e6:
                self.engine.advance_to(due)
        return self.finished()


def told(decision: dict[str, Any]) -> str:
    """A decision in short: its type, its id, and what it says."""
    kind = decision["decisionType"]
    attributes = decision.get(f"{kind[0].lower()}{kind[1:]}DecisionAttributes", {})
    id = next((attributes[name] for name in _IDS if name in attributes), "")
    said = {
        "StartTimer": attributes.get("startToFireTimeout"),
        "CompleteWorkflowExecution": attributes.get("result"),
        "FailWorkflowExecution": (attributes.get("reason") or "").partition(":")[0],
        "RecordMarker": attributes.get("details"),
    }.get(kind)
    return " ".join(str(part) for part in (kind, id, said) if part)

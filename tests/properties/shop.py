"""A domain of the in-memory service in which programs run, and in which anything may happen at any moment.

Every decision task is decided twice, by a decider that has never seen the run and by a run kept warm, and the two must
see and decide the same; what is sent is remembered, for replays to be compared with.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from attrs import define, field

from flowpy.errors import UnknownResource
from flowpy.history.episodes import HOLD_PREFIX
from flowpy.local.engine import Engine, VirtualClock, check_history
from flowpy.runtime.decider import Answer, Decider, DecisionTask, Workflows
from flowpy.runtime.run import Run

from . import interpreter

NOON = 1_767_268_800.0
DAY = 86_400.0
TASK_TIMEOUT = 30
WORKFLOWS = Workflows([interpreter.walk, interpreter.walk_plain])
ACTIVITIES = (interpreter.work, interpreter.retried, interpreter.expiring)
OTHER = [["recv", "a", None], ["await", 0], ["recv", "b", 30], ["try", [["await", 1]], [], True]]
"""The program of an execution that the others signal and cancel."""


@define
class Sent:
    """What was sent for one decision task."""

    answer: Answer
    trace: list[Any]
    started_event_id: int


@define
class Kept:
    """What is known of one run.

    Attributes:
        accepted: What was sent for the decision tasks that were answered in time.
        warm: The run kept in memory, None after an answer that never arrived.
        warm_trace: What its code has seen.
        warm_decided: The decision task that it decided last.
        holds: How many decision tasks were answered by a worker that did not have the right code.
    """

    accepted: list[Sent] = field(factory=list)
    warm: Run | None = None
    warm_trace: list[Any] = field(factory=list)
    warm_decided: int = 0
    holds: int = 0

    def forget(self) -> None:
        if self.warm is not None:
            self.warm.evict()
        self.warm, self.warm_trace = None, []


class Shop:
    """One domain with one or more runs.

    Args:
        between: Whether the service schedules decision tasks between the events of a transaction.
    """

    def __init__(self, *, between: bool = False) -> None:
        self.engine = Engine(VirtualClock(NOON), wake_between=between)
        self.engine.on_lambda("resize", None)
        self.decider = Decider(WORKFLOWS)
        self.runs: dict[str, Kept] = {}
        self.begun: list[tuple[DecisionTask, Sent]] = []
        self.taken: list[dict[str, Any]] = []
        self.decided = 0
        self.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")
        for workflow in WORKFLOWS:
            named = {"name": workflow.name, "version": workflow.version}
            self.call("RegisterWorkflowType", domain="shop", **named, **workflow.registered.defaults("deciders"))
        for activity in ACTIVITIES:
            named = {"name": activity.name, "version": activity.version}
            self.call("RegisterActivityType", domain="shop", **named, **activity.registered.defaults("workers"))

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.engine.call(operation, request)

    def start(self, program: list[Any], workflow_id: str = "main", workflow: Any = interpreter.walk) -> str:
        answer = self.call(
            "StartWorkflowExecution",
            domain="shop",
            workflowId=workflow_id,
            workflowType={"name": workflow.name, "version": workflow.version},
            input=json.dumps([program]),
        )
        run_id: str = answer["runId"]
        return run_id

    # --- decision tasks ---------------------------------------------------------------------

    def poll(self, _choice: int = 0) -> None:
        """Begin a decision task, if one waits: decided now, answered later or never."""
        task = self.call("PollForDecisionTask", domain="shop", taskList={"name": "deciders"}, maximumPageSize=1000)
        if not task["startedEventId"]:
            return
        events = list(task["events"])
        while token := task.get("nextPageToken"):
            task = self.call("PollForDecisionTask", domain="shop", taskList={"name": "deciders"}, nextPageToken=token)
            events += task["events"]
        self.decided += 1
        decision_task = DecisionTask(
            workflow_id=task["workflowExecution"]["workflowId"],
            run_id=task["workflowExecution"]["runId"],
            workflow_type=(task["workflowType"]["name"], task["workflowType"]["version"]),
            events=events,
            started_event_id=task["startedEventId"],
            previous_started_event_id=task["previousStartedEventId"],
            task_token=task["taskToken"],
            domain="shop",
        )
        self.begun.append((decision_task, self._decide(decision_task)))

    def _decide(self, task: DecisionTask) -> Sent:
        kept = self.runs.setdefault(task.run_id, Kept())
        interpreter.epoch = self.decided
        trace: list[Any] = []
        interpreter.ran.clear()
        interpreter.sink = trace
        answer = self.decider.decide(task)
        before = kept.accepted[-1].trace if kept.accepted else []
        if not marker_lost(task.events):
            assert trace[: len(before)] == before, "a replay sees what the first run saw (L9)"

        interpreter.ran.clear()
        if kept.warm is not None and kept.warm_decided != task.previous_started_event_id:
            # What it decided last timed out.
            kept.forget()
        if kept.warm is None:
            kept.warm = Run(WORKFLOWS.find(*task.workflow_type), task.workflow_id, task.run_id, domain="shop")
        interpreter.sink = kept.warm_trace
        kept.warm.feed(task.events[kept.warm.episodes.last_event_id :])
        kept.warm_decided = task.started_event_id
        warm = Answer(*kept.warm.answer())
        interpreter.sink = None
        if not marker_lost(task.events):
            assert kept.warm_trace == trace, "a run kept warm sees what a cold one sees"
            assert warm == answer, "a run kept warm decides what a cold one decides"
            self._check_context(answer, trace, kept)
        return Sent(answer, trace, task.started_event_id)

    def _check_context(self, answer: Answer, trace: list[Any], kept: Kept) -> None:
        state = next((seen[1] for seen in reversed(trace) if seen[0] == "state"), None)
        before = kept.accepted[-1].trace if kept.accepted else []
        known = next((seen[1] for seen in reversed(before) if seen[0] == "state"), None)
        if answer.execution_context is None:
            assert kept.accepted or kept.holds
            assert known == state, "a changed state is published"
        else:
            context = json.loads(answer.execution_context)
            assert (context["flowpy"], context.get("state")) == (1, state)
            assert not (kept.accepted or kept.holds) or known != state, "the context goes out when it changes"

    def respond(self, choice: int = 0) -> None:
        """Answer one of the decision tasks that are begun, if it is not too late."""
        if not self.begun:
            return
        task, sent = self.begun.pop(choice % len(self.begun))
        kept, answer = self.runs[task.run_id], sent.answer
        context = {} if answer.execution_context is None else {"executionContext": answer.execution_context}
        try:
            self.call("RespondDecisionTaskCompleted", taskToken=task.task_token, decisions=answer.decisions, **context)
        except UnknownResource:
            self._too_late(task, sent)
        else:
            kept.accepted.append(sent)

    def hold(self, choice: int = 0) -> None:
        """A worker that does not have the right code answers one of the decision tasks (CONTRACTS §6)."""
        if not self.begun:
            return
        task, sent = self.begun.pop(choice % len(self.begun))
        kept = self.runs[task.run_id]
        timer = {"timerId": f"{HOLD_PREFIX}{kept.holds + 1}", "startToFireTimeout": "60"}
        decision = {"decisionType": "StartTimer", "startTimerDecisionAttributes": timer}
        context = {} if kept.accepted or kept.holds else {"executionContext": '{"flowpy": 1}'}
        self._too_late(task, sent)
        with suppress(UnknownResource):
            self.call("RespondDecisionTaskCompleted", taskToken=task.task_token, decisions=[decision], **context)
            kept.holds += 1

    def lose(self, _choice: int = 0) -> None:
        """All decision tasks that are begun time out."""
        self.engine.advance(TASK_TIMEOUT)
        for task, sent in self.begun:
            self._too_late(task, sent)
        self.begun.clear()

    def _too_late(self, task: DecisionTask, sent: Sent) -> None:
        kept = self.runs[task.run_id]
        if kept.warm_decided == sent.started_event_id:
            kept.forget()

    # --- work -------------------------------------------------------------------------------

    def take(self, _choice: int = 0) -> None:
        task = self.call("PollForActivityTask", domain="shop", taskList={"name": "workers"})
        if task["startedEventId"]:
            self.taken.append(task)

    def _answer(self, how: str, choice: int, **attributes: Any) -> None:
        if self.taken:
            task = self.taken.pop(choice % len(self.taken))
            # Too late is too late: it timed out, or the run has closed.
            with suppress(UnknownResource):
                self.call(f"RespondActivityTask{how}", taskToken=task["taskToken"], **attributes)

    def complete(self, choice: int) -> None:
        self._answer("Completed", choice, result=str(choice))

    def garble(self, choice: int) -> None:
        self._answer("Completed", choice, result='"text"')

    def fail(self, choice: int) -> None:
        self._answer("Failed", choice, reason=("Busy: come back", "Fatal: no")[choice % 2])

    def cancel(self, choice: int) -> None:
        self._answer("Canceled", choice, details="1")

    def finish_lambda(self, choice: int) -> None:
        running = [
            (run, function)
            for run in self.engine.world.runs.values()
            if run.is_open
            for function in run.lambdas.values()
            if function.started_event_id
        ]
        if running:
            run, function = running[choice % len(running)]
            if choice % 2:
                self.engine.fail_lambda(run.run_id, function.scheduled_event_id, "Busy")
            else:
                self.engine.complete_lambda(run.run_id, function.scheduled_event_id, str(choice))

    # --- what else happens ------------------------------------------------------------------

    def _open(self, choice: int) -> str | None:
        names = sorted(self.engine.world.domains["shop"].open_runs)
        return names[choice % len(names)] if names else None

    def signal(self, choice: int) -> None:
        if workflow_id := self._open(choice // 2):
            name, value = "ab"[choice % 2], ("null" if choice == 5 else str(choice))
            self.call("SignalWorkflowExecution", domain="shop", workflowId=workflow_id, signalName=name, input=value)

    def request_cancel(self, choice: int) -> None:
        if workflow_id := self._open(choice):
            self.call("RequestCancelWorkflowExecution", domain="shop", workflowId=workflow_id)

    def terminate(self, choice: int) -> None:
        if (workflow_id := self._open(choice)) not in (None, "main"):
            self.call("TerminateWorkflowExecution", domain="shop", workflowId=workflow_id)

    def pass_time(self, choice: int) -> None:
        self.engine.advance((0.25, 1, 2, 3, 7, 61)[choice % 6])

    def fall_due(self, _choice: int = 0) -> None:
        due = self.engine.next_due()
        if due is not None and due < self.engine.clock.now() + DAY:
            self.engine.advance_to(due)

    def hold_effects(self, _choice: int = 0) -> None:
        self.engine.hold_effects = True

    def run_effect(self, choice: int) -> None:
        if pending := self.engine.pending_effects:
            self.engine.run_effect(choice % len(pending))

    def settle(self, _choice: int = 0) -> None:
        self.engine.hold_effects = False
        self.engine.settle()

    def refuse(self, choice: int) -> None:
        self.engine.refuse(*REFUSALS[choice % len(REFUSALS)])

    # --- to the end -------------------------------------------------------------------------

    def drain(self) -> None:
        """Let everything go well from now on; at the end every run has closed."""
        self.engine.world.refusals.clear()
        self.settle()
        self.lose()
        for turn in range(400):
            names = self.engine.world.domains["shop"].open_runs
            if not names:
                return
            before = self._size()
            for _ in range(len(names) + 1):
                self.poll()
                self.respond()
            self.take()
            self.complete(turn % 3)
            self.finish_lambda(0)
            if self._size() == before:
                self.fall_due()
            if self._size() == before:
                self._wake_all(turn)
        open_now = {run.workflow_id: _types(run.events)[-12:] for run in self.engine.world.runs.values() if run.is_open}
        raise AssertionError(f"runs that neither end nor wait for anything: {open_now}")

    def _size(self) -> int:
        return sum(len(run.events) for run in self.engine.world.runs.values())

    def _wake_all(self, turn: int) -> None:
        """Nothing but a signal can move the runs that are open: each must be waiting for one."""
        for workflow_id, run_id in list(self.engine.world.domains["shop"].open_runs.items()):
            warm = self.runs[run_id].warm
            assert warm is not None
            box = warm.signals
            waiting = [name for name, calls in box._waiting.items() if any(not c.promise.done() for c in calls)]
            if not waiting and self.engine.world.runs[run_id].children:
                continue
            assert waiting, f"{workflow_id} is open and waits for nothing: {warm.loop.ready} {list(warm.tasks)}"
            waiting = [name for name in waiting if name not in box._handlers]
            if not waiting:
                # A handler takes every signal of that name, so these receives wait for ever.
                self.call("TerminateWorkflowExecution", domain="shop", workflowId=workflow_id)
                continue
            self.call(
                "SignalWorkflowExecution",
                domain="shop",
                workflowId=workflow_id,
                signalName=waiting[0],
                input=str(turn % 3),
            )

    def histories(self) -> list[tuple[Any, Kept]]:
        """All runs that were decided, with what was sent."""
        return [(run, self.runs[run.run_id]) for run in self.engine.world.runs.values() if run.run_id in self.runs]

    def check(self) -> None:
        for run in self.engine.world.runs.values():
            check_history(run.events)

    def forget(self) -> None:
        for kept in self.runs.values():
            kept.forget()


def _types(events: list[dict[str, Any]]) -> list[str]:
    return [event["eventType"] for event in events]


def marker_lost(events: list[dict[str, Any]]) -> bool:
    """Whether a value that code has seen was never recorded: the run fails then."""
    return any(event["eventType"] == "RecordMarkerFailed" for event in events)


REFUSALS = (
    ("ScheduleActivityTask", "ACTIVITY_CREATION_RATE_EXCEEDED"),
    ("StartTimer", "TIMER_CREATION_RATE_EXCEEDED"),
    ("StartChildWorkflowExecution", "CHILD_CREATION_RATE_EXCEEDED"),
    ("SignalExternalWorkflowExecution", "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED"),
    ("RequestCancelExternalWorkflowExecution", "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED"),
    ("ScheduleLambdaFunction", "LAMBDA_FUNCTION_CREATION_RATE_EXCEEDED"),
    ("CompleteWorkflowExecution", "UNHANDLED_DECISION"),
    ("FailWorkflowExecution", "UNHANDLED_DECISION"),
    ("CancelWorkflowExecution", "UNHANDLED_DECISION"),
    ("ContinueAsNewWorkflowExecution", "UNHANDLED_DECISION"),
    ("ContinueAsNewWorkflowExecution", "CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED"),
    ("RecordMarker", "OPERATION_NOT_PERMITTED"),
    ("RequestCancelActivityTask", "OPERATION_NOT_PERMITTED"),
    ("CancelTimer", "OPERATION_NOT_PERMITTED"),
    ("StartChildWorkflowExecution", "WORKFLOW_ALREADY_RUNNING"),
)

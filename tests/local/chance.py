"""Whoever deals with SWF, as hypothesis plays them: operators, deciders, workers, and time.

Every step says what is to be done and not with what engine, so that several engines can be played alike.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import strategies as st

from flowpy.errors import UnknownResource
from flowpy.local.engine import Engine, Quotas, VirtualClock

from .conformance.driver import Driver, decision

IDS = st.sampled_from(["a", "b"])
WORKFLOWS = st.sampled_from(["w", "x", "y", "z"])
PARENTS, CHILDREN = st.sampled_from(["w", "x"]), st.sampled_from(["x", "y", "z"])
SECONDS = st.sampled_from(["0", "3", "9", "NONE"])
FINITE = st.sampled_from(["0", "1", "3"])
LONGER = st.sampled_from(["9", "90", "300"])
POLICIES = st.sampled_from(["TERMINATE", "REQUEST_CANCEL", "ABANDON"])
LISTS = st.sampled_from([{"name": "deciders"}, {"name": "other"}])
PRIORITIES = st.sampled_from(["-1", "0", "7"])
QUOTAS = Quotas(open_activities=2, open_timers=2, open_children=2, open_lambda_functions=2, events=80)


def mostly(name: str) -> st.SearchStrategy[dict[str, str]]:
    """A type, which exists most of the time."""
    drawn = st.integers(0, 4).map(lambda number: "none" if number == 3 else name)
    return drawn.map(lambda name: {"name": name, "version": "1"})


def some(**options: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of these."""
    return st.fixed_dictionaries({}, optional=options)


CONFIG = some(
    childPolicy=POLICIES,
    taskList=LISTS,
    taskPriority=PRIORITIES,
    lambdaRole=st.just("role"),
    taskStartToCloseTimeout=st.sampled_from(["4", "NONE"]),
    executionStartToCloseTimeout=LONGER,
    tagList=st.just(["eu"]),
    input=IDS,
)
DECISIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "ScheduleActivityTask": st.builds(
        dict,
        some(
            heartbeatTimeout=SECONDS,
            startToCloseTimeout=SECONDS,
            scheduleToStartTimeout=SECONDS,
            scheduleToCloseTimeout=SECONDS,
            taskPriority=PRIORITIES,
        ),
        activityId=IDS,
        activityType=mostly("charge"),
    ),
    "RequestCancelActivityTask": st.fixed_dictionaries({"activityId": IDS}),
    "StartTimer": st.fixed_dictionaries({"timerId": IDS, "startToFireTimeout": FINITE}),
    "CancelTimer": st.fixed_dictionaries({"timerId": IDS}),
    "RecordMarker": st.fixed_dictionaries({"markerName": IDS}),
    "StartChildWorkflowExecution": st.builds(dict, CONFIG, workflowId=CHILDREN, workflowType=mostly("order")),
    "SignalExternalWorkflowExecution": st.fixed_dictionaries({"workflowId": WORKFLOWS, "signalName": IDS}),
    "RequestCancelExternalWorkflowExecution": st.fixed_dictionaries({"workflowId": WORKFLOWS}),
    "ScheduleLambdaFunction": st.builds(dict, some(startToCloseTimeout=st.sampled_from(["1", "3"])), id=IDS, name=IDS),
}
CLOSES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "CompleteWorkflowExecution": some(result=IDS),
    "FailWorkflowExecution": some(reason=IDS, details=IDS),
    "CancelWorkflowExecution": some(details=IDS),
    "ContinueAsNewWorkflowExecution": st.builds(dict, CONFIG, workflowTypeVersion=st.sampled_from(["1", "9"])),
}


def drawn(kinds: dict[str, st.SearchStrategy[dict[str, Any]]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        *(attributes.map(lambda said, kind=kind: decision(kind, **said)) for kind, attributes in kinds.items())
    )


WORK = st.lists(drawn(DECISIONS), min_size=1, max_size=5)
CLOSE = drawn(CLOSES).map(lambda close: [close])
ANSWERS = st.one_of(WORK, WORK, CLOSE, st.builds(lambda work, close: work + close, WORK, CLOSE))
OVERRIDES = st.one_of(
    st.just({}),
    some(taskList=LISTS, executionContext=IDS),
    st.fixed_dictionaries({"taskList": LISTS, "taskListScheduleToStartTimeout": st.sampled_from(["2", "NONE"])}),
)
PAGES = some(maximumPageSize=st.integers(1, 4), startAtPreviousStartedEvent=st.booleans(), reverseOrder=st.booleans())


class Chance:
    """All who deal with one engine.

    Args:
        held: Whether what SWF does a moment later waits until a step lets it happen.
        between: As ``Engine(wake_between=...)``.
        store: Keeps the engine's state, or None.
    """

    def __init__(self, *, held: bool = False, between: bool = False, store: Any = None) -> None:
        self.engine = Engine(VirtualClock(), QUOTAS, wake_between=between, store=store)
        self.engine.on_lambda("a", lambda text: text)
        self.engine.on_lambda("b", None)
        self.engine.hold_effects = held
        self.swf = Driver(self.engine)
        self.decisions: list[dict[str, Any]] = []
        self.activities: list[str] = []

    # --- what there is to do ----------------------------------------------------------------

    def waiting(self, poll: str, names: tuple[str, ...]) -> list[str]:
        """The task lists that have a task."""
        return [name for name in names if self.engine.has_task(poll, "shop", name)]

    def open_ids(self) -> list[str]:
        """The workflowIds of open runs."""
        return sorted(self.engine.world.domains["shop"].open_runs)

    def running(self) -> list[tuple[str, int]]:
        """Lambda functions that run until somebody ends them."""
        return [
            (run.run_id, scheduled)
            for run in self.engine.world.runs.values()
            if run.is_open
            for scheduled, function in run.lambdas.items()
            if function.started_event_id
        ]

    def children(self) -> list[tuple[str, str]]:
        """Open children whose decision task waits: their runId, and the list it waits on."""
        runs = [run for run in self.engine.world.runs.values() if run.is_open and run.parent]
        tasks = [(run.run_id, run.decision) for run in runs if run.decision and not run.decision.started_event_id]
        return [(run_id, task.task_list) for run_id, task in tasks]

    # --- doing it -----------------------------------------------------------------------------

    def poll(self, task_list: str, options: dict[str, Any]) -> None:
        task = page = self.swf.poll(task_list, **options)
        read = list(page["events"])
        while "nextPageToken" in page:
            page = self.swf.poll(task_list, **options, nextPageToken=page["nextPageToken"])
            read += page["events"]
        ids = [event["eventId"] for event in read]
        first = options.get("startAtPreviousStartedEvent") and task["previousStartedEventId"]
        assert sorted(ids) == list(range(first or 1, task["startedEventId"] + 1))
        assert ids == sorted(ids, reverse=bool(options.get("reverseOrder")))
        self.decisions.append(task)

    def answer(self, which: int, decisions: list[dict[str, Any]], options: dict[str, Any]) -> None:
        task = self.decisions.pop(which % len(self.decisions))
        alive = self.engine.awaits(task["taskToken"])
        with nullcontext() if alive else pytest.raises(UnknownResource, match=r"Unknown (decision task|execution)"):
            self.swf.answer(task, *decisions, **options)

    def close_child(self, which: int, close: list[dict[str, Any]]) -> None:
        """A child is decided to the end; the tasks that wait before its own are taken too."""
        run_id, task_list = self.children()[which % len(self.children())]
        while not self.decisions or self.decisions[-1]["workflowExecution"]["runId"] != run_id:
            self.poll(task_list, {})
        self.answer(-1, close, {})

    def take(self) -> None:
        self.activities.append(self.swf.take()["taskToken"])

    def work(self, which: int, how: str, details: dict[str, Any]) -> None:
        token = self.activities[which % len(self.activities)]
        operation = "RecordActivityTaskHeartbeat" if how == "Heartbeat" else f"RespondActivityTask{how}"
        if how != "Heartbeat":
            self.activities.remove(token)
        alive = self.engine.awaits(token)
        with nullcontext() if alive else pytest.raises(UnknownResource, match=r"Unknown (activity|execution)"):
            self.swf.call(operation, taskToken=token, **(details if how != "Completed" else {}))

    def start(self, workflow_id: str, options: dict[str, Any]) -> None:
        self.swf.start(workflow_id, **options)

    def outside(self, what: str, workflow_id: str, named: bool) -> None:
        said = {"signalName": "s"} if what == "Signal" else {}
        run = {"runId": self.swf.run_id(workflow_id)} if named else {}
        self.swf.call(f"{what}WorkflowExecution", domain="shop", workflowId=workflow_id, **run, **said)

    def advance(self, seconds: float) -> None:
        self.engine.advance(seconds)

    def fall_due(self) -> None:
        due = self.engine.next_due()
        if due is not None:
            self.engine.advance_to(due)

    def effect(self, which: int) -> None:
        self.engine.run_effect(which % len(self.engine.pending_effects))

    def end_function(self, which: int, well: bool) -> None:
        run_id, scheduled = self.running()[which % len(self.running())]
        if well:
            self.engine.complete_lambda(run_id, scheduled, "r")
        else:
            self.engine.fail_lambda(run_id, scheduled, "why")

    def retire(self, kind: str) -> None:
        """Deprecates a type, or restores it."""
        name = "charge" if kind == "Activity" else "order"
        named = {"domain": "shop", f"{kind.lower()}Type": {"name": name, "version": "1"}}
        status = self.swf.call(f"Describe{kind}Type", **named)["typeInfo"]["status"]
        self.swf.call(f"{'Deprecate' if status == 'REGISTERED' else 'Undeprecate'}{kind}Type", **named)

    def refuse(self, decision_type: str, cause: str) -> None:
        self.engine.refuse(decision_type, cause)

    def end(self) -> None:
        """Lets time pass until nothing happens any more: every run ends by itself."""
        self.engine.hold_effects = False
        while (due := self.engine.next_due()) is not None:
            self.engine.advance_to(due)
        assert self.open_ids() == []

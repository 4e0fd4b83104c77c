"""Plays a recorded history again: what came from outside comes again, the decider decides what it decided.

What the service did of itself is left to the engine, so that both histories can be compared.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from botocore.loaders import Loader

from flowpy.history import seconds
from flowpy.local.engine import Engine, VirtualClock

SHAPES = Loader().load_service_model("swf", "service-2")["shapes"]
DECIDED = {
    "ActivityTaskScheduled": "ScheduleActivityTask",
    "ActivityTaskCancelRequested": "RequestCancelActivityTask",
    "TimerStarted": "StartTimer",
    "TimerCanceled": "CancelTimer",
    "MarkerRecorded": "RecordMarker",
    "LambdaFunctionScheduled": "ScheduleLambdaFunction",
    "WorkflowExecutionCompleted": "CompleteWorkflowExecution",
    "WorkflowExecutionFailed": "FailWorkflowExecution",
    "WorkflowExecutionCanceled": "CancelWorkflowExecution",
    "WorkflowExecutionContinuedAsNew": "ContinueAsNewWorkflowExecution",
    **{
        f"{decision_type}Initiated": decision_type
        for decision_type in (
            "StartChildWorkflowExecution",
            "SignalExternalWorkflowExecution",
            "RequestCancelExternalWorkflowExecution",
        )
    },
}
"""The decision that an event answers; events of decisions that failed are called after the decision."""

CHILD_CLOSES = {
    "ChildWorkflowExecutionCompleted": ("CompleteWorkflowExecution", ("result",)),
    "ChildWorkflowExecutionFailed": ("FailWorkflowExecution", ("reason", "details")),
    "ChildWorkflowExecutionCanceled": ("CancelWorkflowExecution", ("details",)),
}
CONFIG = ("childPolicy", "executionStartToCloseTimeout", "taskList", "taskStartToCloseTimeout")
BESIDE = {"taskList": {"name": "beside"}, "childPolicy": "ABANDON", "taskStartToCloseTimeout": "NONE"}


IDS = ("workflowId", "timerId", "activityId")
COLON = "a name has a colon"
NULL_TAG = "a tag is null"
NOT_FIRST = "a task is handed out before an older one"


def legal(value: Any, found: set[str]) -> Any:
    """A recorded value as SWF's documentation allows it to be; what had to be changed is added to `found`."""
    if not isinstance(value, dict):
        return value
    changed = {name: legal(member, found) for name, member in value.items()}
    for name in IDS:
        if ":" in changed.get(name, ""):
            found.add(COLON)
            changed[name] = changed[name].replace(":", ".")
    if None in changed.get("tagList", ()):
        found.add(NULL_TAG)
        changed["tagList"] = [tag for tag in changed["tagList"] if tag is not None]
    return {name: member for name, member in changed.items() if member != []}


def body(event: dict[str, Any]) -> dict[str, Any]:
    event_type = event["eventType"]
    attributes: dict[str, Any] = event[f"{event_type[0].lower()}{event_type[1:]}EventAttributes"]
    return attributes


def _ends(event: dict[str, Any], scheduled: int) -> bool:
    ends = ("ActivityTaskCompleted", "ActivityTaskFailed", "ActivityTaskCanceled", "ActivityTaskTimedOut")
    return event["eventType"] in ends and body(event)["scheduledEventId"] == scheduled


def decision_of(event: dict[str, Any]) -> dict[str, Any]:
    """The decision that an event answers."""
    decision_type = DECIDED.get(event["eventType"]) or event["eventType"].removesuffix("Failed")
    members = SHAPES[f"{decision_type}DecisionAttributes"]["members"]
    said = {name: value for name, value in body(event).items() if name in members}
    return {
        "decisionType": decision_type,
        f"{decision_type[0].lower()}{decision_type[1:]}DecisionAttributes": said,
    }


class Again:
    """One recorded history and the run that plays it.

    Args:
        events: As recorded, oldest first.
    """

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.differences: set[str] = set()
        self.recorded = [legal(event, self.differences) for event in events]
        self.engine = Engine(VirtualClock(seconds(events[0])))
        self.engine.hold_effects = True
        self.decision_task: dict[str, Any] = {}
        self.activities: dict[int, dict[str, Any]] = {}
        self.child_tasks: dict[str, str] = {}
        self.beats: list[tuple[float, int]] = []
        self.run_id = ""
        self.known_runs: dict[str, str] = {}
        self._register()

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        named = {} if operation == "RegisterDomain" or "taskToken" in request else {"domain": "d"}
        return self.engine.call(operation, named | request)

    def _register(self) -> None:
        self.call("RegisterDomain", name="d", workflowExecutionRetentionPeriodInDays="90")
        started = body(self.recorded[0])
        activities = [body(e)["activityType"] for e in self.recorded if e["eventType"] == "ActivityTaskScheduled"]
        workflows = [
            body(e)["workflowType"] for e in self.recorded if e["eventType"] == "StartChildWorkflowExecutionInitiated"
        ]
        for kind, types in (("Activity", activities), ("Workflow", [started["workflowType"], *workflows])):
            for name, version in {(each["name"], each["version"]) for each in types}:
                self.call(f"Register{kind}Type", name=name, version=version)

    def play(self) -> list[dict[str, Any]]:
        """Gives the engine's history."""
        for event in self.recorded:
            while self.beats and self.beats[0][0] < seconds(event):
                self._beat(*heappop(self.beats))
            self.engine.advance_to(max(seconds(event), self.engine.clock.now()))
            play = getattr(self, f"_{event['eventType']}", None)
            if play is not None:
                play(event, body(event))
            elif event["eventType"] in CHILD_CLOSES:
                self._close_child(body(event), *CHILD_CLOSES[event["eventType"]])
        return list(self.engine.world.runs[self.run_id].events)

    def compare(self) -> set[str]:
        """Plays it and says in what the engine differs."""
        ours = self.play()
        types = [event["eventType"] for event in ours]
        assert types == [event["eventType"] for event in self.recorded], "the same events in the same order"
        for recorded, played in zip(self.recorded, ours, strict=True):
            theirs, mine = self.same(body(recorded)), body(played)
            for name in theirs.keys() | mine.keys():
                if theirs.get(name) != mine.get(name):
                    said = f"{recorded['eventType']}.{name}"
                    self.differences.add(f"{said} is {mine.get(name, 'absent')}, not {theirs.get(name, 'absent')}")
        return self.differences

    def same(self, value: Any) -> Any:
        """A recorded value with our runIds for the recorded ones."""
        if isinstance(value, dict):
            return {name: self.same(member) for name, member in value.items()}
        return self.known_runs.get(value, value) if isinstance(value, str) else value

    # --- from outside -----------------------------------------------------------------------

    def _WorkflowExecutionStarted(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        names = (*CONFIG, "workflowType", "input", "tagList", "taskPriority", "lambdaRole")
        start = {name: said[name] for name in names if name in said}
        parent = said.get("parentWorkflowExecution")
        if parent is None:
            self.run_id = self.call("StartWorkflowExecution", workflowId="w", **start)["runId"]
            return
        self.call("RegisterWorkflowType", name="parent", version="1")
        beside = {"workflowType": {"name": "parent", "version": "1"}, "executionStartToCloseTimeout": "86400"}
        parent_run = self.call("StartWorkflowExecution", workflowId=parent["workflowId"], **beside, **BESIDE)["runId"]
        self.known_runs[parent["runId"]] = parent_run
        markers = said["parentInitiatedEventId"] - 5
        task = self.call("PollForDecisionTask", taskList=BESIDE["taskList"])
        child = {"decisionType": "StartChildWorkflowExecution"}
        child["startChildWorkflowExecutionDecisionAttributes"] = {"workflowId": "w", **start}
        marker = {"decisionType": "RecordMarker", "recordMarkerDecisionAttributes": {"markerName": "m"}}
        self.call("RespondDecisionTaskCompleted", taskToken=task["taskToken"], decisions=[*[marker] * markers, child])
        self.engine.settle()
        self.run_id = self.engine.world.domains["d"].open_runs["w"]

    def _WorkflowExecutionSignaled(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        sent = {name: said[name] for name in ("signalName", "input") if name in said}
        self.call("SignalWorkflowExecution", workflowId="w", **sent)

    def _WorkflowExecutionCancelRequested(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        self.call("RequestCancelWorkflowExecution", workflowId="w")

    # --- the decider ------------------------------------------------------------------------

    def _identified(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"identity": said["identity"]} if "identity" in said else {}

    def _DecisionTaskStarted(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        scheduled = body(self.recorded[said["scheduledEventId"] - 1])
        self.decision_task = self.call("PollForDecisionTask", taskList=scheduled["taskList"], **self._identified(said))
        assert self.decision_task["startedEventId"] == event["eventId"]

    def _DecisionTaskCompleted(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        decided = [
            later
            for later in self.recorded[event["eventId"] :]
            if body(later).get("decisionTaskCompletedEventId") == event["eventId"]
            and not body(later).get("initiatedEventId")
        ]
        names = ("executionContext", "taskList", "taskListScheduleToStartTimeout")
        self.call(
            "RespondDecisionTaskCompleted",
            taskToken=self.decision_task["taskToken"],
            decisions=[decision_of(later) for later in decided],
            **{name: said[name] for name in names if name in said},
        )

    # --- the worker -------------------------------------------------------------------------

    def _ActivityTaskStarted(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        scheduled = said["scheduledEventId"]
        task_list = body(self.recorded[scheduled - 1])["taskList"]
        waiting = self.engine.world.runs[self.run_id].activities
        older = [task for number, task in waiting.items() if number < scheduled and not task.started_event_id]
        lists = self.engine.world.activity_lists
        for other in older:
            self.differences.add(NOT_FIRST)
            lists.remove("d", other.task_list, (self.run_id, other.scheduled_event_id))
        task = self.call("PollForActivityTask", taskList=task_list, **self._identified(said))
        for other in older:
            lists.put("d", other.task_list, (self.run_id, other.scheduled_event_id), other.priority, other.place)
        assert task["startedEventId"] == event["eventId"]
        self.activities[scheduled] = task
        self._expect_beats(seconds(event), scheduled)

    def _expect_beats(self, began: float, scheduled: int) -> None:
        """No history tells of heartbeats, but an activity that lived so long must have sent some."""
        timeout = body(self.recorded[scheduled - 1])["heartbeatTimeout"]
        end = next((e for e in self.recorded if _ends(e, scheduled)), self.recorded[-1])
        if timeout == "NONE":
            return
        silent = int(timeout) if body(end).get("timeoutType") == "HEARTBEAT" else 0
        last = seconds(end) - silent - 0.001
        at = began + int(timeout) / 2
        while at < last:
            heappush(self.beats, (at, scheduled))
            at += int(timeout) / 2
        if silent and last > began:
            heappush(self.beats, (last, scheduled))

    def _beat(self, at: float, scheduled: int) -> None:
        self.engine.advance_to(at)
        self.call("RecordActivityTaskHeartbeat", taskToken=self.activities[scheduled]["taskToken"])

    def _respond(self, how: str, said: dict[str, Any], *names: str) -> None:
        token = self.activities[said["scheduledEventId"]]["taskToken"]
        self.call(f"RespondActivityTask{how}", taskToken=token, **{name: said[name] for name in names if name in said})

    def _ActivityTaskCompleted(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        self._respond("Completed", said, "result")

    def _ActivityTaskFailed(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        self._respond("Failed", said, "reason", "details")

    def _ActivityTaskCanceled(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        if said["startedEventId"]:
            self._respond("Canceled", said, "details")
        else:
            self._happen("cancel_unstarted_activity", said["scheduledEventId"])

    # --- what the service does a moment later -------------------------------------------------

    def _happen(self, kind: str, event_id: int, run_id: str = "") -> None:
        """Lets one thing that waits to happen do so now."""
        run_id = run_id or self.run_id
        waiting = [(effect.kind, effect.run_id, effect.event_id) for effect in self.engine.pending_effects]
        self.engine.run_effect(waiting.index((kind, run_id, event_id)))

    def _ChildWorkflowExecutionStarted(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        self._happen("start_child", said["initiatedEventId"])
        child = said["workflowExecution"]
        run_id = self.engine.world.domains["d"].open_runs[child["workflowId"]]
        self.known_runs[child["runId"]] = run_id
        self.child_tasks[run_id] = self._take(self.engine.world.runs[run_id])

    def _take(self, child: Any) -> str:
        """Its decision task, which may wait on the parent's list: the parent's decider must not find it there."""
        world, task = self.engine.world, child.decision
        world.decision_lists.remove("d", task.task_list, (child.run_id, task.scheduled_event_id))
        task.task_list = "child"
        world.offer_decision(child, task)
        token: str = self.call("PollForDecisionTask", taskList={"name": "child"})["taskToken"]
        return token

    def _child(self, said: dict[str, Any]) -> Any:
        return self.engine.world.runs[self.known_runs[said["workflowExecution"]["runId"]]]

    def _close_child(self, said: dict[str, Any], close: str, names: tuple[str, ...]) -> None:
        child = self._child(said)
        decision = {
            "decisionType": close,
            f"{close[0].lower()}{close[1:]}DecisionAttributes": {name: said[name] for name in names if name in said},
        }
        self.call("RespondDecisionTaskCompleted", taskToken=self.child_tasks[child.run_id], decisions=[decision])
        self._happen("report_close", len(child.events), child.run_id)

    def _ChildWorkflowExecutionTimedOut(self, event: dict[str, Any], said: dict[str, Any]) -> None:  # noqa: N802
        child = self._child(said)
        self._happen("report_close", len(child.events), child.run_id)

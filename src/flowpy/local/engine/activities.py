"""Activity tasks: scheduled, handed out, answered, cancelled, timed out (swf-semantics §4.8)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.deciding import Deciding
from flowpy.local.engine.recording import record
from flowpy.local.engine.registry import ACTIVITY_DEFAULTS, resolve
from flowpy.local.engine.state import ActivityTask, Execution
from flowpy.local.engine.tokens import read_task_token, task_token
from flowpy.local.engine.world import World

__all__ = ["DEADLINES", "OPERATIONS", "cancel_unstarted", "request_cancel", "schedule"]

Request = dict[str, Any]
_KIND: Final = "activity"

_UNDEFINED: Final = {
    "taskList": "DEFAULT_TASK_LIST_UNDEFINED",
    "scheduleToStartTimeout": "DEFAULT_SCHEDULE_TO_START_TIMEOUT_UNDEFINED",
    "scheduleToCloseTimeout": "DEFAULT_SCHEDULE_TO_CLOSE_TIMEOUT_UNDEFINED",
    "startToCloseTimeout": "DEFAULT_START_TO_CLOSE_TIMEOUT_UNDEFINED",
    "heartbeatTimeout": "DEFAULT_HEARTBEAT_TIMEOUT_UNDEFINED",
}


def schedule(deciding: Deciding, decision: dict[str, Any]) -> None:
    """ScheduleActivityTask."""
    world, run = deciding.world, deciding.run
    config, cause = _settle_config(deciding, decision)
    if cause:
        deciding.fail("ScheduleActivityTask", decision, cause)
        return
    scheduled = deciding.record(
        "ActivityTaskScheduled",
        activityType=decision["activityType"],
        activityId=decision["activityId"],
        input=decision.get("input"),
        control=decision.get("control"),
        **config,
    )
    priority = int(config.get("taskPriority") or 0)
    task = ActivityTask(scheduled, decision["activityId"], config["taskList"]["name"], priority)
    run.activities[scheduled] = task
    run.activity_ids[task.activity_id] = scheduled
    world.touch(run, scheduled)
    world.offer_activity(run, task)
    for kind, name in (
        ("activity.SCHEDULE_TO_START", "scheduleToStartTimeout"),
        ("activity.SCHEDULE_TO_CLOSE", "scheduleToCloseTimeout"),
    ):
        world.set_deadline(run, kind, scheduled, seconds(config[name]))


def _settle_config(deciding: Deciding, decision: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The values the task runs with, and the cause for which it does not."""
    run, wanted = deciding.run, decision["activityType"]
    domain = deciding.world.domains[run.domain]
    registration = domain.types.get(("ActivityType", wanted["name"], wanted["version"]))
    if registration is None:
        return {}, "ACTIVITY_TYPE_DOES_NOT_EXIST"
    if registration.deprecated is not None:
        return {}, "ACTIVITY_TYPE_DEPRECATED"
    if run.activity_of(decision["activityId"]) is not None:
        return {}, "ACTIVITY_ID_ALREADY_IN_USE"
    config, missing = resolve(decision, registration, ACTIVITY_DEFAULTS)
    if missing:
        return {}, _UNDEFINED[missing[0]]
    if len(run.activities) >= deciding.world.quotas.open_activities:
        return {}, "OPEN_ACTIVITIES_LIMIT_EXCEEDED"
    return config, ""


def request_cancel(deciding: Deciding, decision: dict[str, Any]) -> None:
    """RequestCancelActivityTask."""
    task = deciding.run.activity_of(decision["activityId"])
    if task is None:
        deciding.fail("RequestCancelActivityTask", decision, "ACTIVITY_ID_UNKNOWN")
        return
    task.cancel_requested_event_id = deciding.record("ActivityTaskCancelRequested", activityId=task.activity_id)
    deciding.world.touch(deciding.run, task.scheduled_event_id)
    if not task.started_event_id:
        deciding.world.later("cancel_unstarted_activity", deciding.run, task.scheduled_event_id)


def cancel_unstarted(world: World, run: Execution, scheduled_event_id: int, _cause: str) -> None:
    """SWF cancels a task that no worker has taken."""
    task = run.activities.get(scheduled_event_id)
    if run.is_open and task is not None and not task.started_event_id:
        _close(world, run, task, "ActivityTaskCanceled", **_cancel_request(task))


def poll(world: World, request: Request) -> dict[str, Any]:
    """PollForActivityTask."""
    domain = world.domain(request["domain"])
    found = world.activity_lists.take(domain.name, request["taskList"]["name"])
    if found is None:
        return {"startedEventId": 0}
    run, scheduled = world.runs[found[0]], found[1]
    task, attributes = run.activities[scheduled], run.attributes(scheduled)
    world.touch(run, scheduled)
    task.started_event_id = record(
        world, run, "ActivityTaskStarted", identity=request.get("identity"), scheduledEventId=scheduled
    )
    world.deadlines.cancel(run, "activity.SCHEDULE_TO_START", scheduled)
    world.set_deadline(run, "activity.START_TO_CLOSE", scheduled, seconds(attributes["startToCloseTimeout"]))
    world.set_deadline(run, "activity.HEARTBEAT", scheduled, seconds(attributes["heartbeatTimeout"]))
    reply = {
        "taskToken": task_token(_KIND, run, scheduled),
        "activityId": task.activity_id,
        "startedEventId": task.started_event_id,
        "workflowExecution": run.reference,
        "activityType": attributes["activityType"],
    }
    return reply | ({"input": attributes["input"]} if "input" in attributes else {})


def _started(world: World, request: Request) -> tuple[Execution, ActivityTask]:
    run, scheduled = read_task_token(world, _KIND, request["taskToken"])
    task = run.activities.get(scheduled)
    if task is None or not task.started_event_id:
        raise faults.unknown_task(_KIND, scheduled)
    return run, task


def _close(world: World, run: Execution, task: ActivityTask, event_type: str, **attributes: Any) -> None:
    scheduled = task.scheduled_event_id
    del run.activities[scheduled], run.activity_ids[task.activity_id]
    world.touch(run, scheduled)
    for kind in DEADLINES:
        world.deadlines.cancel(run, kind, scheduled)
    world.activity_lists.remove(run.domain, task.task_list, (run.run_id, scheduled))
    # The task is gone before the event is: a decision task it schedules must find the state after it.
    record(world, run, event_type, **attributes, scheduledEventId=scheduled, startedEventId=task.started_event_id)


def _cancel_request(task: ActivityTask) -> dict[str, int | None]:
    return {"latestCancelRequestedEventId": task.cancel_requested_event_id or None}


def _respond(event_type: str, names: tuple[str, ...], world: World, request: Request) -> dict[str, Any]:
    run, task = _started(world, request)
    attributes = {name: request.get(name) for name in names}
    if event_type == "ActivityTaskCanceled":
        attributes |= _cancel_request(task)
    _close(world, run, task, event_type, **attributes)
    return {}


def heartbeat(world: World, request: Request) -> dict[str, Any]:
    """RecordActivityTaskHeartbeat."""
    run, task = _started(world, request)
    scheduled = task.scheduled_event_id
    world.touch(run, scheduled)
    if "details" in request:
        task.details = request["details"]
    timeout = seconds(run.attributes(scheduled)["heartbeatTimeout"])
    world.set_deadline(run, "activity.HEARTBEAT", scheduled, timeout)
    return {"cancelRequested": task.cancel_requested_event_id > 0}


def _time_out(timeout_type: str, world: World, run: Execution, scheduled_event_id: int) -> None:
    task = run.activities[scheduled_event_id]
    _close(world, run, task, "ActivityTaskTimedOut", timeoutType=timeout_type, details=task.details)


def count_pending(world: World, request: Request) -> dict[str, Any]:
    """CountPendingActivityTasks: those that wait to be polled."""
    domain = world.domain(request["domain"])
    return {"count": world.activity_lists.count(domain.name, request["taskList"]["name"]), "truncated": False}


DEADLINES: Final[dict[str, Callable[[World, Execution, int], None]]] = {
    f"activity.{timeout_type}": partial(_time_out, timeout_type)
    for timeout_type in ("SCHEDULE_TO_START", "START_TO_CLOSE", "SCHEDULE_TO_CLOSE", "HEARTBEAT")
}

OPERATIONS: Final[dict[str, Callable[[World, Request], dict[str, Any]]]] = {
    "PollForActivityTask": poll,
    "RespondActivityTaskCompleted": partial(_respond, "ActivityTaskCompleted", ("result",)),
    "RespondActivityTaskFailed": partial(_respond, "ActivityTaskFailed", ("reason", "details")),
    "RespondActivityTaskCanceled": partial(_respond, "ActivityTaskCanceled", ("details",)),
    "RecordActivityTaskHeartbeat": heartbeat,
    "CountPendingActivityTasks": count_pending,
}

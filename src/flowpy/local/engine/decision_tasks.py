"""Decision tasks: handed out, answered, timed out (swf-semantics §4.2 to §4.7)."""

from __future__ import annotations

from typing import Any

from flowpy.local.engine import faults
from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.decisions import Deciding, decide
from flowpy.local.engine.recording import enqueue_decision_task, record
from flowpy.local.engine.state import Execution, Override
from flowpy.local.engine.tokens import page, read_page_token, read_task_token, task_token
from flowpy.local.engine.world import World

__all__ = ["count_pending", "poll", "respond_completed", "time_out_schedule_to_start", "time_out_start_to_close"]

Request = dict[str, Any]
_KIND = "decision task"


def poll(world: World, request: Request) -> dict[str, Any]:
    """PollForDecisionTask: the next task or, with a nextPageToken, the next page of one."""
    domain = world.domain(request["domain"])
    if request.get("nextPageToken"):
        return _next_page(world, request)
    found = world.decision_lists.take(domain.name, request["taskList"]["name"])
    if found is None:
        return {"startedEventId": 0, "previousStartedEventId": 0}
    run = world.runs[found[0]]
    task = run.decision
    assert task is not None, "a decision task on a list belongs to an open execution"
    task.started_event_id = record(
        world,
        run,
        "DecisionTaskStarted",
        identity=request.get("identity"),
        scheduledEventId=task.scheduled_event_id,
    )
    world.deadlines.cancel(run, "decision.SCHEDULE_TO_START", task.scheduled_event_id)
    timeout = seconds(run.config["taskStartToCloseTimeout"])
    world.set_deadline(run, "decision.START_TO_CLOSE", task.scheduled_event_id, timeout)
    scope = [_KIND, domain.name, run.run_id, task.scheduled_event_id, task.started_event_id, run.decided]
    return _reply(world, request, scope, 0)


def _next_page(world: World, request: Request) -> dict[str, Any]:
    scope, offset = read_page_token(world, [_KIND, request["domain"]], request)
    if [type(part) for part in scope] != [str, str, str, int, int, int] or world.runs.get(scope[2]) is None:
        raise faults.invalid_token()
    return _reply(world, request, scope, offset)


def _reply(world: World, request: Request, scope: list[Any], offset: int) -> dict[str, Any]:
    _, _, run_id, scheduled_event_id, started_event_id, previous = scope
    run = world.runs[run_id]
    first = previous if request.get("startAtPreviousStartedEvent") and previous else 1

    def read(start: int, stop: int) -> list[dict[str, Any]]:
        if request.get("reverseOrder"):
            return run.events[max(first - 1, started_event_id - stop) : max(0, started_event_id - start)][::-1]
        return run.events[first - 1 + start : min(first - 1 + stop, started_event_id)]

    items, token = page(world, scope, read, request, offset=offset)
    return {
        "taskToken": task_token(_KIND, run, scheduled_event_id, offset),
        "startedEventId": started_event_id,
        "workflowExecution": run.reference,
        "workflowType": run.workflow_type,
        "events": items,
        "previousStartedEventId": previous,
        **token,
    }


def respond_completed(world: World, request: Request) -> dict[str, Any]:
    """RespondDecisionTaskCompleted: one transaction, all of it or nothing."""
    decisions = request.get("decisions", [])
    run, scheduled_event_id = read_task_token(world, _KIND, request["taskToken"])
    task = run.decision
    if task is None or task.scheduled_event_id != scheduled_event_id or not task.started_event_id:
        raise faults.unknown_task(_KIND, scheduled_event_id)
    timeout = request.get("taskListScheduleToStartTimeout") or None
    completed = world.append(
        run,
        "DecisionTaskCompleted",
        {
            "executionContext": request.get("executionContext"),
            "scheduledEventId": scheduled_event_id,
            "startedEventId": task.started_event_id,
            "taskList": request.get("taskList"),
            "taskListScheduleToStartTimeout": timeout,
        },
    )
    run.decided = task.started_event_id
    if "executionContext" in request:
        run.latest_execution_context = request["executionContext"]
    if "taskList" in request:
        _move(run, request["taskList"]["name"], timeout)
    _end(world, run)
    decide(Deciding(world, run, completed), decisions)
    return {}


def _move(run: Execution, task_list: str, schedule_to_start: str | None) -> None:
    if schedule_to_start in (None, "NONE"):
        run.task_list, run.override = task_list, None
    else:
        run.override = Override(task_list, str(schedule_to_start))


def _end(world: World, run: Execution) -> None:
    """The running decision task is over; the one that waited behind it can be dispatched."""
    assert run.decision is not None
    world.deadlines.cancel(run, "decision.START_TO_CLOSE", run.decision.scheduled_event_id)
    run.decision, run.queued = run.queued, None
    if run.decision is not None:
        enqueue_decision_task(world, run, run.decision)


def time_out_start_to_close(world: World, run: Execution, scheduled_event_id: int) -> None:
    """The decider did not answer in time."""
    assert run.decision is not None
    started_event_id = run.decision.started_event_id
    run.override = None
    _end(world, run)
    record(
        world,
        run,
        "DecisionTaskTimedOut",
        scheduledEventId=scheduled_event_id,
        startedEventId=started_event_id,
        timeoutType="START_TO_CLOSE",
    )


def time_out_schedule_to_start(world: World, run: Execution, scheduled_event_id: int) -> None:
    """Nobody polled the temporary task list in time: back to the list before."""
    assert run.decision is not None
    world.decision_lists.remove(run.domain, run.decision.task_list, (run.run_id, scheduled_event_id))
    run.override = None
    run.decision = None
    record(
        world,
        run,
        "DecisionTaskTimedOut",
        scheduledEventId=scheduled_event_id,
        startedEventId=0,
        timeoutType="SCHEDULE_TO_START",
    )


def count_pending(world: World, request: Request) -> dict[str, Any]:
    """CountPendingDecisionTasks: those that wait to be polled."""
    domain = world.domain(request["domain"])
    return {"count": world.decision_lists.count(domain.name, request["taskList"]["name"]), "truncated": False}

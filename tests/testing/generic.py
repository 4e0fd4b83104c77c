"""A workflow for any recorded history whose decisions flowpy can make: it waits for what the decider waited for.

Whoever wrote a history, its shape says what the code did: after which ends, signals and cancel requests came which
decisions. The generic workflow does the same with flowpy's own calls, under the recorded ids, so that replaying it
holds the reader, the order of episodes, the matching and the runtime against what the real service wrote.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from attrs import define, field

import flowpy
from flowpy import Signal, activity, workflow
from flowpy.history import History, attributes
from flowpy.history.episodes import Episodes
from flowpy.history.events import Event

_ACTIVITY = [f"ActivityTask{how}" for how in ("Completed", "Failed", "TimedOut", "Canceled")]
_CHILD = [f"ChildWorkflowExecution{how}" for how in ("Completed", "Failed", "TimedOut", "Canceled", "Terminated")]
_ENDS = {
    **dict.fromkeys(_ACTIVITY, "scheduledEventId"),
    **dict.fromkeys(_CHILD, "initiatedEventId"),
    "TimerFired": "startedEventId",
}


@define
class Step:
    """What was decided in one decision task, and what had come before it."""

    ended: list[int] = field(factory=list)
    started: list[int] = field(factory=list)
    signals: list[str] = field(factory=list)
    cancelled: bool = False
    decided: list[Event] = field(factory=list)


def generic(history: History) -> Any:
    """The workflow that decides what a history records.

    Raises:
        NotImplementedError: It records what flowpy never decides.
    """
    steps = _steps(history.events)
    for step in steps:
        for event in step.decided:
            _doer(event)
    name, version = history.workflow_type

    @workflow(name=name, version=version)
    async def again() -> Any:
        made: dict[Any, Any] = {"cancelled": False}
        for step in steps:
            await _come(step, made)
            for event in step.decided:
                outcome = _doer(event)(event, made)
                if event["eventType"].startswith("WorkflowExecution"):
                    return outcome
        return await asyncio.Event().wait()

    return again


def without_input(history: History) -> History:
    """The same history, whose run got no arguments: what they were is not known to the generic workflow."""
    first = dict(history.events[0])
    key = "workflowExecutionStartedEventAttributes"
    first[key] = {name: value for name, value in first[key].items() if name != "input"}
    return History([first, *history.events[1:]], history.workflow_type, history.workflow_id, history.run_id)


def _steps(events: list[Event]) -> list[Step]:
    steps = []
    step = Step()
    for episode in Episodes().feed(events):
        for event in episode.events:
            kind = event["eventType"]
            if kind in _ENDS:
                step.ended.append(attributes(event)[_ENDS[kind]])
            elif kind == "ChildWorkflowExecutionStarted":
                step.started.append(attributes(event)["initiatedEventId"])
            elif kind == "WorkflowExecutionSignaled":
                step.signals.append(attributes(event)["signalName"])
            elif kind == "WorkflowExecutionCancelRequested":
                step.cancelled = True
        if episode.answers:
            step.decided = episode.answers
            steps.append(step)
            step = Step()
    return steps


async def _come(step: Step, made: dict[Any, Any]) -> None:
    """Wait for all that had come before a decision; a cancel request stops none of it."""
    waits = [made[id] for id in step.ended] + [made[id].started for id in step.started]
    waits += [Signal(name).receive() for name in step.signals]
    for wait in waits:
        while not wait.done():
            try:
                await flowpy.shield(wait)
            except flowpy.FlowpyError:
                continue
            except asyncio.CancelledError:
                made["cancelled"] = made["cancelled"] or not wait.done()
        if not wait.cancelled():
            wait.exception()  # looked at: how it ended is no matter
    if step.cancelled and not made["cancelled"]:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    if step.cancelled:
        made["cancelled"] = False


def _schedule(event: Event, made: dict[Any, Any]) -> None:
    told = attributes(event)

    @activity(external=True, **told["activityType"])
    def work() -> Any: ...

    made[event["eventId"]] = work.options(activity_id=told["activityId"])()
    made[event["eventId"]].detach()


def _start(event: Event, made: dict[Any, Any]) -> None:
    told = attributes(event)

    @workflow(**told["workflowType"])
    async def child() -> Any: ...

    made[event["eventId"]] = child.options(workflow_id=told["workflowId"])()
    made[event["eventId"]].detach()


def _sleep(event: Event, made: dict[Any, Any]) -> None:
    told = attributes(event)
    made[event["eventId"]] = flowpy.sleep(int(told["startToFireTimeout"]), timer_id=told["timerId"])
    made[event["eventId"]].detach()


def _complete(event: Event, _made: dict[Any, Any]) -> Any:
    text = attributes(event).get("result")
    return json.loads(text) if text else None


def _fail(event: Event, _made: dict[Any, Any]) -> Any:
    raise flowpy.ApplicationError(attributes(event).get("reason") or "")


def _leave(_event: Event, _made: dict[Any, Any]) -> Any:
    raise asyncio.CancelledError


def _doer(event: Event) -> Callable[[Event, dict[Any, Any]], Any]:
    doers: dict[str, Callable[[Event, dict[Any, Any]], Any]] = {
        "ActivityTaskScheduled": _schedule,
        "TimerStarted": _sleep,
        "TimerCanceled": lambda event, made: made[attributes(event)["startedEventId"]].cancel(),
        "StartChildWorkflowExecutionInitiated": _start,
        "StartChildWorkflowExecutionFailed": _start,
        "WorkflowExecutionCompleted": _complete,
        "WorkflowExecutionFailed": _fail,
        "WorkflowExecutionCanceled": _leave,
    }
    doer = doers.get(event["eventType"])
    if doer is None or ":" in attributes(event).get("workflowId", ""):
        raise NotImplementedError(f"event {event['eventId']}: flowpy decides no {event['eventType']} of this kind")
    return doer

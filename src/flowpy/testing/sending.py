"""What follows from decisions: types are registered, stubs drawn, calls noted."""

from __future__ import annotations

import asyncio
import copy
import datetime as dt
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, NotStubbed, UnknownResource
from flowpy.history.events import Event
from flowpy.local.engine.lambda_functions import error_payload
from flowpy.replay.divergence import CodeLine
from flowpy.replay.entities import Entity
from flowpy.replay.outbox import key_of
from flowpy.runtime.activities import ActivityPromise
from flowpy.runtime.children import ChildCall
from flowpy.runtime.lambdas import LambdaCall
from flowpy.runtime.waiting import sleep
from flowpy.testing.calls import Call, attempt_of, bound
from flowpy.testing.live import Live
from flowpy.testing.outcomes import REAL, TIMEOUTS, Outcome
from flowpy.testing.stage import Stage
from flowpy.testing.stubs import Stubs
from flowpy.testing.working import scripted

__all__ = ["Sending", "played"]

Attributes = dict[str, Any]

_STOP: Final = frozenset(
    {
        "RequestCancelActivityTask",
        "CompleteWorkflowExecution",
        "FailWorkflowExecution",
        "CancelWorkflowExecution",
        "ContinueAsNewWorkflowExecution",
    }
)
"""Decisions by which activities under way are asked to stop, or are gone."""


class Sending:
    """The decisions of one answer, from before it is sent until what follows from it is arranged.

    Args:
        stage: The environment's.
        live: The execution.
        decisions: The decisions.

    Raises:
        NotStubbed: One calls what only a stub can answer.
        DeclarationError: A stub does not fit what is called.
    """

    def __init__(self, stage: Stage, live: Live, decisions: list[dict[str, Any]]) -> None:
        self._stage = stage
        self._live = live
        self._follow: list[Callable[[list[Event]], None]] = []
        self._calls: list[tuple[tuple[str, ...], Call]] = []
        self.stops_something = False
        for decision in decisions:
            kind = decision["decisionType"]
            attributes = decision[f"{kind[0].lower()}{kind[1:]}DecisionAttributes"]
            self._prepare(kind, attributes)

    def _prepare(self, kind: str, attributes: Attributes) -> None:
        match kind:
            case "ScheduleActivityTask":
                self._activity(attributes)
            case "StartChildWorkflowExecution":
                self._child(attributes)
            case "ScheduleLambdaFunction":
                self._lambda(attributes)
            case "ContinueAsNewWorkflowExecution":
                self._stage.known.meet_workflow(self._live.workflow, _list_of(attributes))
        self.stops_something |= kind in _STOP

    def sent(self, events: list[Event]) -> None:
        """The service took the answer.

        Args:
            events: The events that were recorded since the decision task was started.
        """
        self._stage.calls.extend(self._calls)
        for follow in self._follow:
            follow(events)

    # --- each kind ----------------------------------------------------------------------------

    def _activity(self, attributes: Attributes) -> None:
        entity = self._entity("ScheduleActivityTask", attributes["activityId"])
        call = entity if isinstance(entity, ActivityPromise) else entity.listener
        activity: Activity[..., Any] = call.activity
        self._stage.known.meet_activity(activity, _list_of(attributes))
        outcome = self._outcome(activity)
        if outcome is None:
            if activity.external or activity.manual:
                how = "another SDK's worker runs it" if activity.external else "it is completed from elsewhere"
                raise self._not_stubbed(f"activity {activity.name}", f"swf.stub({activity.__name__}, ...)", how, entity)
            outcome = REAL
        self._note(
            ("Activity", activity.name, activity.version), activity.signature, attributes["activityId"], attributes
        )
        self._stage.drawn[self._live.run_id, attributes["activityId"]] = outcome
        if outcome.way == "times_out":
            self._follow.append(partial(self._will_time_out, attributes["activityId"], outcome))

    def _child(self, attributes: Attributes) -> None:
        call: ChildCall = self._entity("StartChildWorkflowExecution", attributes["workflowId"]).listener
        workflow = call.workflow
        self._stage.known.meet_workflow(workflow, _list_of(attributes))
        outcome = self._outcome(workflow)
        self._note(
            ("Workflow", workflow.name, workflow.version), workflow.signature, attributes["workflowId"], attributes
        )
        if outcome is not None:
            self._stage.drawn["child", attributes["workflowId"]] = outcome

    def _lambda(self, attributes: Attributes) -> None:
        entity = self._entity("ScheduleLambdaFunction", attributes["id"])
        call: LambdaCall = entity.listener
        outcome = self._outcome(call.function)
        if outcome is None:
            name = call.function.name
            raise self._not_stubbed(f"Lambda function {name}", f"swf.stub({name!r}, ...)", "AWS runs it", entity)
        self._note(("LambdaFunction", call.function.name, ""), None, attributes["id"], attributes)
        self._stage.engine.on_lambda(call.function.name, None)
        self._follow.append(partial(self._will_end, attributes, outcome))

    def _entity(self, decision_type: str, id: str) -> Any:
        assert self._live.run is not None
        return self._live.run.execution.outbox.unsent[key_of(decision_type, id)]

    def _outcome(self, target: Any) -> Outcome | None:
        stub = self._stage.stubs.find(target)
        return None if stub is None else stub.draw()

    def _note(self, key: tuple[str, ...], signature: Any, id: str, attributes: Attributes) -> None:
        args, kwargs = bound(attributes.get("input"), signature, self._stage.converter)
        attempt = attempt_of(id) if key[0] == "Activity" else 1
        at = dt.datetime.fromtimestamp(self._stage.now(), dt.UTC)
        call = Call(key[1], at, args, kwargs, attempt, id, self._live.workflow_id, self._live.run_id)
        self._calls.append((key, call))

    def _not_stubbed(self, what: str, remedy: str, how: str, entity: Entity) -> NotStubbed:
        line = CodeLine.of(entity.site)
        where = f" at {line}" if line is not None else ""
        return NotStubbed(f"{what} was called{where}, and cannot run here, as {how}", remedy=f"say {remedy} before")

    # --- afterwards ---------------------------------------------------------------------------

    def _will_time_out(self, activity_id: str, outcome: Outcome, events: list[Event]) -> None:
        for event in events:
            told = event.get("activityTaskScheduledEventAttributes", {})
            if told.get("activityId") == activity_id:
                _check_strikes(told, outcome.value)
                if outcome.value == "SCHEDULE_TO_START":
                    self._stage.engine.withhold(self._live.run_id, activity_id)

    def _will_end(self, attributes: Attributes, outcome: Outcome, events: list[Event]) -> None:
        if outcome.way == "times_out":
            return
        for event in events:
            if event.get("lambdaFunctionScheduledEventAttributes", {}).get("id") == attributes["id"]:
                due = self._stage.now() + outcome.delay
                self._stage.agenda.add(due, event, partial(self._end_lambda, event["eventId"], attributes, outcome))

    def _end_lambda(self, scheduled: int, attributes: Attributes, outcome: Outcome) -> None:
        engine, run_id, text = self._stage.engine, self._live.run_id, attributes.get("input")
        try:
            value = scripted(outcome, self._stage.stubs)(None if text is None else json.loads(text))
            end = partial(engine.complete_lambda, run_id, scheduled, self._stage.converter.encode(value))
        except Exception as error:
            end = partial(engine.fail_lambda, run_id, scheduled, "UnhandledError", error_payload(error))
        # It may never have started, for want of a role, or have timed out, or its run may have closed.
        with suppress(UnknownResource):
            end()


def _list_of(attributes: Attributes) -> str | None:
    name: str | None = attributes.get("taskList", {}).get("name")
    return name


def _check_strikes(scheduled: Attributes, kind: str) -> None:
    """Refuse a timeout that can never strike, or not before another one.

    Raises:
        DeclarationError: It cannot.
    """
    seconds = {each: int(text) for each, name in TIMEOUTS.items() if (text := scheduled.get(name, "NONE")) != "NONE"}
    name = scheduled["activityType"]["name"]
    option = kind.lower() + "_timeout"
    if kind not in seconds:
        raise DeclarationError(
            f"stub of {name}: times_out={kind!r} can never happen, as the activity has no {option}",
            remedy="give it one, in @activity(...) or in .options(...) at the call",
        )
    others = {"HEARTBEAT": (), "SCHEDULE_TO_START": ("SCHEDULE_TO_CLOSE",)}.get(
        kind, ("START_TO_CLOSE", "SCHEDULE_TO_CLOSE")
    )
    for other in others:
        if seconds.get(other, seconds[kind]) < seconds[kind]:
            raise DeclarationError(
                f"stub of {name}: times_out={kind!r} cannot happen after {seconds[kind]} s, as {other} strikes after "
                f"{seconds[other]} s",
                remedy=f"say times_out={other!r}",
            )


def played(workflow: Workflow[..., Any], outcome: Outcome, stubs: Stubs) -> Workflow[..., Any]:
    """The same workflow with what a stub says as its code: signals, cancellation and timeouts find a real run."""
    function = scripted(outcome, stubs) if outcome.way != "times_out" else None

    async def play(*args: Any, **kwargs: Any) -> Any:
        if outcome.delay:
            await sleep(outcome.delay)
        if function is None:
            await asyncio.Event().wait()
            return None
        made = function(*args, **kwargs)
        return await made if hasattr(made, "__await__") else made

    copied = copy.copy(workflow)
    copied.fn, copied.is_async, copied.is_class = play, True, False
    copied.cls, copied.execute_name = None, ""
    copied.signal_handlers, copied.queries, copied.signatures = {}, {}, {}
    return copied

"""Activities of a test: begun when they are scheduled, ended when their time is over, answered as a worker answers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from attrs import define

from flowpy.declare.activity import Activity
from flowpy.errors import UnknownResource
from flowpy.interceptors import chosen
from flowpy.testing.known import DOMAIN
from flowpy.testing.outcomes import REAL, Outcome
from flowpy.testing.stage import Stage
from flowpy.testing.stubs import Stubs
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import Response, execute
from flowpy.worker.heartbeats import Heartbeats
from flowpy.worker.intercepting import AroundActivities
from flowpy.worker.previous import previous_details

__all__ = ["Work"]


@define(eq=False)
class _Working:
    """An activity task under way."""

    activity: Activity[..., Any]
    outcome: Outcome
    text: str | None
    context: ActivityContext

    @property
    def is_patient(self) -> bool:
        """Whether a cancellation can come while it works, and ends it at once."""
        return self.outcome.delay > 0 and self.outcome.way in ("returns", "raises")

    @property
    def is_silent(self) -> bool:
        """Whether it stops to heartbeat."""
        return self.outcome.value == "HEARTBEAT" and self.outcome.way == "times_out"


class Work:
    """The activity worker of an environment: it has a place for every task."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._heartbeats = Heartbeats(stage.service)
        self._loop = ActivityLoop()
        self._around = AroundActivities(chosen(stage.interceptors, "Environment", "activity", strict=False)[0])

    def begin(self) -> bool:
        """Take one task, if there is one; gives whether there was."""
        name = self._stage.works()
        if name is None:
            return False
        request = {"domain": DOMAIN, "taskList": {"name": name}, "identity": "activities"}
        task = self._stage.persist("PollForActivityTask", request)
        if task.get("taskToken"):
            self._begin(task)
        return True

    def _begin(self, task: dict[str, Any]) -> None:
        stage, type_ = self._stage, task["activityType"]
        context = ActivityContext(
            task,
            DOMAIN,
            converter=stage.converter,
            wake=self._beat,
            previous=partial(previous_details, stage.service, stage.converter.payloads),
        )
        outcome = stage.drawn.pop((context.run_id, context.activity_id), REAL)
        text = task.get("input")
        if text:
            text = stage.converter.payloads.open(text, "input")
        working = _Working(stage.known.activity((type_["name"], type_["version"])), outcome, text, context)
        begun, beats = stage.now(), outcome.heartbeats
        for number, details in enumerate(beats, 1):
            at = begun + outcome.delay * number / (len(beats) + 1)
            stage.agenda.add(at, working, partial(self._record, working, details))
        stage.agenda.add(begun + outcome.delay, working, partial(self._end, working))
        if outcome.delay:
            self._sustain(working)

    # --- heartbeats and cancellation ----------------------------------------------------------

    def _beat(self, context: ActivityContext) -> None:
        """Send a heartbeat, as the worker's own thread does."""
        try:
            self._heartbeats.flush(context)
        except UnknownResource:
            context.request_cancel(gone=True)

    def _record(self, working: _Working, details: Any) -> None:
        context = working.context
        if not context.cancel_requested:
            context.heartbeat(details)
        self._sustain(working)

    def _sustain(self, working: _Working) -> None:
        """A worker heartbeats for its activities: while one works, it never times out for want of a heartbeat."""
        if not working.context.gone:
            try:
                self._stage.engine.sustain(working.context.run_id, working.context.activity_id)
            except UnknownResource:
                working.context.request_cancel(gone=True)

    def notice_cancels(self) -> None:
        """Tell the activities under way what SWF tells in answer to a heartbeat."""
        for working in self._under_way():
            self._beat(working.context)
            if working.context.gone:
                self._stage.agenda.drop(working)
            elif working.context.cancel_requested and working.is_patient:
                self._stage.agenda.drop(working)
                self._answer(working, Response("RespondActivityTaskCanceled", {}))
            else:
                self._sustain(working)

    def abandon(self) -> None:
        """The worker dies: what is under way is left to its timeouts."""
        for working in self._under_way():
            self._beat(working.context)
            self._stage.agenda.drop(working)

    def _under_way(self) -> list[_Working]:
        return [owner for owner in self._stage.agenda.owners() if isinstance(owner, _Working)]

    # --- the end ------------------------------------------------------------------------------

    def _end(self, working: _Working) -> None:
        if working.outcome.way == "times_out":
            if working.is_silent:
                self._beat(working.context)
            else:
                self._sustain(working)
            return
        activity = substitute(working.activity, working.outcome, self._stage.stubs)
        response = execute(activity, working.text, working.context, self._stage.converter, self._loop, self._around)
        if response is not None:
            if response.fields.get("reason", "").startswith("KeyboardInterrupt"):
                raise KeyboardInterrupt
            self._answer(working, response)

    def _answer(self, working: _Working, response: Response) -> None:
        context = working.context
        if response.operation == "RespondActivityTaskFailed" and context.has_unsent_details:
            self._beat(context)
        if not context.gone:
            self._stage.answer(response.operation, context.sealed(response.operation, response.fields))

    def close(self) -> None:
        """End the loop on which ``async def`` activities ran."""
        self._loop.close()


def substitute(activity: Activity[..., Any], outcome: Outcome, stubs: Stubs) -> Activity[..., Any]:
    """The same activity with what a stub says as its function."""
    if not outcome.way:
        return activity
    function = scripted(outcome, stubs)
    made = copy.copy(activity)
    made.fn, made.is_async = function, iscoroutinefunction(function)
    # Returning from a manual activity's function does not end it; a result that a stub gives does.
    made.manual = activity.manual and outcome.way == "by"
    return made


def scripted(outcome: Outcome, stubs: Stubs) -> Callable[..., Any]:
    """A function that does what a stub says."""
    if outcome.way == "returns":
        return lambda *_args, **_kwargs: outcome.value
    if outcome.way == "raises":

        def fail(*_args: Any, **_kwargs: Any) -> Any:
            error = outcome.value
            raise error if isinstance(error, type) else error.with_traceback(None)

        return fail
    if iscoroutinefunction(outcome.value):

        async def work(*args: Any, **kwargs: Any) -> Any:
            with stubs.watched():
                return await outcome.value(*args, **kwargs)

        return work

    def act(*args: Any, **kwargs: Any) -> Any:
        with stubs.watched():
            return outcome.value(*args, **kwargs)

    return act

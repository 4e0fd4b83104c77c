"""The activity worker: polls for activity tasks while places are free, runs them, answers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Any

from attrs import define, field

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.activity import Activity
from flowpy.errors import ServiceError
from flowpy.service.protocol import Service
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.answering import answer
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import Response, execute, unknown_type
from flowpy.worker.heartbeats import NEVER, Heartbeats, interval
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.slots import Slots

__all__ = ["ActivityWorker"]

_COUNTED = {
    "RespondActivityTaskCompleted": "activities_completed",
    "RespondActivityTaskFailed": "activities_failed",
    "RespondActivityTaskCanceled": "activities_canceled",
}
_log = logging.getLogger("flowpy.worker")


def _by_type(activities: Iterable[Activity[..., Any]]) -> dict[tuple[str, str], Activity[..., Any]]:
    return {(activity.name, activity.version): activity for activity in activities}


@define(eq=False)
class ActivityWorker:
    """Handles activity tasks of one task list, each on a thread of its own.

    Args:
        service: The service.
        lifecycle: The worker's.
        activities: What it can run.
        domain: SWF domain.
        task_list: Task list to poll.
        identity: Who polls.
        slots: Places for running activities.
        converter: Encodes and decodes values.
    """

    service: Service
    lifecycle: Lifecycle
    activities: dict[tuple[str, str], Activity[..., Any]] = field(converter=_by_type)
    domain: str
    task_list: str
    identity: str
    slots: Slots
    converter: Converter = DEFAULT
    heartbeats: Heartbeats = field(init=False)
    loop: ActivityLoop = field(factory=ActivityLoop, init=False)

    def __attrs_post_init__(self) -> None:
        self.heartbeats = Heartbeats(self.service)

    def step(self) -> bool:
        """Poll once, when a place is free, and start the task.

        Returns:
            True if there was one.

        Raises:
            ServiceError: The poll failed.
        """
        if not self.slots.take():
            return False
        started = False
        try:
            started = self._poll()
        finally:
            if not started:
                self.slots.give_back()
        return started

    def _poll(self) -> bool:
        request = {"domain": self.domain, "taskList": {"name": self.task_list}, "identity": self.identity}
        with self.lifecycle.poll():
            task = self.service.call("PollForActivityTask", request)
            if not task.get("taskToken"):
                return False
            context = ActivityContext(task, self.domain, converter=self.converter, wake=self.heartbeats.soon)
            key = self.lifecycle.begin(repr(context))
        thread = threading.Thread(
            target=self._run, args=(task.get("input"), context, key), name=f"flowpy-{context.activity_id}", daemon=True
        )
        try:
            thread.start()
        except BaseException:
            self.lifecycle.end(key)
            raise
        return True

    def _run(self, text: str | None, context: ActivityContext, key: int) -> None:
        try:
            self._handle(text, context)
        except BaseException:
            _log.exception("%r: unexpected error, its task is left to its timeouts", context)
        finally:
            self.slots.give_back()
            self.lifecycle.end(key)

    def _handle(self, text: str | None, context: ActivityContext) -> None:
        activity = self.activities.get((context.name, context.version))
        if activity is None:
            response = unknown_type(context.name, context.version, list(self.activities), self.task_list)
            self._answer(response, context)
            return
        self.heartbeats.start(context, NEVER if activity.manual else interval(activity.settings.heartbeat_timeout))
        try:
            outcome = execute(activity, text, context, self.converter, self.loop)
            if outcome is not None:
                self._answer(outcome, context)
        finally:
            self.heartbeats.stop(context)

    def _answer(self, response: Response, context: ActivityContext) -> None:
        if context.gone:
            self.lifecycle.count("results_dropped")
            _log.warning("result dropped, task closed: %r", context)
            return
        if response.operation == "RespondActivityTaskFailed" and context.has_unsent_details:
            self._flush(context)
        request = {"taskToken": context.task_token, **response.fields}
        try:
            sent = answer(self.service, self.lifecycle, response.operation, request, repr(context))
        except ServiceError as error:
            _log.error("%r: the service refuses its result, the task is left to its timeouts: %s", context, error)
            return
        if sent:
            self.lifecycle.count(_COUNTED[response.operation])

    def _flush(self, context: ActivityContext) -> None:
        try:
            self.heartbeats.flush(context)
        except ServiceError as error:
            _log.debug("%r: last heartbeat details not sent: %s", context, error)

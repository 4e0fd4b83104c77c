"""The activity worker: polls for activity tasks while places are free, runs them, answers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.redaction import hiding
from flowpy.declare.activity import Activity
from flowpy.errors import AccessDenied, PayloadUnavailable, ServiceError
from flowpy.service.protocol import Service
from flowpy.service.retrying import PASSING, Backoff
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.answering import answer
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import Response, execute, failed, given_back, in_process, refused, unknown_type
from flowpy.worker.heartbeats import NEVER, Heartbeats, interval
from flowpy.worker.inputs import Inputs
from flowpy.worker.intercepting import NOTHING_AROUND, AroundActivities
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.previous import previous_details
from flowpy.worker.slots import Slots

if TYPE_CHECKING:
    from flowpy.worker.processes import Processes

__all__ = ["ActivityWorker"]

_COUNTED = {
    "RespondActivityTaskCompleted": "activities_completed",
    "RespondActivityTaskFailed": "activities_failed",
    "RespondActivityTaskCanceled": "activities_canceled",
}
T = TypeVar("T")

_PATIENCE = Backoff(initial=1.0, maximum=10.0)
# What took hours to make is not thrown away because credentials have expired or a policy is being repaired.
_WAITED_OUT = (*PASSING, AccessDenied)
_log = logging.getLogger("flowpy.worker")


def _by_type(activities: Iterable[Activity[..., Any]]) -> dict[tuple[str, str], Activity[..., Any]]:
    return {(activity.name, activity.version): activity for activity in activities}


@define(eq=False)
class ActivityWorker:
    """Handles activity tasks of one task list, each on a thread of its own, which may wait for a process.

    Args:
        service: The service.
        lifecycle: The worker's.
        activities: What it can run.
        domain: SWF domain.
        task_list: Task list to poll.
        identity: Who polls.
        slots: Places for running activities.
        converter: Encodes and decodes values.
        around: Interceptors.
        cancel_grace: Seconds that a cancelled activity in a process gets to stop by itself.
        hand_over: Told of the task (its token) of a manual activity that has returned.
    """

    service: Service
    lifecycle: Lifecycle
    activities: dict[tuple[str, str], Activity[..., Any]] = field(converter=_by_type)
    domain: str
    task_list: str
    identity: str
    slots: Slots
    converter: Converter = DEFAULT
    cancel_grace: float = 10.0
    around: AroundActivities = NOTHING_AROUND
    hand_over: Callable[[str], None] = field(default=lambda _: None)
    heartbeats: Heartbeats = field(init=False)
    inputs: Inputs = field(init=False)
    loop: ActivityLoop = field(factory=ActivityLoop, init=False)
    processes: Processes | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.heartbeats = Heartbeats(self.service)
        self.inputs = Inputs(self.converter.payloads, self.lifecycle)
        in_processes = [activity for activity in self.activities.values() if activity.executor == "process"]
        if in_processes:
            from flowpy.worker.processes import Processes

            self.processes = Processes(in_processes, self.converter, self._previous, self.cancel_grace)

    def end_processes(self) -> None:
        """End the processes of activities: what they do must not go on when their tasks are given to others."""
        if self.processes is not None:
            self.processes.close()

    def close(self) -> None:
        """End heartbeats, event loop and processes; activities that still run are abandoned or terminated."""
        self.end_processes()
        self.heartbeats.close()
        self.loop.close()

    def step(self) -> bool:
        """Poll once, when a place is free, and start the task.

        Returns:
            True if there was one.

        Raises:
            ServiceError: The poll failed.
        """
        if self.inputs.rest() or not self.slots.take():
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
        with self.lifecycle.poll() as may:
            if not may:
                return False
            task = self.service.call("PollForActivityTask", request)
            if not task.get("taskToken"):
                return False
            context = self._context(task)
            key = self.lifecycle.begin(repr(context))
        thread = threading.Thread(
            target=self._run, args=(task.get("input"), context, key), name=f"flowpy-{context.activity_id}", daemon=True
        )
        try:
            thread.start()
        except Exception as error:
            self._answer(given_back(f"it cannot be begun, the worker has no thread for it: {error}"), context)
            self.lifecycle.end(key)
            raise
        return True

    def _context(self, task: dict[str, Any]) -> ActivityContext:
        return ActivityContext(
            task,
            self.domain,
            task_list=self.task_list,
            converter=self.converter,
            wake=self.heartbeats.soon,
            previous=self._previous,
        )

    def _previous(self, context: ActivityContext) -> str | None:
        return previous_details(self.service, self.converter.payloads, context)

    def _run(self, text: str | None, context: ActivityContext, key: int) -> None:
        try:
            self._handle(text, context)
        except BaseException as error:
            _log.exception("%r: unexpected error, its task is failed", context)
            self._send(failed(error, context, self.converter), context)
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
            with hiding(self.converter.payloads.redact):
                outcome = self._outcome(activity, text, context)
            if outcome is not None:
                self._answer(outcome, context)
            elif activity.manual and not (self.processes is not None and self.processes.is_closed):
                self._hand_over(context)
        finally:
            self.heartbeats.stop(context)

    def _outcome(self, activity: Activity[..., Any], text: str | None, context: ActivityContext) -> Response | None:
        if text:
            try:
                text = self.inputs.open(text, context, lambda: context.cancel_requested)
            except Exception as error:
                if context.cancel_requested:
                    return Response("RespondActivityTaskCanceled", {})
                return given_back(str(error))
        if self.processes is not None and activity.executor == "process":
            if not self.around.arounds:
                return self.processes.run(activity, text, context)
            run = partial(in_process, self.processes.run, activity, context, self.converter)
            return execute(activity, text, context, self.converter, self.loop, self.around, run)
        return execute(activity, text, context, self.converter, self.loop, self.around)

    def _hand_over(self, context: ActivityContext) -> None:
        """A manual activity has returned; what it recorded last is sent, since nobody heartbeats from here on."""
        if context.has_unsent_details:
            self._flush(context)
        self.hand_over(context.task_token)

    def _patiently(self, context: ActivityContext, act: Callable[[], T]) -> T:
        """Do what needs a key or a store, again until they can be had; heartbeats keep the task alive meanwhile.

        Raises:
            PayloadUnavailable: It was given up: the task is gone, or the worker stops.
        """
        delays, is_told = _PATIENCE.delays(), False
        while True:
            try:
                return act()
            except PayloadUnavailable as error:
                if not is_told:
                    is_told = True
                    self.lifecycle.count("activities_held")
                    _log.error("%r: its result waits [%s]: %s", context, error.code, error)
                if context.gone or self.lifecycle.pause_answer(delays.next()):
                    raise

    def _answer(self, response: Response, context: ActivityContext) -> None:
        if context.gone:
            self.lifecycle.count("results_dropped")
            _log.warning("result dropped, task closed: %r", context)
            return
        if response.operation == "RespondActivityTaskFailed" and context.has_unsent_details:
            self._flush(context)
        self._send(response, context)

    def _send(self, response: Response, context: ActivityContext) -> None:
        """Send an answer, or one that says why it cannot be: of silence nobody would learn before a timeout."""
        error = self._refusal(response, context)
        if error is None:
            return
        self.lifecycle.count("results_refused")
        _log.error("%r: its result is refused, the task is failed instead: %s", context, error)
        error = self._refusal(refused(response, error), context)
        if error is not None:
            _log.error("%r: that is refused too, the task is left to its timeouts: %s", context, error)

    def _refusal(self, response: Response, context: ActivityContext) -> Exception | None:
        """Send an answer; gives why it can never be sent, None if it was or the task or the worker is at its end."""
        try:
            if response.is_plain:
                request = {"taskToken": context.task_token, **response.fields}
            else:
                request = self._patiently(context, partial(context.sealed, response.operation, response.fields))
            sent = answer(self.service, self.lifecycle, response.operation, request, repr(context), _WAITED_OUT)
        except PayloadUnavailable as error:
            _log.error("%r: its result cannot be sent, the task is left to its timeouts: %s", context, error)
        except Exception as error:
            return error
        else:
            if sent:
                self.lifecycle.count(response.counted or _COUNTED[response.operation])
        return None

    def _flush(self, context: ActivityContext) -> None:
        try:
            self.heartbeats.flush(context)
        except ServiceError as error:
            _log.debug("%r: last heartbeat details not sent: %s", context, error)

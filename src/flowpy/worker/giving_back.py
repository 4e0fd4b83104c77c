"""Activity tasks that a worker holds, known from what is said to the service, and giving them back."""

from __future__ import annotations

import logging
import threading
from typing import Any, Final

from attrs import define, evolve, field, frozen

from flowpy.data.failures import Failure, failure_text
from flowpy.data.jsontext import parse
from flowpy.errors import ServiceError, Throttled, UnknownResource
from flowpy.service.protocol import Service
from flowpy.service.retrying import PASSING, Backoff, Pause, persist

__all__ = ["OpenActivities"]

ENOUGH: Final = 3
"""Calls in a row that may fail before the rest is left to its timeouts: the process is to end soon."""

_ANSWERS: Final = frozenset(
    {"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled"}
)
_HEARTBEAT: Final = "RecordActivityTaskHeartbeat"
_THROTTLED: Final = Backoff(initial=0.25, maximum=2.0)
_log = logging.getLogger("flowpy.worker")


@frozen
class _Open:
    """A task that is not answered.

    Attributes:
        label: The task, for the log.
        details: Those of its last heartbeat, as they were sent.
        answer: The answer that did not get through, operation and request, if the activity has ended.
    """

    label: str
    details: str | None = None
    answer: tuple[str, dict[str, Any]] | None = None


@define(eq=False)
class OpenActivities:
    """The service, and a list of the activity tasks that it gave and that were not answered.

    Args:
        service: The service.
    """

    service: Service
    _open: dict[str, _Open] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one operation of SWF."""
        if operation == "PollForActivityTask":
            reply = self.service.call(operation, request)
            self._add(reply)
            return reply
        if operation not in _ANSWERS and operation != _HEARTBEAT:
            return self.service.call(operation, request)
        if operation == _HEARTBEAT and request.get("details") is not None:
            self._note(request["taskToken"], details=request["details"])
        try:
            reply = self.service.call(operation, request)
        except UnknownResource:
            self._drop(request["taskToken"])
            raise
        except PASSING:
            if operation in _ANSWERS:
                self._note(request["taskToken"], answer=(operation, request))
            raise
        if operation in _ANSWERS:
            self._drop(request["taskToken"])
        return reply

    def hand_over(self, token: str) -> None:
        """A manual activity has returned: somebody else completes its task, which is none of the worker's any more."""
        self._drop(token)

    def fail_all(self, pause: Pause = lambda _seconds: True) -> int:
        """Tell the service that the tasks which are open failed, so that they are retried at once.

        One whose activity has ended, and whose answer did not get through, is given that answer: work that was done
        is not done again. Several threads may share the work.

        Args:
            pause: Waits while the service throttles; True gives up. Default: at once.

        Returns:
            How many it took.
        """
        given, failures = 0, 0
        while failures < ENOUGH and (taken := self._take()) is not None:
            token, task = taken
            operation, request = task.answer or ("RespondActivityTaskFailed", _stopped(token, task))
            try:
                persist(self.service, operation, request, pause=pause, backoff=_THROTTLED, passing=(Throttled,))
            except UnknownResource:
                failures = 0
                continue
            except ServiceError as refused:
                failures += 1
                _log.error("%s is left to its timeouts: %s", task.label, refused)
                continue
            given, failures = given + 1, 0
            how = "given back as failed (WorkerStopped)" if task.answer is None else "answered at last"
            _log.warning("%s: %s", how, task.label)
        return given

    def _take(self) -> tuple[str, _Open] | None:
        with self._lock:
            token = next(iter(self._open), None)
            return None if token is None else (token, self._open.pop(token))

    def _add(self, task: dict[str, Any]) -> None:
        token = task.get("taskToken")
        if not token:
            return
        name, version = task["activityType"]["name"], task["activityType"]["version"]
        workflow_id = task["workflowExecution"]["workflowId"]
        with self._lock:
            self._open[token] = _Open(f"activity {name} {version} {task['activityId']!r} of workflow {workflow_id!r}")

    def _note(self, token: str, **known: Any) -> None:
        with self._lock:
            if token in self._open:
                self._open[token] = evolve(self._open[token], **known)

    def _drop(self, token: str) -> None:
        with self._lock:
            self._open.pop(token, None)


def _stopped(token: str, task: _Open) -> dict[str, Any]:
    """The failure of a task that is given back; the next attempt goes on from what it recorded last."""
    message = f"the worker stopped before {task.label} had ended; it may have done part of its work"
    heartbeat = None if task.details is None else parse(task.details)
    failure = Failure(type="WorkerStopped", module="flowpy.worker", message=message, heartbeat=heartbeat)
    reason, details = failure_text(failure)
    return {"taskToken": token, "reason": reason, "details": details}

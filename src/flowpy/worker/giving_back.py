"""Activity tasks that a worker holds, known from what is said to the service, and giving them back."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from attrs import define, evolve, field, frozen

from flowpy.data.failures import Failure, failure_text
from flowpy.errors import ServiceError, UnknownResource
from flowpy.service.protocol import Service
from flowpy.service.retrying import PASSING

__all__ = ["OpenActivities"]

ENOUGH: Final = 3
"""Calls in a row that may fail before the rest is left to its timeouts: the process is to end soon."""

_ANSWERS: Final = frozenset(
    {"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled"}
)
_HEARTBEAT: Final = "RecordActivityTaskHeartbeat"
_log = logging.getLogger("flowpy.worker")


@frozen
class _Open:
    """A task that is not answered.

    Attributes:
        label: The task, for the log.
        answer: The answer that did not get through, operation and request, if the activity has ended.
    """

    label: str
    answer: tuple[str, dict[str, Any]] | None = None


@define(eq=False)
class OpenActivities:
    """The service, and a list of the activity tasks that it gave and that were not answered.

    Args:
        service: The service.
        is_manual: Whether the activity of that name and version is completed elsewhere: it is none of the worker's.
    """

    service: Service
    is_manual: Callable[[str, str], bool]
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
        try:
            reply = self.service.call(operation, request)
        except UnknownResource:
            self._drop(request["taskToken"])
            raise
        except PASSING:
            if operation in _ANSWERS:
                self._has_ended(operation, request)
            raise
        if operation in _ANSWERS:
            self._drop(request["taskToken"])
        return reply

    def fail_all(self) -> int:
        """Tell the service that the tasks which are open failed, so that they are retried at once.

        One whose activity has ended, and whose answer did not get through, is given that answer: work that was done
        is not done again.

        Returns:
            How many it took.
        """
        with self._lock:
            tasks, self._open = self._open, {}
        given, failures = 0, 0
        for token, task in tasks.items():
            operation, request = task.answer or ("RespondActivityTaskFailed", _stopped(token, task.label))
            try:
                self.service.call(operation, request)
            except UnknownResource:
                continue
            except ServiceError as refused:
                failures += 1
                _log.error("%s is left to its timeouts: %s", task.label, refused)
                if failures == ENOUGH:
                    break
                continue
            given += 1
            how = "given back as failed (WorkerStopped)" if task.answer is None else "answered at last"
            _log.warning("%s: %s", how, task.label)
        return given

    def _add(self, task: dict[str, Any]) -> None:
        token = task.get("taskToken")
        if not token:
            return
        name, version = task["activityType"]["name"], task["activityType"]["version"]
        if not self.is_manual(name, version):
            workflow_id = task["workflowExecution"]["workflowId"]
            with self._lock:
                self._open[token] = _Open(
                    f"activity {name} {version} {task['activityId']!r} of workflow {workflow_id!r}"
                )

    def _has_ended(self, operation: str, request: dict[str, Any]) -> None:
        token = request["taskToken"]
        with self._lock:
            if token in self._open:
                self._open[token] = evolve(self._open[token], answer=(operation, request))

    def _drop(self, token: str) -> None:
        with self._lock:
            self._open.pop(token, None)


def _stopped(token: str, label: str) -> dict[str, Any]:
    message = f"the worker stopped before {label} had ended; it may have done part of its work"
    reason, details = failure_text(Failure(type="WorkerStopped", module="flowpy.worker", message=message))
    return {"taskToken": token, "reason": reason, "details": details}

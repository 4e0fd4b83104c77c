"""What activity code can know and do about the task it is running."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from typing import Any, Final, cast

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.limits import HEARTBEAT
from flowpy.data.sealing import seal_fields
from flowpy.declare.calling import running
from flowpy.errors import ActivityCancelRequested, CallError, PayloadNotDecodable

__all__ = ["ActivityContext", "current_activity", "running"]


_ATTEMPT: Final = re.compile(r".+\.r(\d{1,9})", re.DOTALL)


class ActivityContext:
    """The running activity task; get it with ``current_activity()``.

    Attributes:
        domain: SWF domain.
        workflow_id: workflowId of the run that scheduled it.
        run_id: Its runId.
        activity_id: activityId of this task.
        attempt: Which attempt of a retried activity it is, from 1, as its activityId says; those that a worker gave
            back without beginning them are counted.
        name: Name of the activity type.
        version: Its version.
        task_list: The task list it came from.
        task_token: SWF's token, with which another process may complete a manual activity.
        cancellation: An event that is set when the activity is to stop; to wait on in blocking code.
    """

    def __init__(
        self,
        task: dict[str, Any],
        domain: str,
        *,
        task_list: str = "",
        converter: Converter = DEFAULT,
        wake: Callable[[ActivityContext], None] | None = None,
        previous: Callable[[ActivityContext], str | None] | None = None,
    ) -> None:
        """Made by the worker from a PollForActivityTask reply.

        ``wake`` asks for a heartbeat soon; ``previous`` gives the last details of the attempts before as JSON.
        """
        self.domain = domain
        self.task_list = task_list
        self.workflow_id: str = task["workflowExecution"]["workflowId"]
        self.run_id: str = task["workflowExecution"]["runId"]
        self.activity_id: str = task["activityId"]
        numbered = _ATTEMPT.fullmatch(self.activity_id)
        self.attempt = int(numbered[1]) if numbered else 1
        self.name: str = task["activityType"]["name"]
        self.version: str = task["activityType"]["version"]
        self.task_token: str = task["taskToken"]
        self.cancellation = threading.Event()
        self._gone = False
        self._converter = converter
        self._wake = wake
        self._previous = previous
        self._details: str | None = None
        self._unsent = False
        self._on_cancel: Callable[[], None] | None = None
        # Held only to change the fields here, never while the service is called or the user's code runs.
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<activity {self.name} {self.version} {self.activity_id!r} of workflow {self.workflow_id!r}>"

    @property
    def fields(self) -> dict[str, Any]:
        """What log records of this activity carry."""
        return {
            "domain": self.domain,
            "task_list": self.task_list,
            "workflow_id": self.workflow_id,
            "run_id": self.run_id,
            "activity_id": self.activity_id,
            "activity_type": self.name,
            "activity_version": self.version,
            "attempt": self.attempt,
        }

    @property
    def cancel_requested(self) -> bool:
        """True when the activity is to stop: its cancellation was requested, or its task is gone."""
        return self.cancellation.is_set()

    @property
    def gone(self) -> bool:
        """True when SWF has closed the task (timed out, or the run ended): whatever is returned is dropped."""
        return self._gone

    def heartbeat(self, details: Any = None) -> None:
        """Record progress, and stop here if the activity is to stop.

        Cheap: the worker sends the newest details from a thread of its own, at most once a second. It also
        heartbeats by itself, so this is needed only to record details or to notice a cancel.

        Args:
            details: Any value the converter can encode, at most 2,048 characters of JSON; arrives in
                ``ActivityTimedOut.details``. None keeps the details recorded before.

        Raises:
            ActivityCancelRequested: The cancellation was requested, or the task is gone; in plain ``def``
                activities only (``async def`` ones get ``asyncio.CancelledError`` at an await).
            PayloadTooLarge: The details are over the limit.
        """
        if details is not None:
            self._keep(self._converter.encode_within(details, HEARTBEAT, "heartbeat details"))
        if self._on_cancel is None and self.cancel_requested:
            raise ActivityCancelRequested(
                "the task is gone, SWF has closed it" if self._gone else "the activity was asked to stop"
            )
        if self._wake is not None:
            self._wake(self)

    def last_details(self, type: Any = Any) -> Any:
        """What the attempts before this one recorded last, by heartbeat: to go on where they stopped.

        Asks SWF for the end of the run's history (GetWorkflowExecutionHistory) at each call; a first attempt need
        not ask, and gets None.

        Args:
            type: What the details are read as, such as ``list[str]`` or a dataclass; default plain JSON data.

        Returns:
            The details, or None if none were recorded.

        Raises:
            CallError: It was called on an event loop, which must not be blocked; the message has the remedy.
            PayloadNotDecodable: They do not fit the type.
            PayloadUnavailable: They are encoded or kept elsewhere, and cannot be had here.
            ServiceError: SWF does not give the history.
        """
        if self.attempt == 1 or self._previous is None:
            return None
        if asyncio._get_running_loop() is not None:  # noqa: SLF001 - the public form raises where there is none
            raise CallError(
                "last_details() waits for SWF and would stop all activities of the event loop meanwhile; "
                "in async code: await asyncio.to_thread(flowpy.current_activity().last_details)"
            )
        text = self._previous(self)
        try:
            return None if text is None else self._converter.decode(text, type, "heartbeat details")
        except PayloadNotDecodable:
            # Those of a worker of another SDK may be any text.
            if type is not Any and type is not str:
                raise
            return text

    # --- for the worker ----------------------------------------------------------------------

    @property
    def details(self) -> str | None:
        """The newest details as JSON."""
        return self._details

    def record(self, details: str | None) -> None:
        """Have a heartbeat sent that the activity recorded in a process of its own, with its details as JSON."""
        if details is not None:
            self._keep(details)
        if self._wake is not None:
            self._wake(self)

    def take_details(self) -> str | None:
        """The newest details as JSON, for a heartbeat about to be sent."""
        with self._lock:
            self._unsent = False
            return self._details

    def sealed(self, operation: str, fields: dict[str, str]) -> dict[str, Any]:
        """The request of an operation about this task, its payloads as they are sent.

        Raises:
            PayloadError: A payload cannot be encoded or kept now.
        """
        return seal_fields(operation, {"taskToken": self.task_token, **fields}, self._converter.payloads)

    def details_lost(self) -> None:
        """The heartbeat that took the details was not received."""
        with self._lock:
            self._unsent = self._details is not None

    @property
    def has_unsent_details(self) -> bool:
        """True when the newest details were never in a heartbeat."""
        return self._unsent

    def _keep(self, details: str) -> None:
        with self._lock:
            self._details, self._unsent = details, True

    def when_canceled(self, action: Callable[[], None]) -> None:
        """Have ``action`` called once, from any thread, when the activity is to stop."""
        with self._lock:
            self._on_cancel = action
            late = self.cancellation.is_set()
        if late:
            action()

    def request_cancel(self, *, gone: bool = False) -> None:
        """Tell the activity to stop; telling it twice does nothing."""
        with self._lock:
            self._gone = self._gone or gone
            if self.cancellation.is_set():
                return
            self.cancellation.set()
            action = self._on_cancel
        if action is not None:
            action()


def current_activity() -> ActivityContext:
    """The activity task that is running here.

    Returns:
        Its context.

    Raises:
        CallError: No activity runs here: neither in this thread nor in this asyncio task.
    """
    context = cast("ActivityContext | None", running.get())
    if context is None:
        raise CallError(
            "current_activity() was called where no activity of a flowpy worker runs",
            remedy="call it in the activity's own thread or task, and pass what it gives to threads you start",
        )
    return context

"""What activity code can know and do about the task it is running."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.limits import HEARTBEAT, check_length
from flowpy.errors import ActivityCancelRequested, CallError

__all__ = ["ActivityContext", "current_activity"]


class ActivityContext:
    """The running activity task; get it with ``current_activity()``.

    Attributes:
        domain: SWF domain.
        workflow_id: workflowId of the run that scheduled it.
        run_id: Its runId.
        activity_id: activityId of this task.
        name: Name of the activity type.
        version: Its version.
        task_token: SWF's token, with which another process may complete a manual activity.
        cancellation: An event that is set when the activity is to stop; to wait on in blocking code.
    """

    def __init__(
        self,
        task: dict[str, Any],
        domain: str,
        *,
        converter: Converter = DEFAULT,
        wake: Callable[[ActivityContext], None] | None = None,
    ) -> None:
        """Made by the worker from a PollForActivityTask reply; ``wake`` asks for a heartbeat soon."""
        self.domain = domain
        self.workflow_id: str = task["workflowExecution"]["workflowId"]
        self.run_id: str = task["workflowExecution"]["runId"]
        self.activity_id: str = task["activityId"]
        self.name: str = task["activityType"]["name"]
        self.version: str = task["activityType"]["version"]
        self.task_token: str = task["taskToken"]
        self.cancellation = threading.Event()
        self._gone = False
        self._converter = converter
        self._wake = wake
        self._details: str | None = None
        self._unsent = False
        self._on_cancel: Callable[[], None] | None = None
        # Held only to change the fields here, never while the service is called or the user's code runs.
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<activity {self.name} {self.version} {self.activity_id!r} of workflow {self.workflow_id!r}>"

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
            text = self._converter.encode(details, "heartbeat details")
            check_length(text, HEARTBEAT, "heartbeat details")
            with self._lock:
                self._details, self._unsent = text, True
        if self._on_cancel is None and self.cancel_requested:
            raise ActivityCancelRequested(
                "the task is gone, SWF has closed it" if self._gone else "the activity was asked to stop"
            )
        if self._wake is not None:
            self._wake(self)

    # --- for the worker ----------------------------------------------------------------------

    def take_details(self) -> str | None:
        """The newest details as JSON, for a heartbeat about to be sent."""
        with self._lock:
            self._unsent = False
            return self._details

    def details_lost(self) -> None:
        """The heartbeat that took the details was not received."""
        with self._lock:
            self._unsent = self._details is not None

    @property
    def has_unsent_details(self) -> bool:
        """True when the newest details were never in a heartbeat."""
        return self._unsent

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


running: ContextVar[ActivityContext | None] = ContextVar("flowpy_activity", default=None)
"""The activity whose code runs here; set by the worker."""


def current_activity() -> ActivityContext:
    """The activity task that is running here.

    Returns:
        Its context.

    Raises:
        CallError: No activity runs here: neither in this thread nor in this asyncio task.
    """
    context = running.get()
    if context is None:
        raise CallError(
            "current_activity() was called where no activity of a flowpy worker runs; call it in the activity's "
            "own thread or task, and pass what it gives to threads you start"
        )
    return context

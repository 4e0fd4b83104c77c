"""``flowpy.testing.ActivityEnvironment``: one activity alone, as a worker would run it."""

from __future__ import annotations

from typing import Any, ParamSpec, TypeVar

from flowpy.data.arguments import check_arguments, decode_arguments, encode_arguments
from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.limits import DATA
from flowpy.declare.activity import Activity
from flowpy.errors import DeclarationError
from flowpy.testing.given import number
from flowpy.testing.known import DOMAIN
from flowpy.worker.activity_context import ActivityContext, running
from flowpy.worker.event_loop import ActivityLoop

__all__ = ["ActivityEnvironment"]

P = ParamSpec("P")
R = TypeVar("R")


class ActivityEnvironment:
    """Runs activities with a task of their own: ``current_activity()`` works, heartbeats are kept, cancels come.

    Arguments and results go through the converter as they do on the way through SWF; what the function raises is
    raised as it is.

    >>> import flowpy
    >>> @flowpy.activity
    ... def pack(items: list[str]) -> int:
    ...     for item in items:
    ...         flowpy.current_activity().heartbeat(item)
    ...     return len(items)
    >>> alone = ActivityEnvironment()
    >>> alone.run(pack, ["lamp", "rug"]), alone.heartbeats
    (2, ['lamp', 'rug'])

    Args:
        attempt: Which attempt of a retried activity it is, from 1; the activityId says so.
        last_details: What the attempts before recorded last; given by ``current_activity().last_details()`` from the
            second attempt on.
        workflow_id: workflowId of the run that scheduled it.
        run_id: Its runId.
        task_token: SWF's token of the task.
        converter: Reads and writes values; default JSON.

    Attributes:
        heartbeats: Details of the heartbeats recorded, oldest first, as a reader of the history would read them.
        beats: How many heartbeats there were, those without details included.
    """

    def __init__(
        self,
        *,
        attempt: int = 1,
        last_details: Any = None,
        workflow_id: str = "workflow-1",
        run_id: str = "run-1",
        task_token: str = "token-1",  # noqa: S107 - no password
        converter: Converter = DEFAULT,
    ) -> None:
        self.heartbeats: list[Any] = []
        self.beats = 0
        self._execution = {"workflowId": workflow_id, "runId": run_id}
        self._task_token = task_token
        self._attempt = number(attempt, "attempt", "number of an attempt")
        self._last_details = None if last_details is None else converter.encode(last_details)
        self._converter = converter
        self._context: ActivityContext | None = None
        self._cancel_after: int | None = None
        self._is_gone = False

    @property
    def details(self) -> Any:
        """Details of the last heartbeat that had any, which ``ActivityTimedOut.details`` would bring; None if none."""
        return self.heartbeats[-1] if self.heartbeats else None

    def cancel(self, *, after: int = 0, gone: bool = False) -> None:
        """Have the activity asked to stop; from any thread, before it runs or while it does.

        Args:
            after: Only with the answer to the so manieth heartbeat; default at once.
            gone: Whether its task is gone: it timed out, or its run was closed.
        """
        self._cancel_after, self._is_gone = number(after, "cancel: after", "number of heartbeats", least=0), gone
        self._answer()

    def run(self, activity: Activity[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run an activity to its end.

        Args:
            activity: The declared activity.
            *args: Its arguments.
            **kwargs: Its arguments by name.

        Returns:
            Its result; of a manual activity what its function returns.

        Raises:
            BaseException: What it raises: ``ActivityCancelRequested`` (of an ``async def`` activity
                ``asyncio.CancelledError``) if it stops as it was asked to.
            PayloadError: An argument or the result has no JSON form, does not fit its type, or is too large.
            DeclarationError: It is no activity.
            TypeError: The arguments do not fit the function.
        """
        if not isinstance(activity, Activity):
            raise DeclarationError(f"{activity!r} is no activity", remedy="give what @activity made of the function")
        text = encode_arguments(activity.signature, args, kwargs, self._converter)
        check_arguments(text, activity.signature, self._converter, f"input of {activity.name}")
        arguments = decode_arguments(text, activity.signature, self._converter)
        self._context = context = ActivityContext(
            self._task(activity),
            DOMAIN,
            converter=self._converter,
            wake=self._beat,
            previous=lambda _context: self._last_details,
        )
        self._answer()
        result = _called(activity, context, arguments.args, arguments.kwargs)
        if activity.manual:
            returned: R = result
            return returned
        what = f"result of activity {activity.name!r}"
        encoded = self._converter.encode_within(result, DATA, what)
        read: R = self._converter.decode(encoded, activity.signature.return_type, what)
        return read

    def _task(self, activity: Activity[..., Any]) -> dict[str, Any]:
        """A task as PollForActivityTask gives it."""
        return {
            "taskToken": self._task_token,
            "activityId": f"{activity.name}-1" + (f".r{self._attempt}" if self._attempt > 1 else ""),
            "activityType": {"name": activity.name, "version": activity.version},
            "workflowExecution": self._execution,
        }

    def _beat(self, context: ActivityContext) -> None:
        self.beats += 1
        if context.has_unsent_details:
            self.heartbeats.append(self._converter.decode(context.take_details()))
        self._answer()

    def _answer(self) -> None:
        """What SWF answers to a heartbeat."""
        if self._context is not None and self._cancel_after is not None and self.beats >= self._cancel_after:
            self._context.request_cancel(gone=self._is_gone)


def _called(
    activity: Activity[..., Any], context: ActivityContext, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if activity.is_async:
        loop = ActivityLoop()
        try:
            return loop.run(activity.fn, context, (args, kwargs))
        finally:
            loop.close()
    before = running.set(context)
    try:
        return activity.fn(*args, **kwargs)
    finally:
        running.reset(before)

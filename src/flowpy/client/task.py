"""Ending a manual activity from wherever its task token went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flowpy.data import encode_failure
from flowpy.data.limits import HEARTBEAT
from flowpy.declare.activity import Activity
from flowpy.errors import DeclarationError

if TYPE_CHECKING:
    from flowpy.client.client import Client

__all__ = ["ActivityTask"]


R = TypeVar("R")


class ActivityTask(Generic[R]):
    """An open task of an ``@activity(manual=True)``, made by ``Client.activity``.

    Every method waits out throttling and lost connections for up to a minute; SWF takes one end of a task and no
    second. Every method raises UnknownResource if SWF has closed the task: it timed out, was ended, or its run ended.

    Args:
        client: The client.
        task_token: The token that ``current_activity().task_token`` gave where the activity ran.
        activity: The declared activity: its result has to fit what the function returns.
    """

    def __init__(self, client: Client, task_token: str, activity: Activity[..., R] | None = None) -> None:
        self._client = client
        self.task_token = task_token
        self._activity = activity

    def complete(self, result: R | None = None) -> None:
        """End the activity with a result (RespondActivityTaskCompleted).

        Args:
            result: Any value the converter can encode.

        Raises:
            PayloadError: It cannot be encoded, is too large, or is none of the activity's: nothing is sent.
        """
        what = "result of the activity" if self._activity is None else f"result of activity {self._activity.name!r}"
        text = self._client.encode(result, what)
        if self._activity is not None:
            # What the workflow will do with it, while there is still somebody to correct it.
            self._client.converter.decode(text, self._activity.signature.return_type, what)
        self._call("RespondActivityTaskCompleted", result=text)

    def fail(self, error: BaseException) -> None:
        """End the activity with a failure, as if its code had raised (RespondActivityTaskFailed).

        Args:
            error: The exception to record.

        Raises:
            DeclarationError: It is none; a text goes into one, such as ``ApplicationError(text)``.
        """
        if not isinstance(error, BaseException):
            raise DeclarationError(
                f"fail: {error!r} is no exception", remedy=f"give one, such as ApplicationError({error!r})"
            )
        reason, details = encode_failure(error, self._client.converter)
        self._call("RespondActivityTaskFailed", reason=reason, details=details)

    def cancel(self, details: Any = None) -> None:
        """Acknowledge a cancel (RespondActivityTaskCanceled).

        Args:
            details: Any value the converter can encode; None for none.
        """
        given = {} if details is None else {"details": self._client.encode(details, "details of the cancel")}
        self._call("RespondActivityTaskCanceled", **given)

    def heartbeat(self, details: Any = None) -> bool:
        """Say that the work goes on (RecordActivityTaskHeartbeat); needed only with a heartbeat timeout.

        Args:
            details: Any value the converter can encode, at most 2,048 characters of JSON; None for none.

        Returns:
            Whether the activity was asked to stop.
        """
        given = {}
        if details is not None:
            given["details"] = self._client.converter.encode_within(details, HEARTBEAT, "heartbeat details")
        return bool(self._call("RecordActivityTaskHeartbeat", **given).get("cancelRequested"))

    def _call(self, operation: str, **fields: str) -> dict[str, Any]:
        return self._client.call_repeatable(operation, {"taskToken": self.task_token, **fields})

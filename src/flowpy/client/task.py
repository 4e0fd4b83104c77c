"""Completing a manual activity from wherever its task token went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.data import encode_failure
from flowpy.data.limits import HEARTBEAT, check_length

if TYPE_CHECKING:
    from flowpy.client.client import Client

__all__ = ["ActivityTask"]


class ActivityTask:
    """An open task of an ``@activity(manual=True)``, made by ``Client.activity_task``.

    Every method raises UnknownResource if SWF has closed the task: it timed out, was answered, or its run ended.

    Args:
        client: The client.
        task_token: The token that ``current_activity().task_token`` gave where the activity ran.
    """

    def __init__(self, client: Client, task_token: str) -> None:
        self._client = client
        self.task_token = task_token

    def complete(self, result: Any = None) -> None:
        """End the activity with a result (RespondActivityTaskCompleted).

        Args:
            result: Any value the converter can encode.

        Raises:
            PayloadError: It cannot be encoded, or is too large.
        """
        self._call("RespondActivityTaskCompleted", result=self._client.encode(result, "result of the activity"))

    def fail(self, error: BaseException) -> None:
        """End the activity with a failure, as if its code had raised (RespondActivityTaskFailed).

        Args:
            error: The exception to record.
        """
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
            text = self._client.converter.encode(details, "heartbeat details")
            given["details"] = check_length(text, HEARTBEAT, "heartbeat details")
        return bool(self._call("RecordActivityTaskHeartbeat", **given).get("cancelRequested"))

    def _call(self, operation: str, **fields: str) -> dict[str, Any]:
        return self._client.call_unsent(operation, {"taskToken": self.task_token, **fields})

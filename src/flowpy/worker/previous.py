"""What the attempts before an activity's attempt had recorded by heartbeat, read from the run's history.

SWF hands nothing of it to the next attempt: a task carries its activityId and its input. Both are decisions, which
must stay as they are, so the worker looks into the history, from its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flowpy.data.jsontext import dump
from flowpy.data.payloads import Payloads
from flowpy.data.reading import decode_failure
from flowpy.data.sealing import open_events
from flowpy.service.protocol import Service
from flowpy.service.retrying import Backoff, persist
from flowpy.worker.activity_context import ActivityContext

__all__ = ["previous_details"]

_PAGE: Final = 100
_BACKOFF: Final = Backoff(initial=0.25, maximum=5.0)


def previous_details(service: Service, payloads: Payloads, context: ActivityContext) -> str | None:
    """The details that the nearest attempt before this one left, if any did.

    A timeout of any kind brings them along (ActivityTaskTimedOut), a failure in its record (``heartbeat``).

    Args:
        service: The service.
        payloads: Opens what was recorded.
        context: The attempt that asks; throttling and lost connections are waited out until it is to stop.

    Returns:
        Their JSON, or None.

    Raises:
        ServiceError: SWF does not give the history.
        PayloadUnavailable: What was recorded cannot be opened here.
    """
    first, below = context.activity_id.rpartition(".r")[0], context.attempt
    ended: dict[int, dict[str, Any]] = {}
    for event in _backwards(service, context):
        match event["eventType"]:
            case "ActivityTaskTimedOut" | "ActivityTaskFailed":
                ended[_attributes(event)["scheduledEventId"]] = event
            case "ActivityTaskScheduled":
                attempt = _attempt(_attributes(event)["activityId"], first)
                end = ended.pop(event["eventId"], None)
                if not 0 < attempt < below:
                    continue
                details = None if end is None else _details(end, payloads)
                # An id may be used again once it is closed: what is before attempt 1 belongs to another call.
                if details is not None or attempt == 1:
                    return details
                below = attempt
    return None


def _attempt(id: str, first: str) -> int:
    """Which attempt has that activityId (CONTRACTS §1), 0 if it is another activity's."""
    if id == first:
        return 1
    number = id.removeprefix(f"{first}.r")
    return int(number) if number != id and number.isdecimal() else 0


def _details(event: dict[str, Any], payloads: Payloads) -> str | None:
    (opened,) = open_events((event,), payloads)
    details: str | None = _attributes(opened).get("details")
    if event["eventType"] == "ActivityTaskTimedOut":
        return details
    heartbeat = decode_failure(None, details).heartbeat
    return None if heartbeat is None else dump(heartbeat)


def _attributes(event: dict[str, Any]) -> dict[str, Any]:
    kind = event["eventType"]
    attributes: dict[str, Any] = event[f"{kind[0].lower()}{kind[1:]}EventAttributes"]
    return attributes


def _backwards(service: Service, context: ActivityContext) -> Iterator[dict[str, Any]]:
    execution = {"workflowId": context.workflow_id, "runId": context.run_id}
    request = {"domain": context.domain, "execution": execution, "reverseOrder": True, "maximumPageSize": _PAGE}
    while True:
        page = persist(
            service, "GetWorkflowExecutionHistory", request, pause=context.cancellation.wait, backoff=_BACKOFF
        )
        yield from page.get("events") or ()
        if not page.get("nextPageToken"):
            return
        request = {**request, "nextPageToken": page["nextPageToken"]}

"""The history of an execution as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flowpy.client import Client
from flowpy.errors import ServiceUnavailable, Throttled
from flowpy.history import CLOSE_EVENTS
from flowpy.service.retrying import Backoff

__all__ = ["growing"]

_PAGE: Final = 100
_PAUSES: Final = Backoff(initial=1.0, maximum=10.0, factor=1.5)
"""Between looks: SWF limits GetWorkflowExecutionHistory per account, and workers need their share."""


def growing(
    client: Client, workflow_id: str, run_id: str, *, onward: bool = False
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Read a history again and again until the run closes: the newest events first, as far as they are new.

    Args:
        client: Its service and its waiting are used.
        workflow_id: workflowId of the run.
        run_id: Its runId.
        onward: Go on with the run that it continues as, and so on, until one closes otherwise.

    Yields:
        The runId and all events so far, after each look: at once, then after a second, later less often while nothing
        happens, at least every ten seconds.

    Raises:
        UnknownResource: There is no such run.
    """
    events = client.run(workflow_id, run_id).history()
    pauses = _PAUSES.delays()
    while True:
        yield run_id, events
        if events and events[-1]["eventType"] in CLOSE_EVENTS:
            continued = events[-1].get("workflowExecutionContinuedAsNewEventAttributes")
            if not (onward and continued):
                return
            run_id = continued["newExecutionRunId"]
            events, pauses = client.run(workflow_id, run_id).history(), _PAUSES.delays()
            continue
        client.sleep(pauses.next())
        try:
            newer = _newer(client, {"workflowId": workflow_id, "runId": run_id}, len(events))
        except (Throttled, ServiceUnavailable):
            continue
        if newer:
            events, pauses = [*events, *newer], _PAUSES.delays()


def _newer(client: Client, execution: dict[str, str], after: int) -> list[dict[str, Any]]:
    """The events after an event, oldest first."""
    request = {"domain": client.domain, "execution": execution, "reverseOrder": True, "maximumPageSize": _PAGE}
    newer: list[dict[str, Any]] = []
    while True:
        reply = client.service.call("GetWorkflowExecutionHistory", request)
        page = reply.get("events") or []
        newer += [event for event in page if event["eventId"] > after]
        token = reply.get("nextPageToken")
        if not token or not page or page[-1]["eventId"] <= after + 1:
            return newer[::-1]
        request["nextPageToken"] = token

"""Reading what SWF hands out in pages: decision tasks and histories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from flowpy.errors import InvalidRequest, ServiceError, ServiceUnavailable, Throttled
from flowpy.service.protocol import Service
from flowpy.service.retrying import Backoff, Pause, persist

__all__ = ["PAGE_SIZE", "PagesLost", "PolledDecisionTask", "decision_task", "history", "pages"]

PAGE_SIZE: Final = 1000
"""Events per page: the most SWF gives."""

_PAGE_BACKOFF: Final = Backoff(initial=0.1, maximum=2.0)


class PagesLost(ServiceError):
    """A decision task whose history could not be read to its end; SWF gives the task out again."""


@frozen
class PolledDecisionTask:
    """A decision task with its whole history.

    Attributes:
        domain: Domain it was polled in.
        workflow_id: workflowId of the run.
        run_id: Its runId.
        workflow_type: Name and version.
        events: Events 1 to ``started_event_id``, as boto3 gives them.
        started_event_id: Id of this task's DecisionTaskStarted.
        previous_started_event_id: That of the last completed one, 0 at first.
        task_token: What answers carry.
    """

    domain: str
    workflow_id: str
    run_id: str
    workflow_type: tuple[str, str]
    events: list[dict[str, Any]]
    started_event_id: int
    previous_started_event_id: int
    task_token: str


def decision_task(
    service: Service, domain: str, task_list: str, identity: str, page_size: int = PAGE_SIZE, *, pause: Pause
) -> PolledDecisionTask | None:
    """Poll for one decision task and read all its pages before anything is decided.

    Further pages come from PollForDecisionTask itself, with unchanged arguments, as SWF requires.

    Args:
        service: The service.
        domain: Domain to poll in.
        task_list: Name of the task list.
        identity: Who polls, recorded in DecisionTaskStarted.
        page_size: Events per page, 1 to 1000; default 1000.
        pause: Waits between attempts at a page; True gives up.

    Returns:
        The task, or None if the poll was empty (taskToken missing, null or "").

    Raises:
        PagesLost: A further page was refused (its token lives for a limited time) or the events are not complete.
        ServiceError: The poll itself failed.
    """
    request: dict[str, Any] = {"domain": domain, "taskList": {"name": task_list}, "identity": identity}
    request["maximumPageSize"] = page_size
    reply = service.call("PollForDecisionTask", request)
    token = reply.get("taskToken")
    if not token:
        return None
    execution, type_ = reply["workflowExecution"], reply["workflowType"]
    events: list[dict[str, Any]] = list(reply.get("events") or ())
    next_page = reply.get("nextPageToken")
    while next_page:
        page = _page(service, {**request, "nextPageToken": next_page}, execution, pause)
        events += page.get("events") or ()
        next_page = page.get("nextPageToken")
    started = reply["startedEventId"]
    _check_complete(events, started, execution)
    return PolledDecisionTask(
        domain=domain,
        workflow_id=execution["workflowId"],
        run_id=execution["runId"],
        workflow_type=(type_["name"], type_["version"]),
        events=events,
        started_event_id=started,
        previous_started_event_id=reply.get("previousStartedEventId") or 0,
        task_token=token,
    )


def _page(service: Service, request: dict[str, Any], execution: dict[str, str], pause: Pause) -> dict[str, Any]:
    try:
        page = persist(service, "PollForDecisionTask", request, pause=pause, backoff=_PAGE_BACKOFF)
    except (InvalidRequest, Throttled, ServiceUnavailable) as error:
        message = f"page of the history of {_named(execution)} is gone: {error}"
        raise PagesLost(message, operation=error.operation, fault=error.fault) from error
    if not page.get("taskToken"):
        raise PagesLost(f"page of the history of {_named(execution)} came back empty", operation="PollForDecisionTask")
    return page


def _check_complete(events: list[dict[str, Any]], started: int, execution: dict[str, str]) -> None:
    if len(events) != started or events[0]["eventId"] != 1 or events[-1]["eventId"] != started:
        message = f"history of {_named(execution)} has {len(events)} events, not {started}"
        raise PagesLost(message, operation="PollForDecisionTask")


def _named(execution: dict[str, str]) -> str:
    return f"workflow {execution['workflowId']!r} run {execution['runId']!r}"


def pages(service: Service, operation: str, request: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """Read a paged listing to its end.

    Args:
        service: The service.
        operation: SWF operation that gives ``nextPageToken``.
        request: Its request, the same for all pages.
        key: Member of the replies that holds the items, such as ``executionInfos``.

    Yields:
        The items, in the order of the service.

    Raises:
        ServiceError: A page was refused.
    """
    reply = service.call(operation, request)
    yield from reply.get(key) or ()
    while token := reply.get("nextPageToken"):
        reply = service.call(operation, {**request, "nextPageToken": token})
        yield from reply.get(key) or ()


def history(service: Service, domain: str, workflow_id: str, run_id: str) -> Iterator[dict[str, Any]]:
    """Read the history of a run with GetWorkflowExecutionHistory.

    Args:
        service: The service.
        domain: Domain of the run.
        workflow_id: Its workflowId.
        run_id: Its runId.

    Yields:
        All events in order, as boto3 gives them.

    Raises:
        UnknownResource: There is no such run, or its retention is over.
    """
    execution = {"workflowId": workflow_id, "runId": run_id}
    request = {"domain": domain, "execution": execution, "maximumPageSize": PAGE_SIZE}
    return pages(service, "GetWorkflowExecutionHistory", request, "events")

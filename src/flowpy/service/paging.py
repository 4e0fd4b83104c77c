"""Reading what SWF hands out in pages: decision tasks and histories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import evolve, frozen

from flowpy.errors import InvalidRequest, ServiceError, ServiceUnavailable, Throttled
from flowpy.service.protocol import Service
from flowpy.service.retrying import Backoff, Pause, persist

__all__ = ["PAGE_SIZE", "PagesLost", "PolledDecisionTask", "decision_task", "history", "newest", "pages", "whole"]

PAGE_SIZE: Final = 1000
"""Events per page: the most SWF gives."""

ATTEMPTS: Final = 3
"""How often a history is begun, if the tokens of its pages expire."""

LATE: Final = 5
"""How often a history is read again that does not go up to the decision task yet: GetWorkflowExecutionHistory is
eventually consistent (AWS's API reference)."""

NEWEST: Final = 100
"""Events that ``newest`` reads at most."""

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
        events: Events 1 to ``started_event_id``, as boto3 gives them; if it was polled with ``since_previous`` perhaps
            only the end of them.
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

    @property
    def is_whole(self) -> bool:
        """Whether ``events`` are the whole history: all are there, from event 1 on."""
        return len(self.events) == self.started_event_id and self.events[0]["eventId"] == 1


def _never(_run_id: str) -> bool:
    return False


def decision_task(
    service: Service,
    domain: str,
    task_list: str,
    identity: str,
    page_size: int = PAGE_SIZE,
    *,
    pause: Pause,
    since_previous: bool = False,
    first_page_only: Callable[[str], bool] = _never,
) -> PolledDecisionTask | None:
    """Poll for one decision task and read all its pages before anything is decided.

    Further pages come from PollForDecisionTask itself, with unchanged arguments, as SWF requires. If one of them is
    refused, as a page is whose token has expired, the history is read again from its start with
    GetWorkflowExecutionHistory.

    Args:
        service: The service.
        domain: Domain to poll in.
        task_list: Name of the task list.
        identity: Who polls, recorded in DecisionTaskStarted.
        page_size: Events per page, 1 to 1000; default 1000.
        pause: Waits between attempts at a page; True gives up.
        since_previous: Read only the events since the decision task before, whatever SWF makes of that (those with a
            timestamp not before that of its DecisionTaskStarted): the caller has to look which there are.
        first_page_only: Whether the first page is enough for the run of this runId.

    Returns:
        The task, or None if the poll was empty (taskToken missing, null or "").

    Raises:
        PagesLost: The history could not be read up to the task's DecisionTaskStarted.
        ServiceError: The poll itself failed.
    """
    request: dict[str, Any] = {"domain": domain, "taskList": {"name": task_list}, "identity": identity}
    request["maximumPageSize"] = page_size
    if since_previous:
        request["startAtPreviousStartedEvent"] = True
    reply = service.call("PollForDecisionTask", request)
    token = reply.get("taskToken")
    if not token:
        return None
    execution, type_ = reply["workflowExecution"], reply["workflowType"]
    task = PolledDecisionTask(
        domain=domain,
        workflow_id=execution["workflowId"],
        run_id=execution["runId"],
        workflow_type=(type_["name"], type_["version"]),
        events=list(reply.get("events") or ()),
        started_event_id=reply["startedEventId"],
        previous_started_event_id=reply.get("previousStartedEventId") or 0,
        task_token=token,
    )
    if first_page_only(task.run_id):
        return task
    next_page = reply.get("nextPageToken")
    while next_page:
        try:
            page = _page(service, {**request, "nextPageToken": next_page}, execution, pause)
        except PagesLost:
            if pause(0):
                raise
            return whole(service, task, pause=pause)
        task.events.extend(page.get("events") or ())
        next_page = page.get("nextPageToken")
    if not since_previous:
        _check_complete(task.events, task.started_event_id, execution)
    return task


def whole(service: Service, task: PolledDecisionTask, *, pause: Pause) -> PolledDecisionTask:
    """The same task with its whole history, which GetWorkflowExecutionHistory gives.

    Args:
        service: The service.
        task: A task that may have only the end of its history.
        pause: Waits between attempts at a page; True gives up.

    Raises:
        PagesLost: The history could not be read up to the task's DecisionTaskStarted.
    """
    execution = {"workflowId": task.workflow_id, "runId": task.run_id}
    delays = _PAGE_BACKOFF.delays()
    while True:
        events = _from_its_start(service, task, execution, pause)
        if len(events) == task.started_event_id or delays.attempt == LATE or pause(delays.next()):
            break
    _check_complete(events, task.started_event_id, execution)
    return evolve(task, events=events)


def _from_its_start(
    service: Service, task: PolledDecisionTask, execution: dict[str, str], pause: Pause
) -> list[dict[str, Any]]:
    """The events up to a task's DecisionTaskStarted, read once more if the token of a page has expired."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _up_to(service, task, execution, pause)
        except ServiceError as error:
            if isinstance(error, InvalidRequest) and attempt < ATTEMPTS and not pause(0):
                continue
            message = f"history of {_named(execution)} cannot be read: {error.what}"
            raise PagesLost(message, operation=error.operation, fault=error.fault, remedy=error.remedy) from error
    raise AssertionError("the last attempt returns or raises")


def _up_to(service: Service, task: PolledDecisionTask, execution: dict[str, str], pause: Pause) -> list[dict[str, Any]]:
    """The events up to a task's DecisionTaskStarted."""
    request = {"domain": task.domain, "execution": execution, "maximumPageSize": PAGE_SIZE}
    events: list[dict[str, Any]] = []
    while True:
        page = persist(service, "GetWorkflowExecutionHistory", request, pause=pause, backoff=_PAGE_BACKOFF)
        events += page.get("events") or ()
        token = page.get("nextPageToken")
        if not token or len(events) >= task.started_event_id:
            del events[task.started_event_id :]
            return events
        request["nextPageToken"] = token


def newest(service: Service, task: PolledDecisionTask, seen: int, *, pause: Pause) -> list[dict[str, Any]] | None:
    """The events of a task's run after those seen before, without reading the history from its start.

    Args:
        service: The service.
        task: The task.
        seen: Id of the last event seen before.
        pause: Waits between attempts; True gives up.

    Returns:
        Events ``seen + 1`` to the task's DecisionTaskStarted; None if they are too many for a page.

    Raises:
        ServiceError: The history cannot be read.
    """
    request = {
        "domain": task.domain,
        "execution": {"workflowId": task.workflow_id, "runId": task.run_id},
        "maximumPageSize": NEWEST,
        "reverseOrder": True,
    }
    page = persist(service, "GetWorkflowExecutionHistory", request, pause=pause, backoff=_PAGE_BACKOFF)
    events = [event for event in reversed(page.get("events") or ()) if seen < event["eventId"] <= task.started_event_id]
    is_all = len(events) == task.started_event_id - seen
    return events if is_all else None


def _page(service: Service, request: dict[str, Any], execution: dict[str, str], pause: Pause) -> dict[str, Any]:
    try:
        page = persist(service, "PollForDecisionTask", request, pause=pause, backoff=_PAGE_BACKOFF)
    except (InvalidRequest, Throttled, ServiceUnavailable) as error:
        message = f"page of the history of {_named(execution)} is gone: {error.what}"
        raise PagesLost(message, operation=error.operation, fault=error.fault, remedy=error.remedy) from error
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

"""Reading a history in whatever shape it was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import define, evolve, field

from flowpy.errors import HistoryError
from flowpy.history.events import CLOSE_EVENTS, Event, attributes
from flowpy.history.links import check_links
from flowpy.history.shapes import lower_keys, normal_event
from flowpy.history.sources import HistorySource, documents, located
from flowpy.words import an

__all__ = ["History", "read_history"]

_RECORD: Final = "Record it with get-workflow-execution-history."
_GET_ALL: Final = "read every page, in any order, and give them together"
# What other calls answer, to tell users which file they hold.
_OTHER_ANSWERS: Final = {
    "executionInfo": "DescribeWorkflowExecution",
    "executionInfos": "List…WorkflowExecutions",
    "decisions": "RespondDecisionTaskCompleted",
    "activityId": "PollForActivityTask",
}


@define
class History:
    """A run's events, checked: event n stands at index n - 1.

    Attributes:
        events: The events in boto3's form (int ``eventId``, aware datetime ``eventTimestamp``), ascending.
        workflow_type: Name and version of the workflow type.
        workflow_id: The run's workflowId, or None where the source does not say it; histories as such do not.
        run_id: Its runId, or None likewise.
    """

    events: list[Event] = field(repr=lambda events: f"<{len(events)}>")
    workflow_type: tuple[str, str]
    workflow_id: str | None = None
    run_id: str | None = None

    @property
    def close_event(self) -> Event | None:
        """The event that closed the run, or None while it is open."""
        return self.events[-1] if self.events[-1]["eventType"] in CLOSE_EVENTS else None


def read_history(source: HistorySource, *, workflow_id: str | None = None, run_id: str | None = None) -> History:
    """Read a recorded history.

    Takes what ``aws swf get-workflow-execution-history`` (v1 and v2) and ``poll-for-decision-task`` print, what boto3
    returns, what Java, .NET and Python programs dump of it: an object with ``events``, a bare list of events, several
    pages together, ascending or descending. Times may be epoch seconds, epoch milliseconds, ISO 8601 or datetimes.

    Args:
        source: A path (str or ``os.PathLike``), JSON text or bytes, an open file, one page as a mapping, or an iterable
            of pages, events, paths or texts, such as a boto3 paginator. A text or file may hold several JSON documents
            one after another. A ``History`` is given back. Events in boto3's form are neither copied nor changed.
        workflow_id: The workflowId where the source does not say it, or instead of it.
        run_id: The runId, likewise.

    Returns:
        The history; unknown event types are kept.

    Raises:
        HistoryError: A source that is unreadable, malformed, truncated, or contradicts itself.
    """
    if isinstance(source, History):
        return evolve(source, workflow_id=workflow_id or source.workflow_id, run_id=run_id or source.run_id)
    where, found = documents(source)
    try:
        return _history(found, workflow_id, run_id)
    except HistoryError as error:
        raise located(error, where) from error.__cause__
    except RecursionError as error:
        raise HistoryError(f"{where}: nested too deeply to be a history.", remedy=_RECORD) from error


def _history(found: Iterable[Any], workflow_id: str | None, run_id: str | None) -> History:
    pages = _Pages()
    for document in found:
        pages.add(document)
    events = _in_order(pages.events)
    pages.check_complete(events)
    check_links(events)
    execution = pages.execution or {}
    return History(
        events=events,
        workflow_type=_workflow_type(events[0]),
        workflow_id=workflow_id or execution.get("workflowId"),
        run_id=run_id or execution.get("runId"),
    )


@define
class _Pages:
    """The events found so far and what the pages around them say."""

    events: list[Event] = field(factory=list)
    execution: Mapping[str, str] | None = None
    started_event_id: int = 0
    pages: int = 0
    continued: int = 0

    def add(self, document: Any, *, inside: bool = False) -> None:
        # Naming dict first spares each event of a bare list the slow check of an abstract class.
        if isinstance(document, (dict, Mapping)):
            self._add_object(document)
        elif isinstance(document, Iterable) and not isinstance(document, (str, bytes)) and not inside:
            for item in document:
                self.add(item, inside=True)
        else:
            found = f"{an(type(document).__name__)} ({document!r:.60})"
            remedy = f"Record it with get-workflow-execution-history; {_GET_ALL}."
            raise HistoryError(f"holds {found} where a page or an event should be.", remedy=remedy)

    def _add_object(self, document: Mapping[str, Any]) -> None:
        if "Events" in document or "EventId" in document:
            document = lower_keys(document)
        if isinstance(events := document.get("events"), (list, tuple)):
            self._note_page(document)
            self.events.extend(normal_event(event, n) for n, event in enumerate(events, len(self.events) + 1))
        elif "eventType" in document or "eventId" in document:
            self.events.append(normal_event(document, len(self.events) + 1))
        else:
            raise _no_history(document)

    def _note_page(self, page: Mapping[str, Any]) -> None:
        self.pages += 1
        self.continued += bool(page.get("nextPageToken") or page.get("NextToken"))
        if isinstance(started := page.get("startedEventId"), int):
            self.started_event_id = max(self.started_event_id, started)
        execution = page.get("workflowExecution")
        if not isinstance(execution, Mapping):
            return
        if self.execution is not None and dict(execution) != dict(self.execution):
            message = f"mixes two runs, {dict(self.execution)} and {dict(execution)}."
            raise HistoryError(message, remedy="Give the pages of one run.")
        self.execution = execution

    def check_complete(self, events: list[Event]) -> None:
        """Refuse a history that says of itself that more events follow."""
        last: int = events[-1]["eventId"]
        if self.pages and self.continued == self.pages:
            message = f"is truncated after event {last}: its last page has a token for the next one"
        elif self.started_event_id > last:
            message = f"is truncated after event {last}: the decision task started with event {self.started_event_id}"
        else:
            return
        raise HistoryError(f"{message}.", remedy=f"To mend it, {_GET_ALL}.", event_id=last)


def _no_history(document: Mapping[str, Any]) -> HistoryError:
    if "startedEventId" in document or "taskToken" in document:
        message = "is an empty poll reply: there was no decision task."
        return HistoryError(message, remedy="Poll again, or read the run's history.")
    call = next((call for key, call in _OTHER_ANSWERS.items() if key in document), None)
    there = f"is an answer of {call}" if call else f"has the members {', '.join(map(str, document))[:120] or 'none'}"
    return HistoryError(f"{there}, not the events of a run.", remedy=_RECORD)


def _in_order(events: list[Event]) -> list[Event]:
    """Give the events ascending, each once, from 1 without a gap."""
    if any(event["eventId"] != n for n, event in enumerate(events, 1)):
        events = _each_once(sorted(events, key=_event_id))
    if not events:
        raise HistoryError("has no events.", remedy=f"Record it again; {_GET_ALL}.")
    for expected, event in enumerate(events, 1):
        if event["eventId"] != expected:
            there = f"after {expected - 1} comes" if expected > 1 else "the first is"
            message = f"event {expected} is missing: {there} {event['eventId']}."
            remedy = f"Pages are missing or events were deleted: {_GET_ALL}."
            raise HistoryError(message, event_id=expected, remedy=remedy)
    if events[0]["eventType"] != "WorkflowExecutionStarted":
        message = f"event 1 is {an(events[0]['eventType'])}; a run's first event is WorkflowExecutionStarted."
        raise HistoryError(message, remedy="Record the history again.", event_id=1)
    return events


def _event_id(event: Event) -> int:
    found: int = event["eventId"]
    return found


def _each_once(events: list[Event]) -> list[Event]:
    once: list[Event] = []
    for event in events:
        if not once or event["eventId"] != once[-1]["eventId"]:
            once.append(event)
        elif event != once[-1]:
            message = (
                f"event {event['eventId']} is there twice with different content ({once[-1]['eventType']}, "
                f"{event['eventType']}): the pages are of different runs."
            )
            raise HistoryError(message, event_id=event["eventId"], remedy="Give the pages of one run.")
    return once


def _workflow_type(started: Event) -> tuple[str, str]:
    found = attributes(started).get("workflowType")
    if isinstance(found, Mapping):
        name, version = found.get("name"), found.get("version")
        if isinstance(name, str) and isinstance(version, str):
            return name, version
    message = f"event 1 has the workflowType {found!r:.80}; it must have a name and a version"
    raise HistoryError(f"{message}.", remedy="Record the history again.", event_id=1)

"""The order law (L1): a history cut into episodes, each with what one accepted decision task saw.

The events of an episode come in this order: the own transaction of the previous decision, then the events recorded
while that decision was being made, then the rest. A decision task that timed out, or that was answered with nothing
but a ``flowpy.hold-<n>`` timer, never happened: its events join the next episode.

Traps of real histories that this module exists for: the next DecisionTaskScheduled often stands *before* the
DecisionTaskCompleted, and even between the events of one transaction; three kinds of event carry a
``decisionTaskCompletedEventId`` and are later results all the same; timestamps say nothing about order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field

from flowpy.errors import HistoryError

Event = dict[str, Any]
"""One history event as boto3 gives it."""

HOLD_PREFIX: Final = "flowpy.hold-"
AGAIN_PREFIX: Final = "flowpy.again-"
RESERVED_PREFIX: Final = "flowpy."

_OWN: Final = {
    kind: kind[0].lower() + kind[1:] + "EventAttributes"
    for kind in (
        "ActivityTaskScheduled ScheduleActivityTaskFailed ActivityTaskCancelRequested RequestCancelActivityTaskFailed "
        "TimerStarted StartTimerFailed TimerCanceled CancelTimerFailed "
        "StartChildWorkflowExecutionInitiated StartChildWorkflowExecutionFailed "
        "SignalExternalWorkflowExecutionInitiated RequestCancelExternalWorkflowExecutionInitiated "
        "LambdaFunctionScheduled ScheduleLambdaFunctionFailed MarkerRecorded RecordMarkerFailed "
        "WorkflowExecutionCompleted CompleteWorkflowExecutionFailed WorkflowExecutionFailed "
        "FailWorkflowExecutionFailed WorkflowExecutionCanceled CancelWorkflowExecutionFailed "
        "WorkflowExecutionContinuedAsNew ContinueAsNewWorkflowExecutionFailed"
    ).split()
}
_ENDED: Final = frozenset(
    "WorkflowExecutionCompleted WorkflowExecutionFailed WorkflowExecutionCanceled WorkflowExecutionContinuedAsNew "
    "WorkflowExecutionTimedOut WorkflowExecutionTerminated".split()
)
_SPECIAL: Final = frozenset(_OWN) | _ENDED | frozenset(
    "DecisionTaskScheduled DecisionTaskStarted DecisionTaskCompleted DecisionTaskTimedOut "
    "TimerFired WorkflowExecutionSignaled".split()
)


@define
class Episode:
    """What one accepted decision task saw for the first time, and what was recorded as its answer.

    Attributes:
        started: Its DecisionTaskStarted event; the time of this event is the workflow's clock.
        events: New events in handling order, those about decision tasks left out.
        answers: The own transaction of its decision in history order; None while the decision is open.
        completed: Its DecisionTaskCompleted event; None while the decision is open.
    """

    started: Event
    events: list[Event]
    answers: list[Event] | None = None
    completed: Event | None = None

    @property
    def started_event_id(self) -> int:
        """Id of the DecisionTaskStarted event."""
        return int(self.started["eventId"])


@define
class Episodes:
    """Cuts a history into episodes, all at once or as it grows.

    >>> history = [{"eventId": 1, "eventType": "WorkflowExecutionStarted"},
    ...            {"eventId": 2, "eventType": "DecisionTaskScheduled"},
    ...            {"eventId": 3, "eventType": "DecisionTaskStarted"}]
    >>> [(e.started_event_id, len(e.events)) for e in Episodes().feed(history)]
    [(3, 1)]
    """

    held: int = 0
    """How many decision tasks before the one open now were answered with a hold timer."""
    held_in_a_row: int = 0
    """How many of these came last, with no real decision since."""
    unanswered: int = 0
    """How many decision tasks in a row, up to now, timed out after they were started."""
    decided: bool = False
    """Whether any decision task, held ones included, was ever completed."""
    closed: Event | None = None
    """The event that closed the execution, if it is closed."""
    context: str | None = None
    """The last executionContext recorded."""
    first_context: str | None = None
    """The first executionContext recorded: it holds the contract version of the run."""
    last_event_id: int = 0
    broken: bool = False
    """An episode that was handed out as open turned out never to have happened: start again from event 1."""
    ends_in_a_transaction: bool = False
    """Whether the newest event belongs to the transaction of the last decision, which may be cut off there."""
    _carry: list[Event] = field(factory=list)
    _mark: int = 0
    _started: Event | None = None
    _open: Episode | None = None
    _last: Episode | None = None
    _handed_out: bool = False

    def feed(self, events: Iterable[Event]) -> list[Episode]:
        """Take further events and return the episodes they bring, the open one last.

        An episode handed out as open is completed in place by a later call and not returned again.

        Args:
            events: Event dicts in order of eventId, following those fed before; ids seen already are dropped.

        Raises:
            HistoryError: The events contradict each other.
        """
        done: list[Episode] = []
        special, seen = _SPECIAL, self.last_event_id
        carry = self._carry
        kind = ""
        for event in events:
            if seen:
                if event["eventId"] <= seen:
                    continue
                seen = 0
            kind = event["eventType"]
            if kind not in special:
                carry.append(event)
            elif kind in _OWN:
                self._own_or_later(event, kind)
            elif kind == "DecisionTaskStarted":
                self._started, self._mark = event, len(carry)
            elif kind == "DecisionTaskCompleted":
                self._complete(event, done)
            elif kind == "DecisionTaskTimedOut":
                self._timed_out(event)
            elif kind in _ENDED:
                self.closed = event
            elif kind != "DecisionTaskScheduled" and not _invisible(event, kind):
                carry.append(event)
        if kind and not seen:
            self.last_event_id = event["eventId"]
            self.ends_in_a_transaction = kind in _OWN or kind == "DecisionTaskCompleted"
        self._end(done)
        return done

    def is_last(self, episode: Episode) -> bool:
        """Whether an episode is the one decided last."""
        return self._last is episode

    def _own_or_later(self, event: Event, kind: str) -> None:
        attributes = event[_OWN[kind]]
        if kind == "StartChildWorkflowExecutionFailed" and attributes.get("initiatedEventId"):
            self._carry.append(event)
            return
        last = self._last
        expected = last.completed["eventId"] if last is not None and last.completed is not None else 0
        if last is None or last.answers is None or attributes.get("decisionTaskCompletedEventId") != expected:
            raise HistoryError(
                f"event {event['eventId']} ({kind}) belongs to decision "
                f"{attributes.get('decisionTaskCompletedEventId')}, but the last decision completed is "
                f"{expected or 'none'}: the history is corrupt, or events are missing",
                event_id=event["eventId"],
            )
        last.answers.append(event)
        if kind in _ENDED:
            self.closed = event

    def _complete(self, event: Event, done: list[Episode]) -> None:
        started = self._started
        attributes = event["decisionTaskCompletedEventAttributes"]
        if started is None or started["eventId"] != attributes["startedEventId"]:
            raise HistoryError(
                f"event {event['eventId']} (DecisionTaskCompleted) names decision task {attributes['startedEventId']}, "
                "which is not the one started last: the history is corrupt, or events are missing",
                event_id=event["eventId"],
            )
        if "executionContext" in attributes:
            self.context = attributes["executionContext"]
            if self.first_context is None:
                self.first_context = self.context
        opened, self._open = self._open, None
        self._last = opened if opened is not None else self._begin(started, done)
        self._handed_out = opened is not None
        self._last.completed, self._last.answers = event, []
        self._started = None
        self.unanswered, self.decided = 0, True

    def _begin(self, started: Event, done: list[Episode]) -> Episode:
        """Make the episode of the decision task started last, and settle what became of the one before."""
        last, first = self._last, []
        if last is not None:
            assert last.answers is not None
            if _is_held(last):
                self.held += 1
                self.held_in_a_row += 1
                self.broken = self.broken or self._handed_out
                first = last.events
            else:
                first = last.answers
                self.held_in_a_row = 0
                if not self._handed_out:
                    done.append(last)
        self._last, self._handed_out = None, False
        fresh = self._carry[: self._mark]
        del self._carry[: self._mark]
        self._mark = 0
        return Episode(started, first + fresh)

    def _timed_out(self, event: Event) -> None:
        if event["decisionTaskTimedOutEventAttributes"].get("startedEventId"):
            self.unanswered += 1
        self._started, self._mark = None, 0
        if self._open is not None:
            self._carry[:0] = self._open.events
            self._open, self.broken = None, True

    def _end(self, done: list[Episode]) -> None:
        if self._started is not None and self._open is None and self.closed is None:
            self._open = self._begin(self._started, done)
            done.append(self._open)
        elif self._last is not None and not self._handed_out and not _is_held(self._last):
            done.append(self._last)
            self._handed_out = True


def _is_held(episode: Episode) -> bool:
    answers = episode.answers
    return answers is not None and len(answers) == 1 and _is_hold(answers[0])


def _is_hold(event: Event) -> bool:
    if event["eventType"] == "TimerStarted":
        return bool(event["timerStartedEventAttributes"]["timerId"].startswith(HOLD_PREFIX))
    if event["eventType"] == "StartTimerFailed":
        return bool(event["startTimerFailedEventAttributes"]["timerId"].startswith(HOLD_PREFIX))
    return False


def _invisible(event: Event, kind: str) -> bool:
    """Events that reach no code: hold timers, and signals that only wake the run."""
    if kind == "TimerFired":
        return bool(event["timerFiredEventAttributes"]["timerId"].startswith(HOLD_PREFIX))
    if kind == "WorkflowExecutionSignaled":
        return bool(event["workflowExecutionSignaledEventAttributes"]["signalName"].startswith(RESERVED_PREFIX))
    return False

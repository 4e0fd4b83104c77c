"""From the events of a history to the rows of a timeline."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from attrs import define, evolve, field

from flowpy.history import History, attributes, seconds
from flowpy.history.events import CLOSE_EVENTS, DECISION_EVENTS, Event
from flowpy.view.model import Bar, Kind, Outcome, Row

__all__ = ["rows_of"]

_AGAIN: Final = re.compile(r"(?P<first>.+)\.[rw]\d+")
"""Ids of further attempts, and of the timers before them (CONTRACTS §1)."""
_OWN_TIMER: Final = re.compile(r"(?P<name>flowpy\.(?:hold|again))-\d+")

# Event type: kind, the attribute with the id, the outcome it begins with.
_BEGINNINGS: Final = {
    "ActivityTaskScheduled": (Kind.ACTIVITY, "activityId", Outcome.SCHEDULED),
    "LambdaFunctionScheduled": (Kind.LAMBDA, "id", Outcome.SCHEDULED),
    "TimerStarted": (Kind.TIMER, "timerId", Outcome.STARTED),
    "StartChildWorkflowExecutionInitiated": (Kind.CHILD, "workflowId", Outcome.SCHEDULED),
    "SignalExternalWorkflowExecutionInitiated": (Kind.EXTERNAL, "control", Outcome.STARTED),
    "RequestCancelExternalWorkflowExecutionInitiated": (Kind.EXTERNAL, "control", Outcome.STARTED),
    "DecisionTaskScheduled": (Kind.DECISION, "", Outcome.SCHEDULED),
}
_STARTS: Final = {
    "ActivityTaskStarted": "scheduledEventId",
    "LambdaFunctionStarted": "scheduledEventId",
    "ChildWorkflowExecutionStarted": "initiatedEventId",
    "DecisionTaskStarted": "scheduledEventId",
}
# Event type: the attribute with the id of the event that began it, how it ended.
_ENDS: Final = {
    "ActivityTaskCompleted": ("scheduledEventId", Outcome.COMPLETED),
    "ActivityTaskFailed": ("scheduledEventId", Outcome.FAILED),
    "ActivityTaskTimedOut": ("scheduledEventId", Outcome.TIMED_OUT),
    "ActivityTaskCanceled": ("scheduledEventId", Outcome.CANCELED),
    "LambdaFunctionCompleted": ("scheduledEventId", Outcome.COMPLETED),
    "LambdaFunctionFailed": ("scheduledEventId", Outcome.FAILED),
    "LambdaFunctionTimedOut": ("scheduledEventId", Outcome.TIMED_OUT),
    "StartLambdaFunctionFailed": ("scheduledEventId", Outcome.REFUSED),
    "TimerFired": ("startedEventId", Outcome.COMPLETED),
    "TimerCanceled": ("startedEventId", Outcome.CANCELED),
    "StartChildWorkflowExecutionFailed": ("initiatedEventId", Outcome.REFUSED),
    "ChildWorkflowExecutionCompleted": ("initiatedEventId", Outcome.COMPLETED),
    "ChildWorkflowExecutionFailed": ("initiatedEventId", Outcome.FAILED),
    "ChildWorkflowExecutionTimedOut": ("initiatedEventId", Outcome.TIMED_OUT),
    "ChildWorkflowExecutionCanceled": ("initiatedEventId", Outcome.CANCELED),
    "ChildWorkflowExecutionTerminated": ("initiatedEventId", Outcome.TERMINATED),
    "ExternalWorkflowExecutionSignaled": ("initiatedEventId", Outcome.COMPLETED),
    "SignalExternalWorkflowExecutionFailed": ("initiatedEventId", Outcome.REFUSED),
    "ExternalWorkflowExecutionCancelRequested": ("initiatedEventId", Outcome.COMPLETED),
    "RequestCancelExternalWorkflowExecutionFailed": ("initiatedEventId", Outcome.REFUSED),
    "DecisionTaskCompleted": ("scheduledEventId", Outcome.COMPLETED),
    "DecisionTaskTimedOut": ("scheduledEventId", Outcome.TIMED_OUT),
}
_CLOSES: Final = {
    "WorkflowExecutionCompleted": Outcome.COMPLETED,
    "WorkflowExecutionContinuedAsNew": Outcome.COMPLETED,
    "WorkflowExecutionFailed": Outcome.FAILED,
    "WorkflowExecutionTimedOut": Outcome.TIMED_OUT,
    "WorkflowExecutionCanceled": Outcome.CANCELED,
    "WorkflowExecutionTerminated": Outcome.TERMINATED,
}
# Refused decisions to begin something: kind and the attribute with the id. All others, such as a CancelTimer that came
# too late or a close with news waiting, are told in the row of the decision tasks: they end nothing.
_REFUSALS: Final = {
    "ScheduleActivityTaskFailed": (Kind.ACTIVITY, "activityId"),
    "StartTimerFailed": (Kind.TIMER, "timerId"),
    "StartChildWorkflowExecutionFailed": (Kind.CHILD, "workflowId"),
    "SignalExternalWorkflowExecutionFailed": (Kind.EXTERNAL, "control"),
    "RequestCancelExternalWorkflowExecutionFailed": (Kind.EXTERNAL, "control"),
    "ScheduleLambdaFunctionFailed": (Kind.LAMBDA, "id"),
    "StartLambdaFunctionFailed": (Kind.LAMBDA, "id"),
    "RecordMarkerFailed": (Kind.MARKER, "markerName"),
}
_SAID: Final = ("reason", "timeoutType", "cause")


@define
class _Rows:
    """Rows as they grow."""

    events: list[Event]
    bars: dict[tuple[Kind, str], list[Bar]] = field(factory=dict)
    names: dict[tuple[Kind, str], str] = field(factory=dict)
    open: dict[int, tuple[tuple[Kind, str], int]] = field(factory=dict)
    """Row and position of a bar by the event that began it."""
    open_ids: dict[str, int] = field(factory=dict)
    """The event that began the open activity of an id."""

    def add(self, key: tuple[Kind, str], bar: Bar, name: str = "") -> None:
        """Append a bar to a row."""
        self.bars.setdefault(key, []).append(bar)
        if name or key not in self.names:
            self.names[key] = name
        self.open[bar.event_ids[0]] = (key, len(self.bars[key]) - 1)

    def change(self, first_event_id: Any, event: Event, **changes: Any) -> bool:
        """Change the bar that an event began; False if there is none."""
        found = self.open.get(first_event_id)
        if found is None:
            return False
        key, position = found
        bar = self.bars[key][position]
        self.bars[key][position] = evolve(bar, event_ids=(*bar.event_ids, event["eventId"]), **changes)
        return True

    def take(self, event: Event) -> None:
        """Take the next event."""
        kind = event["eventType"]
        told = attributes(event)
        if kind in _BEGINNINGS:
            self._begin(event, told, *_BEGINNINGS[kind])
        elif kind in _STARTS:
            self._start(event, told, told.get(_STARTS[kind]))
        elif kind in _ENDS:
            self._end(event, told, *_ENDS[kind])
        else:
            _OTHERS.get(kind, _Rows.other)(self, event, told)

    def _begin(self, event: Event, told: dict[str, Any], kind: Kind, id_name: str, outcome: Outcome) -> None:
        at = seconds(event)
        id = _id(event, told, kind, id_name)
        bar = Bar(
            id=id,
            kind=kind,
            scheduled=at,
            started=at if outcome is Outcome.STARTED else None,
            outcome=outcome,
            due=_due(at, told, "scheduleToStartTimeout", "scheduleToCloseTimeout", "startToFireTimeout"),
            place=(told.get("taskList") or {}).get("name", ""),
            event_ids=(event["eventId"],),
        )
        key = self._key(kind, id)
        self.add(key, bar, "" if key[0] is not kind else _name(event, told))
        if kind is Kind.ACTIVITY:
            self.open_ids[id] = event["eventId"]

    def _key(self, kind: Kind, id: str) -> tuple[Kind, str]:
        """The row of an id: further attempts, and timers before them, stand with the first attempt."""
        again = _AGAIN.fullmatch(id) if kind in (Kind.ACTIVITY, Kind.TIMER) else None
        if again and (Kind.ACTIVITY, again["first"]) in self.bars:
            return Kind.ACTIVITY, again["first"]
        own = _OWN_TIMER.fullmatch(id) if kind is Kind.TIMER else None
        return kind, own["name"] if own else id

    def _start(self, event: Event, told: dict[str, Any], first: Any) -> None:
        at = seconds(event)
        due = heartbeat = None
        if first in self.open:
            key, position = self.open[first]
            asked = attributes(self.events[first - 1])
            due = _due_when_started(at, self.bars[key][position].scheduled, asked)
            heartbeat = _length(asked.get("heartbeatTimeout"))
        place = told.get("identity") or ""
        self.change(first, event, started=at, outcome=Outcome.STARTED, due=due, heartbeat=heartbeat, place=place)

    def _end(self, event: Event, told: dict[str, Any], first_name: str, outcome: Outcome) -> None:
        first = told.get(first_name)
        ended = {"closed": seconds(event), "outcome": outcome, "said": _said(told), "due": None, "heartbeat": None}
        if not self.change(first, event, **ended):
            self._refused(event, told)

    def _refused(self, event: Event, told: dict[str, Any]) -> None:
        """A decision that SWF did not carry out: a point in the row of what it was about."""
        kind, id_name = _REFUSALS.get(event["eventType"], (Kind.DECISION, ""))
        id = _id(event, told, kind, id_name)
        said = _said(told)
        if kind is Kind.DECISION:
            what = next((f" of {told[name]}" for name in ("activityId", "timerId") if told.get(name)), "")
            said = f"{DECISION_EVENTS.get(event['eventType'], event['eventType'])}{what}: {said}"
        self._point(event, kind, id, Outcome.REFUSED, said=said, name=_name(event, told))

    def cancel_requested(self, event: Event, told: dict[str, Any]) -> None:
        """ActivityTaskCancelRequested: the activity goes on until its worker has heard of it."""
        first = self.open_ids.get(told.get("activityId", ""))
        self.change(first, event, said="cancellation requested")

    def signaled(self, event: Event, told: dict[str, Any]) -> None:
        """WorkflowExecutionSignaled."""
        source = (told.get("externalWorkflowExecution") or {}).get("workflowId")
        said = f"from {source}" if source else ""
        self._point(event, Kind.SIGNAL, str(told.get("signalName", "")), Outcome.COMPLETED, said=said)

    def run_cancel_requested(self, event: Event, told: dict[str, Any]) -> None:
        """WorkflowExecutionCancelRequested."""
        self._point(event, Kind.SIGNAL, "cancel request", Outcome.COMPLETED, said=_said(told))

    def marked(self, event: Event, told: dict[str, Any]) -> None:
        """MarkerRecorded."""
        self._point(event, Kind.MARKER, str(told.get("markerName", "")), Outcome.COMPLETED)

    def run_started(self, event: Event, told: dict[str, Any]) -> None:
        """WorkflowExecutionStarted."""
        at = seconds(event)
        bar = Bar(
            id="",
            kind=Kind.EXECUTION,
            scheduled=at,
            started=at,
            outcome=Outcome.STARTED,
            due=_due(at, told, "executionStartToCloseTimeout"),
            event_ids=(event["eventId"],),
        )
        self.add((Kind.EXECUTION, ""), bar, _name(event, told))
        self.bars.setdefault((Kind.DECISION, ""), [])

    def run_closed(self, event: Event, told: dict[str, Any]) -> None:
        """One of the events that end a run."""
        outcome = _CLOSES[event["eventType"]]
        said = _said(told)
        if event["eventType"] == "WorkflowExecutionContinuedAsNew":
            said = f"continued as new, in run {told.get('newExecutionRunId', '')}"
        self.change(1, event, closed=seconds(event), outcome=outcome, said=said, due=None)

    def other(self, event: Event, told: dict[str, Any]) -> None:
        """A decision refused, or an event of a type that is not known here."""
        if event["eventType"] in DECISION_EVENTS:
            self._refused(event, told)
        else:
            self._point(event, Kind.OTHER, event["eventType"], Outcome.COMPLETED)

    def _point(self, event: Event, kind: Kind, id: str, outcome: Outcome, *, said: str = "", name: str = "") -> None:
        at, event_ids = seconds(event), (event["eventId"],)
        bar = Bar(
            id=id, kind=kind, scheduled=at, started=at, closed=at, outcome=outcome, said=said, event_ids=event_ids
        )
        self.add(self._key(kind, id), bar, name)


_OTHERS: Final[dict[str, Callable[[_Rows, Event, dict[str, Any]], None]]] = {
    "WorkflowExecutionStarted": _Rows.run_started,
    "WorkflowExecutionSignaled": _Rows.signaled,
    "WorkflowExecutionCancelRequested": _Rows.run_cancel_requested,
    "ActivityTaskCancelRequested": _Rows.cancel_requested,
    "MarkerRecorded": _Rows.marked,
    **dict.fromkeys(CLOSE_EVENTS, _Rows.run_closed),
}


def rows_of(history: History) -> tuple[Row, ...]:
    """Make the rows of a history.

    Args:
        history: A history, checked.

    Returns:
        The run itself, its decision tasks, all others in the order of their first events. What was open when the run
        closed is ``left open``.
    """
    rows = _Rows(history.events)
    for event in history.events:
        rows.take(event)
    close = history.close_event
    end = None if close is None else seconds(close)
    return tuple(
        Row(kind=kind, id=id, name=rows.names.get((kind, id), ""), bars=tuple(_left(bar, end) for bar in bars))
        for (kind, id), bars in rows.bars.items()
        if bars
    )


def _left(bar: Bar, end: float | None) -> Bar:
    if end is None or not bar.outcome.is_open:
        return bar
    return evolve(bar, closed=end, outcome=Outcome.LEFT_OPEN, due=None, heartbeat=None)


def _id(event: Event, told: dict[str, Any], kind: Kind, id_name: str) -> str:
    if kind is Kind.DECISION:
        return ""
    found = told.get(id_name)
    if kind is Kind.EXTERNAL and not found:
        found = f"to {told.get('workflowId', '')}"
    return str(found) if found else f"event {event['eventId']}"


def _name(event: Event, told: dict[str, Any]) -> str:
    type_ = told.get("activityType") or told.get("workflowType")
    if type_:
        return f"{type_.get('name', '')} {type_.get('version', '')}".strip()
    kind = event["eventType"]
    if kind.startswith("SignalExternal"):
        return f"signal {told.get('signalName', '')} to {told.get('workflowId', '')}".replace("signal  to", "signal to")
    if kind.startswith("RequestCancelExternal"):
        return f"cancel {told.get('workflowId', '')}"
    return str(told.get("name") or "")


def _said(told: dict[str, Any]) -> str:
    return next((str(told[name]) for name in _SAID if told.get(name)), "")


def _due(at: float, told: dict[str, Any], *names: str) -> float | None:
    """When the first of some timeouts strikes that begin at a time."""
    lengths = [length for name in names if (length := _length(told.get(name))) is not None]
    return at + min(lengths) if lengths else None


def _due_when_started(at: float, scheduled: float, first: dict[str, Any]) -> float | None:
    due = (
        _due(at, first, "startToCloseTimeout", "executionStartToCloseTimeout"),
        _due(scheduled, first, "scheduleToCloseTimeout"),
    )
    return min((each for each in due if each is not None), default=None)


def _length(text: Any) -> int | None:
    """A duration of SWF; None for NONE, and for what no service would have written."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 10 else None

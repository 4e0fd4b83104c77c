"""The events of a history being written: the clock, and when decision tasks are scheduled, started and completed."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn

from flowpy.errors import HistoryError
from flowpy.history.events import CLOSE_EVENTS, Event, attributes_key
from flowpy.local.engine.invariants import check_history
from flowpy.local.engine.recording import WAKES
from flowpy.testing.building.model import faults_of

__all__ = ["START", "EventLog"]

START: Final = datetime(2025, 1, 1, 12, tzinfo=UTC)
"""When a history begins, unless it is told."""


_REFUSED_CLOSES: Final = frozenset(
    f"{how}WorkflowExecutionFailed" for how in ("Complete", "Fail", "Cancel", "ContinueAsNew")
)


class EventLog:
    """Events in order, each checked as it is written.

    Args:
        now: Time of the first event.
        task_list: Where decision tasks go.
        task_timeout: Their startToCloseTimeout, seconds as text.
    """

    def __init__(self, now: datetime, task_list: str, task_timeout: str) -> None:
        self.now = now
        self.events: list[Event] = []
        self.completed = 0
        """Id of the last DecisionTaskCompleted."""
        self._task = {"taskList": {"name": task_list}, "startToCloseTimeout": task_timeout}
        self._waiting = 0
        self._running = 0
        self._started = 0
        self._deciding = False
        self._unseen = False
        self._closed = 0
        self._refused_close = 0

    @property
    def next_id(self) -> int:
        """Id of the event written next."""
        return len(self.events) + 1

    @property
    def is_waiting(self) -> bool:
        """Whether a decision task waits that will show what has happened."""
        return bool(self._waiting)

    @property
    def decided_at(self) -> datetime:
        """Time of the DecisionTaskStarted that a decision made now belongs to."""
        started = self._started if self._running or self._deciding else 0
        return self.events[started - 1]["eventTimestamp"] if started else self.now

    def refuse(self, what: str, why: str, remedy: str) -> NoReturn:
        """Refuse what SWF would never record.

        Raises:
            HistoryError: Always.
        """
        raise HistoryError(f"event {self.next_id} cannot be {what}: {why}.", remedy=f"{remedy}.", event_id=self.next_id)

    def advance(self, seconds: float) -> None:
        """Let time go by."""
        if seconds < 0:
            self.refuse(f"{-seconds:g} s earlier", "time in a history never goes back", "Give seconds above 0")
        self.now += timedelta(seconds=seconds)

    def happens(self, event_type: str, **attributes: Any) -> int:
        """Write an event that no decision made; what the decider has to see schedules a decision task.

        Returns:
            Its event id.
        """
        self._check_open(event_type)
        self._settle()
        event_id = self._write(event_type, attributes)
        if event_type in WAKES:
            self._wake()
        return event_id

    def decided(self, event_type: str, **attributes: Any) -> int:
        """Write an event that answers a decision, in the decision task that is being decided, or in the next one.

        Returns:
            Its event id.
        """
        self._check_open(event_type)
        if not self._deciding:
            if not (self._running or self._waiting):
                seen = f"event {self.completed}" if self.completed else "the start"
                self.refuse(
                    event_type,
                    f"no decision task waits: nothing that the decider has to see has happened since {seen}",
                    "Let something happen first (an end, a signal, a timer), or say this decision before what came "
                    "in between, so that it is made with the ones before it",
                )
            self.complete()
        if self._refused_close:
            why = f"event {self._refused_close} refused a close, and a close is the last decision of its decision task"
            self.refuse(event_type, why, "Say this decision before it, or begin the next decision task with decide()")
        if event_type in CLOSE_EVENTS and self._waiting:
            self.refuse(
                event_type,
                f"decision task {self._waiting} waits, so SWF refuses every close",
                'Give refused="UNHANDLED_DECISION" and close again in the next decision task',
            )
        if attributes.get("cause") == "UNHANDLED_DECISION" and not (self._waiting or self._unseen):
            self.refuse(
                event_type,
                "UNHANDLED_DECISION is the answer when something came while the decision was made, and nothing did",
                "Write begin_decision(), then what came, then this",
            )
        event_id = self._write(event_type, {**attributes, "decisionTaskCompletedEventId": self.completed})
        self._unseen = self._unseen or event_type in WAKES
        self._refused_close = event_id if event_type in _REFUSED_CLOSES else 0
        return event_id

    # --- decision tasks ---------------------------------------------------------------------

    def begin(self) -> int:
        """A decider takes the decision task that waits; gives the id of its DecisionTaskStarted."""
        self._check_open("DecisionTaskStarted")
        self._settle()
        if self._running:
            self.refuse("DecisionTaskStarted", f"decision task {self._running} is being decided", "Complete that first")
        if not self._waiting:
            self.refuse("DecisionTaskStarted", "no decision task waits", "Let something happen that the decider sees")
        self._running = self._write("DecisionTaskStarted", {"scheduledEventId": self._waiting, "identity": "decider"})
        self._waiting, self._started = 0, self._running
        return self._running

    def complete(self, **attributes: Any) -> int:
        """The decider answers, with the decisions that follow; gives the id of the DecisionTaskCompleted."""
        started = self._running or self.begin()
        attributes["scheduledEventId"] = self._scheduled_of(started)
        self.completed = self._write("DecisionTaskCompleted", {**attributes, "startedEventId": started})
        self._running, self._deciding, self._refused_close = 0, True, 0
        return self.completed

    def time_out(self, kind: str) -> int:
        """The decision task times out, and the next one is scheduled; gives the id of its DecisionTaskTimedOut."""
        self._check_open("DecisionTaskTimedOut")
        if kind == "SCHEDULE_TO_START":
            self._settle()
            if not self._waiting:
                self.refuse("DecisionTaskTimedOut", "no decision task waits to be started", "Let something happen")
            scheduled, started, self._waiting = self._waiting, 0, 0
        else:
            started = self._running or self.begin()
            scheduled, self._running = self._scheduled_of(started), 0
        links = {"scheduledEventId": scheduled, "startedEventId": started}
        event_id = self._write("DecisionTaskTimedOut", {**links, "timeoutType": kind})
        self._wake()
        return event_id

    def finished(self) -> list[Event]:
        """The events so far, checked as a whole; those of the last decision with the decision task they cause.

        Raises:
            HistoryError: SWF cannot have written them.
        """
        length = len(self.events)
        kept = self._waiting, self._unseen, self._deciding, self._refused_close
        self._settle()
        events = deepcopy(self.events)
        # Looking must not change what is written next.
        del self.events[length:]
        self._waiting, self._unseen, self._deciding, self._refused_close = kept
        check_history(events)
        return events

    # --- writing ----------------------------------------------------------------------------

    def _write(self, event_type: str, attributes: dict[str, Any]) -> int:
        given = {name: value for name, value in attributes.items() if value is not None}
        faults = faults_of(event_type, given)
        if faults:
            self.refuse(event_type, "; ".join(faults), "Give what SWF would record")
        event_id = self.next_id
        self.events.append(
            {
                "eventId": event_id,
                "eventTimestamp": self.now,
                "eventType": event_type,
                attributes_key(event_type): given,
            }
        )
        if event_type in CLOSE_EVENTS:
            self._closed = event_id
        return event_id

    def _check_open(self, event_type: str) -> None:
        if self._closed:
            kind = self.events[-1]["eventType"]
            why = f"event {self._closed} ({kind}) closed the run, and nothing follows a close"
            self.refuse(event_type, why, "Write it before the close, or leave the close out")

    def _settle(self) -> None:
        """The transaction of the last decision is over; what it has for the decider to see brings a decision task."""
        self._deciding, self._refused_close = False, 0
        if self._unseen and not self._closed:
            self._wake()
        self._unseen = False

    def _wake(self) -> None:
        if not self._waiting:
            self._waiting = self._write("DecisionTaskScheduled", dict(self._task))

    def _scheduled_of(self, started: int) -> int:
        scheduled: int = self.events[started - 1]["decisionTaskStartedEventAttributes"]["scheduledEventId"]
        return scheduled

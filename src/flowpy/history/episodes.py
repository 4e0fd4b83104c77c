"""The order law (L1): a history cut into episodes, each with what one accepted decision task saw.

The events of an episode come in this order: the own transaction of the previous decision, then the events recorded
while that decision was being made, then the rest. A decision task that timed out, or that was answered with nothing
but a ``flowpy.hold-<n>`` timer, never happened: its events join the next episode.

Traps of real histories that this module exists for: the next DecisionTaskScheduled often stands *before* the
DecisionTaskCompleted, and even between the events of one transaction; three kinds of event carry a
``decisionTaskCompletedEventId`` and are later results all the same; timestamps say nothing about order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from attrs import define, field

from flowpy.errors import HistoryError
from flowpy.history.episode import Cut, Episode
from flowpy.history.events import ATTRIBUTES, CLOSE_EVENTS, DECISION_EVENTS, Event
from flowpy.history.malformed import MALFORMED, malformed
from flowpy.history.stretches import (
    COMPLETED,
    cut_stretches,
    kinds_of,
    letter_table,
    letters_of,
    parts_of,
    parts_of_step,
)

HOLD_PREFIX: Final = "flowpy.hold-"
AGAIN_PREFIX: Final = "flowpy.again-"
RESERVED_PREFIX: Final = "flowpy."

_OWN: Final = {kind: ATTRIBUTES[kind] for kind in DECISION_EVENTS}
_ENDED: Final = frozenset(CLOSE_EVENTS)
_HOLDS: Final = {"TimerStarted": "timerStartedEventAttributes", "StartTimerFailed": "startTimerFailedEventAttributes"}

# What an event is for the cutting: the key of its attributes if it can only belong to a transaction, else one of these;
# events in no table are later ones, which code sees.
_NOTHING: Final = 0
_STARTED: Final = 1
_COMPLETED: Final = 2
_OTHER: Final = 3
_EFFECTIVE: Final = frozenset(kind for kind in _OWN if kind.endswith("Failed")) | _ENDED
_ROLES: Final[dict[str, Any]] = {
    **{kind: _OTHER if kind in _EFFECTIVE else key for kind, key in _OWN.items()},
    **dict.fromkeys(_ENDED, _OTHER),
    "DecisionTaskScheduled": _NOTHING,
    "DecisionTaskStarted": _STARTED,
    "DecisionTaskCompleted": _COMPLETED,
    "DecisionTaskTimedOut": _OTHER,
    "TimerFired": _OTHER,
    "WorkflowExecutionSignaled": _OTHER,
}
_BRIEF_ROLES: Final = {**_ROLES, "ActivityTaskStarted": _NOTHING, "LambdaFunctionStarted": _NOTHING}
_ROLE_OF: Final = _ROLES.get
_BRIEF_ROLE_OF: Final = _BRIEF_ROLES.get
_LETTERS: Final = letter_table(
    unseen=[kind for kind, role in _BRIEF_ROLES.items() if role is _NOTHING],
    other=[kind for kind, role in _BRIEF_ROLES.items() if role is not _NOTHING],
)


FEW: Final = 24
"""New events that are cut one by one: among so few no stretch is worth looking for."""
BLOCK: Final = 600
"""Events that are cut before the code runs through them: few enough for a processor's cache to hold them meanwhile, and
many enough for what cuts and what runs not to push each other out of its cache of instructions (benchmarks/replay.py: a
chain takes 15 % less than with 120, 11 % less than with all at once)."""


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
    brief: bool = False
    """Leave out of episodes what no code can notice, such as ActivityTaskStarted: running them is quicker."""
    _carry: list[Event] = field(factory=list)
    _mark: int = 0
    _started: Event | None = None
    _open: Episode | None = None
    _last: Episode | None = None
    _handed_out: bool = False
    _effective: bool = False
    """Whether the last transaction has answers that code notices: decisions that were refused."""

    def feed(self, events: Iterable[Event]) -> list[Episode]:
        """Take further events and return the episodes they bring, the open one last.

        An episode handed out as open is completed in place by a later call and not returned again.

        Args:
            events: Event dicts in order of eventId, following those fed before; ids seen already are dropped.

        Raises:
            HistoryError: The events contradict each other, or one of them is malformed.
        """
        return [Episode.from_cut(cut) for some in self.some(events) for cut in some]

    def some(self, events: Iterable[Event]) -> Iterator[list[Cut]]:
        """Like ``feed``, but a few episodes at a time: what is looked at twice is then still in the processor's cache.

        All must be taken before further events are fed.
        """
        seen = self.last_event_id
        events = list(events)
        if seen and events and (events[0]["eventId"] <= seen or events[-1]["eventId"] <= seen):
            events = [event for event in events if event["eventId"] > seen]
        if not events:
            return iter(())
        if self.brief and len(events) > FEW:
            return self._many(events)
        done: list[Cut] = []
        if not self._step(events, done):
            self._cut(events, done)
            self._finish(events, done)
        return iter((done,))

    def _step(self, events: list[Event], done: list[Cut]) -> bool:
        """Take a plain stretch from the answer to the open episode on, as most decision tasks bring to a run kept.

        Returns:
            False if the events are others; then nothing was taken.
        """
        previous, started = self._open, self._started
        if previous is None or started is None or self._carry or self._effective or self.closed or not self.brief:
            return False
        parts = parts_of_step(events, _LETTERS, started["eventId"])
        if parts is None:
            return False
        previous.completed, previous.answers = events[0], parts[0]
        self._started = started = events[-1]
        self._mark, self.held_in_a_row, self.unanswered = len(parts[1]), 0, 0
        self._last, self._handed_out, self.decided = None, False, True
        self.last_event_id, self.ends_in_a_transaction = started["eventId"], False
        self._open = Episode.of(started, parts[1])
        done.append(self._open)
        return True

    def _many(self, events: list[Event]) -> Iterator[list[Cut]]:
        """The same for many events."""
        done: list[Cut] = []
        yield from self._skim(events, done)
        self._finish(events, done)
        yield done

    def _finish(self, events: list[Event], done: list[Cut]) -> None:
        """All events are cut: see where the history stands now."""
        last = events[-1]
        self.last_event_id, kind = last["eventId"], last["eventType"]
        self.ends_in_a_transaction = kind in _OWN or kind == "DecisionTaskCompleted"
        try:
            self._end(done)
        except MALFORMED as error:
            raise malformed(last, error) from error

    def _skim(self, events: list[Event], done: list[Cut]) -> Iterator[list[Cut]]:
        """Cut plain stretches many at a time and what lies between them event by event; the last ones are in done."""
        begin = cut_already = 0
        kinds, text = None, b""
        while True:
            block, is_last = events[begin : begin + BLOCK], begin + BLOCK >= len(events)
            # Runs that go round in circles bring the same again and again.
            before, kinds = kinds, kinds_of(block)
            if kinds is None or kinds != before:
                text = letters_of(block, _LETTERS)
            end = len(text) if is_last else text.rfind(COMPLETED, cut_already) + 1 or len(text)
            self._skim_block(block[:end], text[:end], cut_already, done)
            if is_last:
                return
            self.last_event_id = block[end - 1]["eventId"]
            yield done
            done.clear()
            # A stretch begins with the DecisionTaskCompleted before it.
            cut_already = int(text.endswith(COMPLETED, 0, end))
            begin += end - cut_already

    def _skim_block(self, block: list[Event], text: bytes, at: int, done: list[Cut]) -> None:
        """Cut a block; if ``at`` is 1 its first event is a DecisionTaskCompleted that was cut already."""
        cut = 0 if at else text.find(COMPLETED)
        while cut >= 0:
            self._cut(block[at : cut + 1], done)
            at = cut + 1
            if not (self._carry or self._effective):
                at = self._plain(block, text, cut, done) + 1
            cut = text.find(COMPLETED, at)
        if not self._take(block[at:], text[at:]):
            self._cut(block[at:], done)

    def _take(self, events: list[Event], text: bytes) -> bool:
        """Take many events of one decision task at once; returns whether that is all they are."""
        answers, completed = self._transaction()
        parts = parts_of(events, text, completed)
        if parts is None:
            return False
        answers.extend(parts[0])
        self._carry.extend(parts[1])
        return True

    def _plain(self, events: list[Event], text: bytes, at: int, done: list[Cut]) -> int:
        """Cut the plain stretches that follow a DecisionTaskCompleted; returns where the last one ends."""
        last = self._last
        assert last is not None
        found = cut_stretches(events, text, at, last.completed["eventId"], self.context)  # type: ignore[index] # completed
        if found is None:
            return at
        last.answers, cuts, (seen, started, completed), end = found
        if not self._handed_out:
            done.append(last)
        done += cuts
        self._last = Episode.of(started, seen, [], completed)
        self._handed_out, self.held_in_a_row = False, 0
        return end

    def _cut(self, events: list[Event], done: list[Cut]) -> None:
        """Cut event by event."""
        role_of = _BRIEF_ROLE_OF if self.brief else _ROLE_OF
        carry, started, mark = self._carry, self._started, self._mark
        answers, completed = self._transaction()
        event: Event = {}
        try:
            for event in events:
                role = role_of(event["eventType"])
                if role is None:
                    carry.append(event)
                elif role is _NOTHING:
                    continue
                elif role is _STARTED:
                    started, mark = event, len(carry)
                elif role is _COMPLETED:
                    self._mark = mark
                    answers = self._complete(event, started, done)
                    started, completed = None, event["eventId"]
                elif role is not _OTHER and event[role].get("decisionTaskCompletedEventId") == completed:
                    answers.append(event)
                else:
                    self._started, self._mark = started, mark
                    self._other(event, event["eventType"])
                    started, mark = self._started, self._mark
        except MALFORMED as error:
            raise malformed(event, error) from error
        self._started, self._mark = started, mark

    def is_last(self, episode: Episode) -> bool:
        """Whether an episode is the one decided last."""
        return self._last is episode

    def _transaction(self) -> tuple[list[Event], int]:
        """The transaction of the last decision, and the id of the event that completed it, 0 if there is none."""
        last = self._last
        if last is None or last.answers is None or last.completed is None:
            return [], 0
        return last.answers, last.completed["eventId"]

    def _other(self, event: Event, kind: str) -> None:
        if kind in _OWN:
            self._own_or_later(event, kind)
        elif kind == "DecisionTaskTimedOut":
            self._timed_out(event)
        elif kind in _ENDED:
            self.closed = event
        elif not _invisible(event, kind):
            self._carry.append(event)

    def _own_or_later(self, event: Event, kind: str) -> None:
        attributes = event[_OWN[kind]]
        if kind == "StartChildWorkflowExecutionFailed" and attributes.get("initiatedEventId"):
            self._carry.append(event)
            return
        answers, expected = self._transaction()
        if not expected or attributes.get("decisionTaskCompletedEventId") != expected:
            raise HistoryError(
                f"event {event['eventId']} ({kind}) belongs to decision "
                f"{attributes.get('decisionTaskCompletedEventId')}, but the last decision completed is "
                f"{expected or 'none'}: the history is corrupt, or events are missing",
                event_id=event["eventId"],
            )
        answers.append(event)
        self._effective = True
        if kind in _ENDED:
            self.closed = event

    def _complete(self, event: Event, started: Event | None, done: list[Cut]) -> list[Event]:
        """Take a DecisionTaskCompleted; returns the list that its transaction goes to."""
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
        answers: list[Event] = []
        if self._open is None:
            self._last = Episode.of(started, self._fresh(done), answers, event)
            self._handed_out = False
        else:
            self._last, self._open, self._handed_out = self._open, None, True
            self._last.completed, self._last.answers = event, answers
        self.unanswered = 0
        self.decided = True
        return answers

    def _fresh(self, done: list[Cut]) -> list[Event]:
        """The events of the decision task started last; settles what became of the decision before."""
        last, carry, mark = self._last, self._carry, self._mark
        events = carry[:mark]
        del carry[:mark]
        if last is None:
            return events
        answers = last.answers
        assert answers is not None
        if answers and answers[0]["eventType"] in _HOLDS and is_hold(answers):
            self.held += 1
            self.held_in_a_row += 1
            self.broken = self.broken or self._handed_out
            return last.events + events
        self.held_in_a_row = 0
        if not self._handed_out:
            done.append(last)
        if self._effective or not self.brief:
            self._effective = False
            return answers + events
        return events

    def _timed_out(self, event: Event) -> None:
        if event["decisionTaskTimedOutEventAttributes"].get("startedEventId"):
            self.unanswered += 1
        self._started, self._mark = None, 0
        if self._open is not None:
            self._carry[:0] = self._open.events
            self._open, self.broken = None, True

    def _end(self, done: list[Cut]) -> None:
        if self._started is not None and self._open is None and self.closed is None:
            self._open = Episode.of(self._started, self._fresh(done))
            self._last, self._handed_out = None, False
            done.append(self._open)
        elif self._last is not None and not self._handed_out and not is_hold(self._last.answers):
            done.append(self._last)
            self._handed_out = True


def is_hold(answers: list[Event] | None) -> bool:
    """Whether the transaction of a decision is nothing but a hold timer, taken or refused."""
    if answers is None or len(answers) != 1:
        return False
    key = _HOLDS.get(answers[0]["eventType"])
    return key is not None and bool(answers[0][key]["timerId"].startswith(HOLD_PREFIX))


def _invisible(event: Event, kind: str) -> bool:
    """Events that reach no code: hold timers, and signals that only wake the run."""
    if kind == "TimerFired":
        return bool(event["timerFiredEventAttributes"]["timerId"].startswith(HOLD_PREFIX))
    if kind == "WorkflowExecutionSignaled":
        return bool(event["workflowExecutionSignaledEventAttributes"]["signalName"].startswith(RESERVED_PREFIX))
    return False

"""Runs kept in memory between their decision tasks: what is new is fed to them, instead of all from event 1.

A kept run is a shortcut and never a source of truth. It is used only if the service has taken its last answer and what
comes is exactly what follows; in all other cases it leaves memory and the run is replayed from its whole history.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sized
from operator import itemgetter
from typing import Any, Final

from attrs import define, field

from flowpy.data.sealing import open_events
from flowpy.errors import HistoryError, NonDeterminismError
from flowpy.history.events import Event
from flowpy.history.malformed import MALFORMED
from flowpy.replay.answers import CLOSES
from flowpy.runtime.decider import Answer, Decider, DecisionTask
from flowpy.runtime.run import Run

__all__ = ["KEPT_BYTES", "KEPT_RUNS", "StickyDecider"]

KEPT_RUNS: Final = 1_000
KEPT_BYTES: Final = 256 * 2**20

RUN_BYTES: Final = 8 * 2**10
"""What a run that waits for one activity takes, measured (benchmarks/decider.py) and rounded up."""

OPEN_BYTES: Final = 2 * 2**10
"""What each further task or call that it waits for takes."""

QUEUED_BYTES: Final = 256
"""What a signal takes that nobody has received, its payload apart."""

CHARACTER_BYTES: Final = 4
"""Bytes that a character of JSON may become as Python objects."""

_PAYLOADS: Final = {
    "WorkflowExecutionStarted": ("workflowExecutionStartedEventAttributes", "input"),
    "ActivityTaskCompleted": ("activityTaskCompletedEventAttributes", "result"),
    "ActivityTaskFailed": ("activityTaskFailedEventAttributes", "details"),
    "WorkflowExecutionSignaled": ("workflowExecutionSignaledEventAttributes", "input"),
    "ChildWorkflowExecutionCompleted": ("childWorkflowExecutionCompletedEventAttributes", "result"),
    "ChildWorkflowExecutionFailed": ("childWorkflowExecutionFailedEventAttributes", "details"),
    "LambdaFunctionCompleted": ("lambdaFunctionCompletedEventAttributes", "result"),
}
"""Events that bring code what it may hold on to: key of their attributes, and the payload in them."""

_ID: Final = itemgetter("eventId")
_payload_of: Final = _PAYLOADS.get
_CLOSING: Final = frozenset(decision for decision, *_ in CLOSES.values())
_log: Final = logging.getLogger("flowpy.decider")


@define(eq=False)
class _Kept:
    """A run in memory.

    Attributes:
        run: The run.
        started_event_id: Id of the DecisionTaskStarted that it decided last.
        characters: Payloads that its code was given so far.
        bytes: An estimate of the memory that it takes, rather too much than too little.
        accepted: Whether the service has taken what it decided last.
        waiting: The run's own tables of what it waits for.
    """

    run: Run
    started_event_id: int = 0
    characters: int = 0
    bytes: int = 0
    accepted: bool = False
    waiting: tuple[Sized, ...] = field(init=False)

    @waiting.default
    def _waiting(self) -> tuple[Sized, ...]:
        run, execution = self.run, self.run.execution
        return run.tasks, run.detached, run.open_calls, run.generators, execution.activities, execution.timers

    def estimate(self) -> int:
        """Bytes for what its code was given and what it waits for."""
        open_bytes = OPEN_BYTES * sum(map(len, self.waiting)) + QUEUED_BYTES * self.run.signals.queued
        return RUN_BYTES + open_bytes + CHARACTER_BYTES * self.characters


@define(eq=False)
class StickyDecider:
    """Decides like ``Decider``, and keeps the runs in memory.

    All calls must come from one thread, because plain ``def`` code cannot move to another (law L10). After each
    ``decide`` the caller says with ``accepted`` or ``evict`` what became of the answer.

    Memory is bounded by an estimate from what the code was given (payloads) and waits for, not from the length of the
    history: a loop of 4,000 activities holds no more than its first round did.

    Args:
        decider: Decides runs that are not kept.
        runs: At most that many are kept; the one decided longest ago leaves first.
        bytes: Estimated memory that they may take together.
        count: Told of ``cache_hits``, ``cache_misses`` and ``cache_evictions_<reason>``, one by one.
    """

    decider: Decider
    runs: int = KEPT_RUNS
    bytes: int = KEPT_BYTES
    count: Callable[[str], None] = field(default=lambda _: None)
    _kept: OrderedDict[str, _Kept] = field(factory=OrderedDict, init=False)
    _bytes: int = field(default=0, init=False)

    def __len__(self) -> int:
        """How many runs are kept."""
        return len(self._kept)

    def __contains__(self, run_id: object) -> bool:
        """Whether a run is kept."""
        return run_id in self._kept

    def decide(self, task: DecisionTask) -> Answer | None:
        """Decide a task whose events may begin with the decision task before it.

        Returns:
            The answer; None if the whole history is needed, to be given by another call.

        Raises:
            FlowpyError: As ``Decider.decide``; nothing of the run is kept.
        """
        kept = self._take(task.run_id)
        if kept is not None:
            answer = self._go_on(kept, task)
            if answer is not None:
                self.count("cache_hits")
                return answer
        if not task.events or task.events[0].get("eventId") != 1:
            return None
        if task.previous_started_event_id:
            self.count("cache_misses")
        return self._decide(_Kept(self.decider.load(task)), task, task.events)

    def accepted(self, run_id: str, started_event_id: int) -> None:
        """The service has taken the answer to a decision task."""
        kept = self._kept.get(run_id)
        if kept is not None and kept.started_event_id == started_event_id:
            kept.accepted = True

    def evict(self, run_id: str, reason: str, started_event_id: int | None = None) -> None:
        """A run leaves memory, if it is kept; given a decision task, only if that is the one it decided last."""
        if started_event_id is not None and run_id in self and self._kept[run_id].started_event_id != started_event_id:
            # What is heard late of an answer says nothing about the one after it.
            return
        kept = self._take(run_id)
        if kept is not None:
            self._drop(kept, reason)

    def evict_all(self, reason: str) -> None:
        """All runs leave memory."""
        for run_id in list(self._kept):
            self.evict(run_id, reason)

    # --- deciding ---------------------------------------------------------------------------

    def _go_on(self, kept: _Kept, task: DecisionTask) -> Answer | None:
        """Decide what is new with a kept run; None if it does not serve, and has left memory."""
        if not kept.accepted:
            self._drop(kept, "unanswered")
            return None
        try:
            new = _what_follows(kept, task)
        except MALFORMED:
            new = None
        if new is None:
            self._drop(kept, "stale")
            return None
        try:
            return self._decide(kept, task, new)
        except (HistoryError, NonDeterminismError) as error:
            # Believed only if the whole history says so too.
            _log.warning(
                "%s run %s: a replay from the whole history decides, since the run in memory does not go on: %s",
                task.workflow_id,
                task.run_id,
                error,
            )
            return None

    def _decide(self, kept: _Kept, task: DecisionTask, events: list[Event]) -> Answer:
        run, payloads = kept.run, self.decider.converter.payloads
        try:
            if not payloads.is_plain:
                # Once, and here: code keeps what payloads are, not what they are sealed to.
                events = open_events(events, payloads)
            answer = self.decider.answer(run, events)
        except BaseException as error:
            differs = isinstance(error, (HistoryError, NonDeterminismError))
            self._drop(kept, "differed" if differs else "failed")
            raise
        # Of the events that one more decision task brings, code sees those of its episode.
        seen = run.forget_seen()
        kept.characters += _characters(seen if kept.started_event_id else events)
        kept.started_event_id, kept.accepted = task.started_event_id, False
        if answer.decisions and answer.decisions[-1]["decisionType"] in _CLOSING:
            self._drop(kept, "closed")
        else:
            self._keep(task.run_id, kept)
        return answer

    # --- memory -----------------------------------------------------------------------------

    def _keep(self, run_id: str, kept: _Kept) -> None:
        kept.bytes = kept.estimate()
        self._kept[run_id] = kept
        self._bytes += kept.bytes
        while len(self._kept) > self.runs or (self._bytes > self.bytes and self._kept):
            reason = "full" if len(self._kept) > self.runs else "memory"
            self.evict(next(iter(self._kept)), reason)

    def _take(self, run_id: str) -> _Kept | None:
        kept = self._kept.pop(run_id, None)
        if kept is not None:
            self._bytes -= kept.bytes
        return kept

    def _drop(self, kept: _Kept, reason: str) -> None:
        self.count(f"cache_evictions_{reason}")
        kept.run.evict()


def _what_follows(kept: _Kept, task: DecisionTask) -> list[Event] | None:
    """The events that the kept run has not seen, or None if they are not exactly what follows."""
    seen, events = kept.run.episodes.last_event_id, task.events
    if task.previous_started_event_id != kept.started_event_id or seen != kept.started_event_id or not events:
        return None
    first = seen + 1 - events[0]["eventId"]
    if first < 0:
        return None
    new = events[first:] if first else events
    # The count first: no list is made as long as a wrong id says.
    if len(new) != task.started_event_id - seen or [*map(_ID, new)] != [*range(seen + 1, task.started_event_id + 1)]:
        return None
    for event in new:
        if event["eventType"] == "DecisionTaskCompleted":
            return new if event["decisionTaskCompletedEventAttributes"]["startedEventId"] == seen else None
    return None


def _characters(events: list[Event]) -> int:
    characters = 0
    for event in events:
        where = _payload_of(event["eventType"])
        if where is not None:
            text: Any = event[where[0]].get(where[1])
            if text:
                characters += len(text)
    return characters

"""Replaying recorded histories: which decisions the code makes, episode by episode, and where it stands then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any, Self, TypeVar

from attrs import define, field

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.workflow import Workflow
from flowpy.errors import CallError, FlowpyError, NonDeterminismError
from flowpy.history.episode import Episode
from flowpy.history.episodes import Episodes
from flowpy.history.events import CLOSE_EVENTS, Event
from flowpy.replay.answers import goes_on, markers_may_wait
from flowpy.replay.divergence import Difference, Divergence
from flowpy.replay.explaining import refused_differences
from flowpy.runtime.pending import Pending, pending
from flowpy.runtime.querying import ask
from flowpy.runtime.run import Run

T = TypeVar("T")


def _counted(values: list[Any]) -> str:
    return f"<{len(values)}>"


@define
class ReplayedEpisode:
    """One episode as the code went through it.

    Attributes:
        started_event_id: Id of its DecisionTaskStarted event.
        handles: Ids of its new events, in handling order.
        decisions: The decisions the code made, as boto3 takes them.
        open: Whether the history ends in this decision task, so that there was nothing to compare with.
    """

    started_event_id: int
    handles: list[int]
    decisions: list[dict[str, Any]]
    open: bool


@define
class Replay:
    """What a replay showed.

    Attributes:
        workflow_id: workflowId of the run; "" where it was not known.
        run_id: Its runId; "" likewise.
        workflow_type: Name and version of its type; ("", "") if the history could not be read.
        source: Where the history came from, for messages.
        episodes: Its episodes in order.
        closed: eventType of the event that closed the run, or None.
        result: What the workflow function returned, if it did.
        state: What the code has published with ``flowpy.set_state``, as a plain JSON value.
        warnings: Harmless differences between history and code.
        error: Why the replay did not come to its end, or None: NonDeterminismError if history and code differ.
    """

    workflow_id: str = ""
    run_id: str = ""
    workflow_type: tuple[str, str] = ("", "")
    source: str = ""
    episodes: list[ReplayedEpisode] = field(factory=list, repr=_counted)
    closed: str | None = None
    result: Any = None
    state: Any = None
    warnings: list[Difference] = field(factory=list, repr=_counted)
    error: Exception | None = field(default=None, repr=False)
    _visit: Callable[[Callable[[Run], Any]], Any] | None = field(default=None, repr=False, alias="visit")

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """The decisions of the open episode, which a worker would send now; empty if there is none."""
        return self.episodes[-1].decisions if self.episodes and self.episodes[-1].open else []

    @property
    def divergence(self) -> Divergence | None:
        """How history and code differ, as data, or None if they do not."""
        return self.error.divergence if isinstance(self.error, NonDeterminismError) else None

    @property
    def ok(self) -> bool:
        """Whether the code went through the whole history."""
        return self.error is None

    def check(self) -> Self:
        """The replay itself.

        Raises:
            FlowpyError: It did not come to its end: ``error``.
        """
        if self.error is not None:
            raise self.error
        return self

    @property
    def pending(self) -> Pending:
        """What the code waits for at the end of the replay: tasks with their lines, open work with its ids.

        The code is run once more to look. After a divergence it is what the code waited for when that was found.
        """
        return self._look(pending, Pending())

    def query(self, name: str, *args: Any) -> Any:
        """Call a ``@query`` method on the run as it is at the end of the replay; the code is run once more for it.

        Args:
            name: The query's name.
            *args: Its arguments.

        Raises:
            CallError: There is no such query, or no decision task to look at.
            ReadOnly: The method tried to decide, await or record.
            FlowpyError: The replay did not come to its end: ``error``.
        """
        self.check()
        if self._visit is None:
            raise CallError(f"query {name!r} has nothing to look at: no code was run")
        return self._visit(lambda run: ask(run, name, args))

    def _look(self, look: Callable[[Run], T], otherwise: T) -> T:
        return otherwise if self._visit is None else self._visit(look)


def replay_history(
    workflow: Workflow[..., Any],
    events: list[Event],
    workflow_id: str,
    run_id: str,
    *,
    up_to: int | None = None,
    warm: bool = False,
    strict: bool = False,
    converter: Converter = DEFAULT,
) -> Replay:
    """Run a workflow's code through a recorded history.

    Args:
        workflow: The declared workflow.
        events: The events from 1, as boto3 gives them.
        workflow_id: workflowId of the run: the ids of children depend on it.
        run_id: Its runId: ids, random numbers and back-offs depend on it.
        up_to: Go no further than the last decision task that was started at or before this event.
        warm: Feed it episode by episode to one live run, as a worker with a cache is fed.
        strict: Whether harmless differences (input, seconds, options) are errors too.
        converter: Reads and writes payloads.

    Returns:
        What it showed; ``error`` says why it ended early, if it did.
    """

    def visit(look: Callable[[Run], Any]) -> Any:
        run = Run(workflow, workflow_id, run_id, converter=converter)
        try:
            # The replay itself has met what is wrong: where the code stands now is what is asked for.
            with suppress(FlowpyError):
                run.feed(shown)
            return look(run)
        finally:
            run.evict()

    replay = Replay(workflow_id, run_id, (workflow.name, workflow.version), visit=visit)

    def saw(episode: Episode, decisions: list[dict[str, Any]]) -> None:
        handles = [event["eventId"] for event in episode.events]
        replay.episodes.append(ReplayedEpisode(episode.started_event_id, handles, decisions, episode.answers is None))

    shown: list[Event] = []
    run = Run(workflow, workflow_id, run_id, converter=converter, observer=saw)
    try:
        shown = events if up_to is None else until(events, up_to)
        for part in _parts(shown) if warm else (shown,):
            run.feed(part)
        if strict and run.execution.warnings:
            raise refused_differences(run.execution, events)
    except FlowpyError as error:
        # The frames it came through are flowpy's own, and would keep the whole run in memory with the replay.
        replay.error = error.with_traceback(None)
    finally:
        _finish(replay, run)
        run.evict()
    return replay


def _finish(replay: Replay, run: Run) -> None:
    replay.closed = run.episodes.closed["eventType"] if run.episodes.closed is not None else None
    if run.outcome.kind == "CompleteWorkflowExecution":
        replay.result = run.outcome.value
    replay.warnings = list(run.execution.warnings)
    replay.state = run.published.state


def until(events: list[Event], event_id: int) -> list[Event]:
    """The beginning of a history that shows the run as the last decision task left it that started by an event.

    Args:
        events: The whole history.
        event_id: The event. Where it stands between two decision tasks, or in one that timed out, was held or never
            answered, the decision task before it counts.

    Returns:
        All that happened until the next decision task began, the recorded answers included: where one batch was too
        small for the markers of a decision, those of the batches it went on in too, for they hold values that the code
        was given at once. Empty if no decision task was started by then.
    """
    if event_id >= events[-1]["eventId"]:
        return events
    episodes = Episodes().feed(events)
    last = max((n for n, each in enumerate(episodes) if each.started_event_id <= event_id), default=None)
    if last is None:
        return []
    while last + 1 < len(episodes) and goes_on(episodes[last]) and markers_may_wait([episodes[last]]):
        last += 1
    completed, answers = episodes[last].completed, episodes[last].answers or []
    if completed is None:
        return events
    for index in range(completed["eventId"], len(events)):
        kind = events[index]["eventType"]
        if kind == "DecisionTaskStarted" or (kind in CLOSE_EVENTS and events[index] not in answers):
            return events[:index]
    return events


def _parts(events: list[Event]) -> Iterator[list[Event]]:
    """The history cut before each accepted decision task: every episode comes together with its recorded answers."""
    episodes = Episodes().feed(events)
    # The markers of a batch that overflowed are in those after it: they stay together.
    going_on = [False, *(goes_on(episode) for episode in episodes)]
    accepted = [episode.started_event_id for episode, follows in zip(episodes, going_on, strict=False) if not follows]
    first = events[0]["eventId"] if events else 1
    begin = 0
    for started in accepted[1:]:
        end = started - first
        yield events[begin:end]
        begin = end
    yield events[begin:]


def pending_by_episode(
    workflow: Workflow[..., Any],
    events: list[Event],
    workflow_id: str,
    run_id: str,
    *,
    event_ids: Collection[int] | None = None,
    converter: Converter = DEFAULT,
) -> Iterator[tuple[int, Pending]]:
    """Run a workflow's code through a history once, and look after each decision what it waits for.

    Args:
        workflow: The declared workflow.
        events: The events from 1, as boto3 gives them.
        workflow_id: workflowId of the run.
        run_id: Its runId.
        event_ids: Look only at the decisions that hold at these events; default all.
        converter: Reads payloads.

    Yields:
        The id of the DecisionTaskStarted event, and what was pending when that decision was made.

    Raises:
        FlowpyError: The code does not go on with the history.
    """
    run = Run(workflow, workflow_id, run_id, converter=converter)
    try:
        for number, part in enumerate(_parts(events)):
            run.feed(part)
            begun = Episodes().feed(part) if number == 0 else ()
            started = part[0]["eventId"] if number else next((each.started_event_id for each in begun), 0)
            held = range(started, part[-1]["eventId"] + 1)
            if started and (event_ids is None or any(id in held for id in event_ids)):
                yield started, pending(run)
    finally:
        run.evict()

"""Replaying recorded histories: which decisions the code makes, episode by episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import define, field

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.workflow import Workflow
from flowpy.history.episodes import Episode, Episodes
from flowpy.history.events import Event
from flowpy.replay.answers import goes_on
from flowpy.replay.divergence import Difference
from flowpy.replay.explaining import refused_differences
from flowpy.runtime.run import Run


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
        episodes: Its episodes in order.
        closed: eventType of the event that closed the run, or None.
        result: What the workflow function returned, if it did.
        warnings: Harmless differences between history and code.
    """

    episodes: list[ReplayedEpisode] = field(factory=list)
    closed: str | None = None
    result: Any = None
    warnings: list[Difference] = field(factory=list)

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """The decisions of the open episode, which a worker would send now; empty if there is none."""
        return self.episodes[-1].decisions if self.episodes and self.episodes[-1].open else []


def replay_events(
    workflow: Workflow[..., Any],
    events: list[Event],
    workflow_id: str,
    run_id: str,
    *,
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
        warm: Feed it episode by episode to one live run, as a worker with a cache is fed.
        strict: Whether harmless differences (input, seconds, options) are errors too.
        converter: Reads and writes payloads.

    Raises:
        NonDeterminismError: The code does not match the history.
        HistoryError: The history contradicts itself.
    """
    replay = Replay()

    def saw(episode: Episode, decisions: list[dict[str, Any]]) -> None:
        handles = [event["eventId"] for event in episode.events]
        replay.episodes.append(
            ReplayedEpisode(episode.started_event_id, handles, decisions, episode.answers is None)
        )

    run = Run(workflow, workflow_id, run_id, converter=converter, observer=saw)
    try:
        for part in _parts(events) if warm else (events,):
            run.feed(part)
        _finish(replay, run)
        if strict and run.execution.warnings:
            raise refused_differences(run.execution, events)
    finally:
        run.evict()
    return replay


def _finish(replay: Replay, run: Run) -> None:
    replay.closed = run.episodes.closed["eventType"] if run.episodes.closed is not None else None
    if run.outcome.kind == "CompleteWorkflowExecution":
        replay.result = run.outcome.value
    replay.warnings = list(run.execution.warnings)


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

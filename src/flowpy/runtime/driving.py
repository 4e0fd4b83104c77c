"""Running a workflow's code through the episodes of its history, event by event (law L2)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from flowpy.data.payloads import PLAIN, is_sealed
from flowpy.data.sealing import EVENT_FIELDS, SEALED
from flowpy.errors import HistoryError
from flowpy.history.episode import Episode
from flowpy.history.malformed import MALFORMED, check_time, malformed, text_of
from flowpy.replay.answers import CLOSES, as_recorded
from flowpy.replay.execution import NONE
from flowpy.replay.explaining import diverged
from flowpy.replay.matching import match
from flowpy.replay.results import HANDLERS, Handler
from flowpy.runtime.beginning import begin
from flowpy.runtime.completions import complete, run_through_plain

if TYPE_CHECKING:
    from flowpy.history.episode import Cut
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

_ABOUT_THE_RUN: Final[tuple[Handler | None, str]] = (None, "")
_KIND: Final = itemgetter("eventType")
_ALWAYS: Final = sys.maxsize
"""More answers than an episode can have."""


def run_through(run: Run, events: Iterable[Event], *, decide: bool) -> None:
    """Cut events into episodes and run the code through them, a few at a time.

    Args:
        run: The run.
        events: Events in order, following those fed before.
        decide: Whether to run the open episode too.
    """
    some = run.episodes.some(events)
    with run.loop.running():
        first = _match_previous(run, some)
        run.execution.begin(chain((first,), some))
        while run.execution.cut_more():
            _check_history(run)
            _run_episodes(run, decide=decide)


def _match_previous(run: Run, some: Iterator[list[Cut]]) -> list[Cut]:
    """Match the episode that was decided here with its answers, once all of them are cut.

    Returns:
        The episodes cut meanwhile.
    """
    previous = run.unmatched
    cut: list[Cut] = []
    if previous is not None:
        for each in some:
            cut += each
            if previous.answers is not None and not run.episodes.is_last(previous):
                break
        _check_history(run)
        if previous.answers is not None:
            run.unmatched = None
            _match(run, previous)
    return cut


def _check_history(run: Run) -> None:
    """Refuse a history that cannot be gone on with."""
    if run.episodes.broken:
        raise HistoryError("the decision task that was decided here never counted: start again from event 1")
    if run.episodes.first_context is not None and not run.execution.python:
        run.published.check_contract()


def _run_episodes(run: Run, *, decide: bool) -> None:
    """Run the code through the episodes that are cut: those that were decided, and last the one to decide now."""
    execution = run.execution
    run.replaying = True
    # More may be cut meanwhile, when a marker is looked for: the iteration comes to them too.
    cuts = iter(execution.episodes)
    for cut in cuts:
        left: Cut | None = cut
        if type(cut) is tuple and not run.lost:
            left = run_through_plain(run, chain((cut,), cuts))
            if type(left) is tuple:
                _end_episode(run)  # all else is done for it
                continue
        if left is None:
            break
        episode: Any = Episode.from_cut(left) if type(left) is tuple else left
        if not _run_episode(run, episode, decide=decide):
            break
    execution.pass_by()


def _run_episode(run: Run, episode: Episode, *, decide: bool) -> bool:
    """Run the code through an episode of any kind; returns False for the open one, if it is not to be decided."""
    execution = run.execution
    if episode.answers is None and not decide:
        return False
    execution.current = episode
    matched = _begin_episode(run, episode)
    if not run.lost:
        _see(run, episode.events)
        if execution.unsent or execution.at < matched or run.outcome.kind or run.halted:
            _end_episode(run)
    elif run.observer is not None:
        run.observer(episode, execution.answer(run.closing))
    return True


def _see(run: Run, events: list[Event]) -> None:
    """Apply events of any kind, the code running after each until it blocks (law L2)."""
    # One event is what most decision tasks bring to a run that is kept in memory.
    groups: Any = ((_KIND(events[0]), events),) if len(events) == 1 else groupby(events, _KIND)
    for kind, some in groups:
        if kind == "ActivityTaskCompleted":
            complete(run, some)
        else:
            handle, key = HANDLERS.get(kind, _ABOUT_THE_RUN)
            for event in () if key and handle is None else some:
                _apply(run, event, handle, key)
                if run.loop.ready:
                    run.loop.run_until_blocked()
                if run.halted:
                    break
        if run.halted:
            break


def _apply(run: Run, event: Event, handle: Handler | None, key: str) -> None:
    """Apply an event."""
    try:
        field = EVENT_FIELDS.get(event["eventType"])
        if handle is not None:
            attributes = event[key]
            text = attributes.get(field) if field is not None else None
            if text and is_sealed(text):
                # Nothing here is set up to open it: the run is held before code sees that it is not there.
                PLAIN.open(text, f"{field} of event {event['eventId']}")
            handle(run.execution, attributes, event)
        else:
            _about_the_run(run, event)
    except MALFORMED as error:
        raise malformed(event, error) from error


def _schedules(event: Event) -> bool:
    return bool(event["eventType"] == "ActivityTaskScheduled")


def _begin_episode(run: Run, episode: Episode) -> int:
    """The code is about to see an episode.

    Returns:
        How many answers are matched as the code makes its decisions if all goes well.
    """
    execution, answers = run.execution, episode.answers
    execution.at, execution.answers = 0, NONE
    matched = _ALWAYS
    if answers is not None and run.observer is None:
        matched = len(answers)
        execution.answers = list(takewhile(_schedules, answers))
    if run.lost:
        run.replaying = answers is not None
        run.closing = run.outcome.close()
    elif answers is None:
        run.replaying = False
        # The clock must be readable before code asks for it: code cannot answer for the history.
        check_time(episode.started)
        run.unmatched = episode
    return matched


def _end_episode(run: Run) -> None:
    """The code has seen all of an episode: see whether the run may close, and match what it decided."""
    if run.unreadable is not None:
        raise run.unreadable
    execution = run.execution
    episode: Any = execution.current
    if type(episode) is tuple:
        episode = execution.episode
    if run.outcome.lost:
        # Clean-up that ran as the code was stopped would decide the same again in every decision task.
        execution.unsent.clear()
    if run.outcome.kind:
        run.closing = None if run.stopped else run.outcome.close()
    if run.observer is not None and not run.stopped:
        run.observer(episode, _decided(run, episode))
    if episode.answers is not None and not run.outcome.lost:
        _match(run, episode)
    execution.passed.append(episode)


def _decided(run: Run, episode: Episode) -> list[dict[str, Any]]:
    """What the code decided in an episode; what is recorded, where the code cannot be run through it any more."""
    if run.outcome.lost and any(event["eventType"] == "RecordMarkerFailed" for event in episode.answers or ()):
        return as_recorded(episode.answers or (), run.outcome.value.id)
    return run.execution.answer(run.closing)


def _match(run: Run, episode: Episode) -> None:
    """Match what the code decided in an episode with its recorded answers."""
    if run.lost:
        return
    ends_here = run.episodes.ends_in_a_transaction and run.episodes.is_last(episode)
    match(run.execution, episode, run.closing, ends_here=ends_here)
    if run.stopped:
        raise diverged(run.execution, episode, [], list(run.execution.unsent.values()), "", ends_here)


def _about_the_run(run: Run, event: Event) -> None:
    """An event that is not about anything the code has asked for."""
    kind = event["eventType"]
    if kind not in CLOSES:
        run.outcome.refusal = None
    if kind == "WorkflowExecutionSignaled":
        attributes = event["workflowExecutionSignaledEventAttributes"]
        recorded = event.get(SEALED, event)["workflowExecutionSignaledEventAttributes"]
        given, raw = text_of(attributes, "input"), text_of(recorded, "input")
        if given:
            given = run.converter.payloads.open(given, f"input of event {event['eventId']}")
        run.signals.arrive(attributes["signalName"], given, event["eventId"], raw=raw)
    elif kind == "WorkflowExecutionCancelRequested":
        _cancel_requested(run)
    elif kind == "WorkflowExecutionStarted":
        run.base_context.run(begin, run, event)
    elif kind in CLOSES:
        attributes = event[f"{kind[0].lower()}{kind[1:]}EventAttributes"]
        run.outcome.refused(CLOSES[kind][0], attributes["cause"], event)
    elif kind not in run.unknown:
        run.unknown.add(kind)
        run.log_warning(f"event {event['eventId']} is of type {kind}, which flowpy does not know: ignored")


def _cancel_requested(run: Run) -> None:
    """WorkflowExecutionCancelRequested: it reaches the main task once."""
    run.cancel_requests += 1
    if run.cancel_requests > 1:
        return
    if run.main is not None and not run.main.done():
        run.main.cancel()
    elif run.outcome.kind:
        run.outcome.cancel_open()

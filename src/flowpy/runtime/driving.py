"""Running a workflow's code through the episodes of its history, event by event (law L2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from flowpy.errors import HistoryError
from flowpy.history.malformed import MALFORMED, malformed, text_of, time_of
from flowpy.replay.answers import CLOSES
from flowpy.replay.execution import NONE
from flowpy.replay.explaining import diverged
from flowpy.replay.matching import match
from flowpy.replay.results import HANDLERS
from flowpy.runtime.activities import activity_completed
from flowpy.runtime.beginning import begin

if TYPE_CHECKING:
    from flowpy.history.episodes import Episode
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

_HANDLERS: Final[dict[str, tuple[Any, str]]] = {
    **HANDLERS,
    "ActivityTaskCompleted": (activity_completed, "activityTaskCompletedEventAttributes"),
}
"""Event type → (what it does, key of its attributes); what it does may return a task, to be stepped at once."""


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


def _match_previous(run: Run, some: Iterator[list[Episode]]) -> list[Episode]:
    """Match the episode that was decided here with its answers, once all of them are cut.

    Returns:
        The episodes cut meanwhile.
    """
    previous, cut = run.unmatched, []
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
    if not run.execution.python:
        run.published.check_contract()


def _run_episodes(run: Run, *, decide: bool) -> None:
    """Run the code through the episodes that are cut: those that were decided, and last the one to decide now."""
    execution, outcome, unsent, ready = run.execution, run.outcome, run.execution.unsent, run.loop.ready
    handler_of, observed = _HANDLERS.get, run.observer is not None
    run.replaying = True
    # More may be cut meanwhile, when a marker is looked for: the iteration comes to them too.
    for episode in execution.episodes:
        answers = episode.answers
        if answers is None and not decide:
            break
        run.episode = execution.episode = episode
        execution.at, execution.answers = 0, answers or NONE
        if observed:
            execution.answers = NONE
        if answers is None or run.lost:
            run.replaying = answers is not None
            if run.lost:
                run.closing = outcome.close()
                continue
            # The clock must be readable before code asks for it: code cannot answer for the history.
            time_of(episode.started)
            run.unmatched = episode
        for event in episode.events:
            try:
                entry = handler_of(event["eventType"])
                if entry is None:
                    woken = None
                    _about_the_run(run, event)
                elif entry[0] is None:
                    continue
                else:
                    woken = entry[0](execution, event[entry[1]], event)
            except MALFORMED as error:
                raise malformed(event, error) from error
            if woken is not None:
                woken.step()
            if ready:
                run.loop.run_until_blocked()
            if run.halted:
                break
        if observed or answers is None or run.halted or outcome.kind:
            _end_episode(run, episode)
            execution.passed.append(episode)
        elif unsent or execution.at < len(answers or NONE):
            _match(run, episode)
            execution.passed.append(episode)
    execution.pass_by()


def _end_episode(run: Run, episode: Episode) -> None:
    """The code has seen all of an episode: see whether the run may close, and match what it decided."""
    if run.outcome.lost:
        # Clean-up that ran as the code was stopped would decide the same again in every decision task.
        run.execution.unsent.clear()
    if run.outcome.kind:
        run.closing = None if run.stopped else run.outcome.close()
    if run.observer is not None and not run.stopped:
        run.observer(episode, run.execution.answer(run.closing))
    if episode.answers is not None and not run.outcome.lost:
        _match(run, episode)


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
        run.signals.arrive(attributes["signalName"], text_of(attributes, "input"), event["eventId"])
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

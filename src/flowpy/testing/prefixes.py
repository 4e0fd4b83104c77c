"""Every history that a test makes is replayed up to each of its decisions, and the decisions compared (law L9).

A prefix is what a worker sees that never saw the run before: it starts from event 1 and must decide what was decided.
Whatever the code got from anywhere but the history shows as a difference: a clock, random numbers, a global that a
first run has changed, the order of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from flowpy.data.sealing import open_decision, open_events
from flowpy.errors import NonDeterminismError
from flowpy.history.events import Event
from flowpy.replay.answers import SIDE_EFFECT
from flowpy.replay.explaining import refused_differences
from flowpy.runtime.pending import pending
from flowpy.runtime.run import Run
from flowpy.testing.live import Live
from flowpy.testing.timeline import timeline

__all__ = ["replay_prefixes"]

MOST_EVENTS: Final = 20_000
"""Events that the prefixes of one history may have together, unless all of them are asked for."""

Decisions = list[dict[str, Any]]


def replay_prefixes(live: Live, *, every: bool = False) -> int:
    """Replay a history up to each of its decisions; compare with those that were sent.

    Args:
        live: The execution, with the decisions that were sent.
        every: Replay every prefix, however long; else, of a history whose prefixes have over 20,000 events together,
            only as many as fit in that, evenly spread, the last one among them.

    Returns:
        How many prefixes were replayed.

    Raises:
        NonDeterminismError: A replay decides something else; with the history and what was pending as notes.
    """
    chosen = _chosen(sorted(live.answers), every=every)
    events = list(live.events)
    completed = _completions(events)
    for started in chosen:
        if started in completed:
            _replay(live, events, started, completed[started])
    return len(chosen)


def _chosen(starts: list[int], *, every: bool) -> list[int]:
    total = sum(starts)
    if every or total <= MOST_EVENTS:
        return starts
    step = -(-total // MOST_EVENTS)
    return starts[::-1][::step][::-1]


def _completions(events: list[Event]) -> dict[int, int]:
    """Id of the DecisionTaskCompleted by that of its DecisionTaskStarted."""
    return {
        event["decisionTaskCompletedEventAttributes"]["startedEventId"]: event["eventId"]
        for event in events
        if event["eventType"] == "DecisionTaskCompleted"
    }


def _replay(live: Live, events: list[Event], started: int, completed: int) -> None:
    sent = live.answers[started]
    run = Run(live.workflow, live.workflow_id, live.run_id, converter=live.converter)
    run.quiet = True
    try:
        if any(_is_side_effect(decision) for decision in sent):
            # What it recorded is part of what the code knew when it decided.
            run.feed(events[: _end_of_transaction(events, completed)])
        else:
            run.feed(events[:started])
            _compare(run, sent, events, started, completed)
        if run.execution.warnings:
            raise refused_differences(run.execution, events)
    except NonDeterminismError as error:
        raise _explained(error, live, run, events, started) from None
    finally:
        run.evict()


def _compare(run: Run, sent: Decisions, events: list[Event], started: int, completed: int) -> None:
    made = [open_decision(decision, run.converter.payloads) for decision in run.answer()[0]]
    if _alike(sent, made):
        return
    # The kernel's own report names the lines; it looks at what the decisions became.
    run.feed(events[started : _end_of_transaction(events, completed)])
    if run.execution.warnings:
        raise refused_differences(run.execution, events)
    raise NonDeterminismError(_difference(sent, made))


def _explained(
    error: NonDeterminismError, live: Live, run: Run, events: list[Event], started: int
) -> NonDeterminismError:
    """The same error, saying how it came about, with the history and what was pending as notes."""
    explained = NonDeterminismError(
        f"the same code decided two things: one in the test, another when the history of {live.workflow_id!r} was "
        f"replayed up to its decision task {started}. So it depends on something that is not in the history.\n{error}",
        divergence=error.divergence,
    )
    explained.add_note("the history:\n" + timeline(open_events(events, live.converter.payloads)))
    explained.add_note(f"where the replay stands:\n{pending(run)}")
    return explained


def _end_of_transaction(events: list[Event], completed: int) -> int:
    """Id of the last event that a decision became."""
    last = completed
    for event in events[completed:]:
        told: dict[str, Any] = next((value for key, value in event.items() if key.endswith("Attributes")), {})
        if told.get("decisionTaskCompletedEventId") == completed and not told.get("initiatedEventId"):
            last = event["eventId"]
    return last


def _is_side_effect(decision: dict[str, Any]) -> bool:
    marker = decision.get("recordMarkerDecisionAttributes")
    return marker is not None and marker["markerName"] == SIDE_EFFECT


# --- comparing --------------------------------------------------------------------------------


def _alike(sent: Decisions, made: Decisions) -> bool:
    return sent == made or [_canonical(each) for each in sent] == [_canonical(each) for each in made]


def _canonical(decision: dict[str, Any]) -> Any:
    """A decision without the frames of a traceback: an error that is raised again grows by some each time."""
    attributes = decision.get("failWorkflowExecutionDecisionAttributes")
    if attributes is None:
        return decision
    details = json.loads(attributes["details"])
    return {**attributes, "details": _untraced(details)}


def _untraced(failure: Any) -> Any:
    if not isinstance(failure, dict):
        return failure
    return {key: _untraced(value) for key, value in failure.items() if key != "traceback"}


def _difference(sent: Decisions, made: Decisions) -> str:
    return "\n".join(
        (
            *_listed("recorded", sent),
            *_listed("replayed", made),
        )
    )


def _listed(label: str, decisions: Decisions) -> Iterator[str]:
    yield f"  {label}:"
    for decision in decisions:
        yield f"    {json.dumps(decision, default=str)[:300]}"
    if not decisions:
        yield "    (nothing)"

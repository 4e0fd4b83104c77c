"""Gathers all that a divergence report says; only a run that diverged pays for it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from attrs import evolve

from flowpy.errors import NonDeterminismError
from flowpy.history.episode import Episode
from flowpy.history.events import Event
from flowpy.replay.answers import ANSWERS, CLOSES, PATCH, SIDE_EFFECT, describe, marker_id
from flowpy.replay.divergence import CodeLine, Decided, Difference, Divergence
from flowpy.replay.entities import Close, Entity, Marker
from flowpy.replay.execution import Execution
from flowpy.replay.guessing import Evidence, guess, guess_differences
from flowpy.replay.report import render
from flowpy.replay.source import Source

_REASON = 60


def diverged(
    execution: Execution, episode: Episode, missing: list[Event], surplus: list[Entity], reason: str, ends_here: bool
) -> NonDeterminismError:
    """The error of an episode in which history and code differ.

    Args:
        execution: The run.
        episode: The episode.
        missing: Answers to decisions the code did not make.
        surplus: Decisions without an answer.
        reason: What contradicts, where one decision stands on both sides.
        ends_here: Whether the history ends in this transaction.
    """
    history = tuple(recorded(event) for event in missing)
    code = tuple(made(entity) for entity in surplus)
    if reason:
        ids = {one.id for one in history}
        code = tuple(one for one in map(made, execution.outbox.unsent.values()) if one.id in ids) or code
    matched = tuple(evolve(made(entity), event_id=entity.event_id) for entity in execution.matched)
    waiting = tuple(filter(None, map(CodeLine.of, execution.where()))) if execution.where is not None else ()
    completed = episode.completed["eventId"] if episode.completed is not None else None
    here = tuple(one for one in execution.warnings if one.completed_event_id == completed)
    earlier = next((one for one in execution.warnings if one.completed_event_id != completed), None)
    python = (execution.python, f"{sys.version_info.major}.{sys.version_info.minor}")
    patches = _patches(execution, episode)
    # A patch that was taken out may show first in what the decision task after its own decides.
    started = [each.started_event_id for each in execution.cut_now()]
    before = max((each for each in started if each < episode.started_event_id), default=execution.before)
    stopped = any(isinstance(one, Marker) and one.name == SIDE_EFFECT and not one.input for one in surplus)
    evidence = Evidence(
        history,
        code,
        reason,
        here,
        _later(execution, episode),
        tuple(id for id in patches if execution.patches.get(id) is False),
        tuple(id for id, task in patches.items() if id not in execution.patches and task >= before),
        _shift(execution, episode, history, surplus) if here else (),
        _since(execution, (*history, *code)),
        not any(each.answers for each in _following(execution, episode)),
        stopped,
        python,
        Source(one for one in (*(d.line for d in (*code, *matched)), *waiting)),
    )
    cause = guess(evidence)
    divergence = Divergence(
        decision_task=episode.started_event_id,
        completed_event_id=completed,
        history=history,
        code=code,
        matched=matched,
        differences=here,
        earlier=earlier,
        waiting=waiting if not any(one.line for one in code) else (),
        reason=reason,
        guess=cause.guess,
        likely=cause.likely,
        remedy=cause.remedy,
        patches=tuple(patches),
        python=python,
        workflow=execution.workflow,
        recorded_workflow=execution.recorded_workflow,
        ends_here=ends_here and not history,
        stopped=stopped,
    )
    return NonDeterminismError(render(divergence), divergence=divergence)


def refused_differences(execution: Execution, events: Iterable[Event]) -> NonDeterminismError:
    """The error of strict mode: decisions match, but not in input, seconds or options.

    Args:
        execution: The run; it has warnings.
        events: Its history.
    """
    differences = tuple(execution.warnings)
    completed = differences[0].completed_event_id
    event = next((e for e in events if e["eventId"] == completed), {})
    cause = guess_differences(differences, Source(one.line for one in differences))
    divergence = Divergence(
        decision_task=event.get("decisionTaskCompletedEventAttributes", {}).get("startedEventId", 0),
        completed_event_id=completed,
        history=(),
        code=(),
        differences=differences,
        guess=cause.guess,
        likely=cause.likely,
        remedy=cause.remedy,
        python=(execution.python, f"{sys.version_info.major}.{sys.version_info.minor}"),
        workflow=execution.workflow,
        recorded_workflow=execution.recorded_workflow,
    )
    return NonDeterminismError(render(divergence), divergence=divergence)


def exchanged(differences: Iterable[Difference]) -> Iterator[str]:
    """What is likely, in words, for each batch in which the same inputs stand at other calls.

    Each of these differences is harmless, and together they are not: what was recorded for one call reaches the code of
    another.

    Args:
        differences: Those of a run, in order.
    """
    for _, batch in groupby(differences, key=lambda one: one.completed_event_id):
        inputs = tuple(one for one in batch if one.what.startswith(("argument", "input")))
        # Written as they are shown: values need not be comparable.
        sides = sorted(repr(one.recorded) for one in inputs), sorted(repr(one.made) for one in inputs)
        if len(inputs) > 1 and sides[0] == sides[1]:
            cause = guess_differences(inputs, Source(one.line for one in inputs))
            yield f"{cause.likely}; results recorded for one call reach the code of another: {cause.remedy}"


def recorded(event: Event) -> Decided:
    """A recorded answer as one side of a report."""
    kind = event["eventType"]
    if kind in CLOSES:
        decision_type = CLOSES[kind][0]
        attributes = event[f"{kind[0].lower()}{kind[1:]}EventAttributes"]
        return Decided(_close(decision_type, attributes), decision_type, "", "", event["eventId"])
    answer = ANSWERS[kind]
    attributes = event[answer.attributes]
    typed = attributes.get("activityType") or attributes.get("workflowType") or {}
    name = typed.get("name") or attributes.get("markerName") or attributes.get("signalName") or attributes.get("name")
    id = answer.id(attributes).rpartition("\0")[2]
    return Decided(describe(event), answer.decision_type, id, str(name or ""), event["eventId"])


def made(entity: Entity) -> Decided:
    """A decision of the code as the other side of a report."""
    line = CodeLine.of(entity.site)
    if isinstance(entity, Close):
        attributes: dict[str, Any] = {}
        # Encoding a result may fail; that the run closes is all that is needed here.
        with suppress(Exception):
            attributes = next((v for k, v in entity.decision().items() if k != "decisionType"), {})
        return Decided(_close(entity.type, attributes), entity.type, "", "", None, line)
    id = entity.id.rpartition("\0")[2]
    what = entity.identity().replace(f"{entity.name}\0", "")
    return Decided(what, entity.decision_type, id, entity.name, None, line)


def _close(decision_type: str, attributes: dict[str, Any]) -> str:
    reason = str(attributes.get("reason") or "")
    return f"{decision_type}({reason[:_REASON]})" if reason else decision_type


def _patches(execution: Execution, episode: Episode) -> dict[str, int]:
    """The patches recorded up to here, and those of later that answered False, with the decision tasks they are of."""
    found = {id: 0 for id, answer in execution.patches.items() if answer}
    for each in (*_preceding(execution, episode), episode, *_following(execution, episode)):
        for event in each.answers or ():
            if event["eventType"] == "MarkerRecorded":
                attributes = event["markerRecordedEventAttributes"]
                id = marker_id(attributes.get("details"))
                here = each.started_event_id <= episode.started_event_id
                if attributes["markerName"] == PATCH and (here or execution.patches.get(id) is False):
                    found.setdefault(id, each.started_event_id)
    return found


def _following(execution: Execution, episode: Episode) -> list[Episode]:
    episodes = execution.cut_all()
    return [each for each in episodes if each.started_event_id > episode.started_event_id]


def _preceding(execution: Execution, episode: Episode) -> list[Episode]:
    episodes = (*execution.passed, *execution.cut_now())
    return [each for each in episodes if each.started_event_id < episode.started_event_id]


def _later(execution: Execution, episode: Episode) -> dict[tuple[str, str], int]:
    later: dict[tuple[str, str], int] = {}
    for each in _following(execution, episode):
        for event in each.answers or ():
            if event["eventType"] in ANSWERS or event["eventType"] in CLOSES:
                one = recorded(event)
                later.setdefault((one.decision_type, one.id or one.what), event["eventId"])
    return later


def _shift(
    execution: Execution, episode: Episode, history: tuple[Decided, ...], surplus: list[Entity]
) -> tuple[Decided, ...]:
    """What was inserted among, or removed from, calls that differ in their numbers only, found by their inputs.

    The numbers then say that the last one is new or gone, while every input after the change is another one.
    """
    answers = [event for event in episode.answers or () if event["eventType"] in ANSWERS]
    first = answers[0]["eventId"] if answers else 0
    known = [e for table in _tables(execution) for e in table.values() if e.event_id >= first]
    for group in {_group(one.decision_type, one.id) for one in history} | {
        _group(one.decision_type, one.id) for one in surplus
    }:
        events = [e for e in answers if _group(ANSWERS[e["eventType"]].decision_type, recorded(e).id) == group]
        entities = [e for e in (*known, *surplus) if _group(e.decision_type, e.id) == group]
        events.sort(key=lambda e: _number(recorded(e).id))
        entities.sort(key=lambda e: _number(e.id))
        inputs = [e[ANSWERS[e["eventType"]].attributes].get("input") for e in events], [e.input for e in entities]
        changes = [c for c in SequenceMatcher(None, *inputs, autojunk=False).get_opcodes() if c[0] != "equal"]
        if changes and all(change[0] == "insert" for change in changes):
            return tuple(made(e) for _, _, _, start, end in changes for e in entities[start:end])
        if changes and all(change[0] == "delete" for change in changes):
            return tuple(recorded(e) for _, start, end, _, _ in changes for e in events[start:end])
    return ()


def _since(execution: Execution, apart: tuple[Decided, ...]) -> Difference | None:
    """The first call with another input among those that only numbers tell from one that is new or gone."""
    groups = {_group(one.decision_type, one.id) for one in apart}
    for one in execution.warnings:
        called = re.match(r"(\w+)\(([^:)]*)", one.decision)
        if called is not None and _group(called[1], called[2]) in groups and one.what != "seconds":
            return one
    return None


def _tables(execution: Execution) -> tuple[dict[int, Any], ...]:
    return execution.activities, execution.children, execution.lambdas


def _group(decision_type: str, id: str) -> tuple[str, str]:
    return decision_type, re.sub(r"\d+$", "", id)


def _number(id: str) -> int:
    number = re.search(r"\d+$", id)
    return int(number[0]) if number else 0

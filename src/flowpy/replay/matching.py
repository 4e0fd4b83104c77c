"""Matches the decisions that code made with those that history records, by id and not by place (laws L3, L4)."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any, Final

from flowpy.data.limits import DATA
from flowpy.data.sealing import SEALED
from flowpy.history.episode import Episode
from flowpy.history.episodes import AGAIN_PREFIX
from flowpy.history.events import Event, attributes_key
from flowpy.history.malformed import MALFORMED, malformed
from flowpy.replay.answers import ANSWERS, CLOSES, PATCH, Answer
from flowpy.replay.differing import differences
from flowpy.replay.entities import SENT, ActivityTask, Close, Entity, Marker
from flowpy.replay.execution import Execution
from flowpy.replay.explaining import diverged
from flowpy.replay.outbox import LIMITED, MAX_BYTES, MAX_OPEN, key_of

_answer_of: Final = ANSWERS.get  # CPython 3.11 is slow to call a method of a name that was imported
_LARGEST_CLOSE: Final = 2 * 4 * DATA
"""Bytes a close may have: reason and details, or an input with its options, of up to four bytes a character."""


def match(execution: Execution, episode: Episode, close: Close | None, *, ends_here: bool = False) -> Close | None:
    """Match what the code decided in an episode with its recorded answers.

    Args:
        execution: The run; recorded decisions leave its outbox, and their entities become open.
        episode: An episode with recorded answers.
        close: The close the code is ready for, or None.
        ends_here: Whether the history ends in this transaction, for the report.

    Returns:
        The close if history records it (done or refused), else None.

    Raises:
        NonDeterminismError: History and code differ.
    """
    unsent = execution.unsent
    answers = episode.answers or []
    missing: list[Event] = []
    reason = ""
    closed: Close | None = None
    refusals: dict[str, int] = {}
    again = False
    event: Event = {}
    try:
        for event in islice(answers, execution.at, None):
            kind = event["eventType"]
            if kind == "ActivityTaskScheduled" and _as_made(execution, event):
                continue
            answer = _answer_of(kind)
            if answer is None:
                if close is not None and CLOSES[kind][0] == close.type:
                    closed = close
                else:
                    missing.append(event)
                continue
            attributes = event[answer.attributes]
            entity = unsent.pop(key_of(answer.decision_type, answer.id(attributes)), None)
            if entity is None:
                entity = _failed_marker(execution, answer, attributes)
            if entity is None:
                if _again(execution, answer, attributes, event):
                    again = True
                elif not _needs_no_code(answer, attributes):
                    missing.append(event)
                continue
            problem = entity.mismatch(attributes)
            if problem is not None:
                reason = reason or problem
                missing.append(event)
                unsent[key_of(answer.decision_type, entity.id)] = entity
                continue
            execution.matched.append(entity)
            entity.event_id = event["eventId"]
            if answer.failed:
                refusals[answer.decision_type] = refusals.get(answer.decision_type, 0) + 1
                execution.refused[event["eventId"]] = entity
                entity.state = SENT
            else:
                _recorded(execution, entity, answer, attributes, event)
    except MALFORMED as error:
        raise malformed(event, error) from error
    surplus = [] if not unsent or again else _surplus(execution, answers, refusals)
    if close is not None and closed is None and not unsent and not (again and _full(answers)):
        surplus.append(close)
    if missing or surplus:
        raise diverged(execution, episode, missing, surplus, reason, ends_here)
    return closed


def scheduled(execution: Execution, task: ActivityTask, type: dict[str, str]) -> bool:
    """Match an activity as soon as the code makes it, if the next recorded answer is just its own.

    Nearly all decisions of a replay are of this kind, and need not go through the outbox. Only for activities whose id
    no other call can have had: one that is cancelled before it was sent gives its id to the next. And only for those
    that set no attributes explicitly.

    Args:
        execution: The kernel's state.
        task: The activity.
        type: Its name and version as SWF writes them.

    Returns:
        Whether it was; if not, it is to be made, and ``match`` finds what there is to say about it.
    """
    at = execution.at
    try:
        event = execution.answers[at]
        attributes = event["activityTaskScheduledEventAttributes"]
        if (
            attributes["activityId"] != task.id
            or attributes["activityType"] != type
            or attributes["input"] != task.input
        ):
            return False
        if "control" in attributes:
            task.recorded_control = attributes["control"]
        task.event_id = event_id = event["eventId"]
    except MALFORMED:
        return False  # there is no further answer; or match will say what is wrong: this is called by user code
    task.state = SENT
    execution.activities[event_id] = task
    execution.matched.append(task)
    execution.at, execution.all_noted = at + 1, False
    return True


def _as_made(execution: Execution, event: Event) -> bool:
    """Match an activity whose answer has just what the code made, as most of a run that is kept in memory have."""
    unsent, attributes = execution.unsent, event["activityTaskScheduledEventAttributes"]
    entity: Any = unsent.get(attributes["activityId"])
    if (
        entity is None
        or attributes.get("input") != entity.input
        or entity.mismatch(attributes) is not None
        or entity.attributes
    ):
        return False
    del unsent[entity.id]
    execution.matched.append(entity)
    entity.event_id = event_id = event["eventId"]
    entity.state = SENT
    entity.recorded_control = attributes.get("control")
    execution.activities[event_id] = entity
    return True


def _recorded(execution: Execution, entity: Entity, answer: Answer, attributes: dict[str, Any], event: Event) -> None:
    """The service took the decision: from now on the entity is open there."""
    event_id = event["eventId"]
    entity.state = SENT
    entity.event_id = event_id
    if answer.decision_type == "ScheduleActivityTask":
        execution.activities[event_id] = entity  # type: ignore[assignment]
        entity.recorded_control = attributes.get("control")  # type: ignore[attr-defined]
    else:
        _OPENED[answer.decision_type](execution, entity, attributes, event_id)
    if attributes.get("input") != entity.input or entity.attributes:
        _compare(execution, entity, attributes, event_id)


def _compare(execution: Execution, entity: Entity, attributes: dict[str, Any], _event_id: int) -> None:
    execution.warnings.extend(differences(entity, attributes))


def _timer_canceled(execution: Execution, _entity: Entity, attributes: dict[str, Any], _event_id: int) -> None:
    execution.timers.pop(attributes["startedEventId"], None)


def _ignore(_execution: Execution, _entity: Entity, _attributes: dict[str, Any], _event_id: int) -> None:
    pass


def _opens(table: str) -> Any:
    def register(execution: Execution, entity: Entity, _attributes: dict[str, Any], event_id: int) -> None:
        getattr(execution, table)[event_id] = entity

    return register


_OPENED = {
    "RequestCancelActivityTask": _ignore,
    "StartTimer": _opens("timers"),
    "CancelTimer": _timer_canceled,
    "StartChildWorkflowExecution": _opens("children"),
    "SignalExternalWorkflowExecution": _opens("requests"),
    "RequestCancelExternalWorkflowExecution": _opens("requests"),
    "ScheduleLambdaFunction": _opens("lambdas"),
    "RecordMarker": _ignore,
}


def _again(execution: Execution, answer: Answer, attributes: dict[str, Any], event: Event) -> bool:
    """Whether an answer is to the runtime's own 0-second timer."""
    if answer.decision_type != "StartTimer" or not attributes["timerId"].startswith(AGAIN_PREFIX):
        return False
    execution.again += 1
    if not answer.failed:
        execution.own_timers.add(event["eventId"])
    return True


def _needs_no_code(answer: Answer, attributes: dict[str, Any]) -> bool:
    """A patch marker that code never asks for is no divergence (CONTRACTS §5)."""
    return answer.decision_type == "RecordMarker" and attributes.get("markerName") == PATCH


def _failed_marker(execution: Execution, answer: Answer, attributes: dict[str, Any]) -> Entity | None:
    """RecordMarkerFailed carries no details: it answers the first marker of that name."""
    if answer.decision_type != "RecordMarker" or not answer.failed:
        return None
    for key, entity in execution.outbox.unsent.items():
        if isinstance(entity, Marker) and entity.name == attributes.get("markerName"):
            return execution.outbox.unsent.pop(key)
    return None


def _full(answers: list[Event]) -> bool:
    """Whether a batch was so large that a close of two payloads may not have fitted beside it (CONTRACTS §4)."""
    recorded = [event.get(SEALED, event)[attributes_key(event["eventType"])] for event in answers]
    return len(json.dumps(recorded, ensure_ascii=False).encode("utf-8", "surrogatepass")) + _LARGEST_CLOSE > MAX_BYTES


def _surplus(execution: Execution, answers: list[Event], refusals: dict[str, int]) -> list[Entity]:
    """Decisions the history should have and has not; those that wait for a free place may come later."""
    open_now = execution.open_now()
    # What the batch itself freed was not free when its borders were drawn.
    open_now["StartTimer"] += sum(event["eventType"] == "TimerCanceled" for event in answers)
    full = {kind for kind in LIMITED if open_now[kind] + refusals.get(kind, 0) >= MAX_OPEN}
    return [entity for entity in execution.outbox.unsent.values() if entity.decision_type not in full]

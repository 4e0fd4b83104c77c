"""Decisions that the code has made and that history does not have yet, in the order in which they were made.

What is cancelled while it is here never existed (law L2). The borders of batches (CONTRACTS §4) are drawn here for
the decision task being decided, and read from history for those that are over.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from attrs import define, field

from flowpy.history.episodes import AGAIN_PREFIX
from flowpy.replay.entities import Close, Entity

MAX_DECISIONS: Final = 100
MAX_BYTES: Final = 900_000
FEW: Final = 2
"""So many decisions fit whatever they hold: two payloads of 32,768 characters each, of six bytes at most."""
MAX_OPEN: Final = 1_000
"""Open activities, timers and children an execution may have, each: SWF's quotas."""

LIMITED: Final = frozenset(("ScheduleActivityTask", "StartTimer", "StartChildWorkflowExecution"))
"""Decisions that wait for a free place instead of being sent beyond the quota."""

Seal = Callable[[dict[str, Any]], dict[str, Any]]
"""Gives a decision with its payloads as they are sent."""

Key = str
"""Of an activity its id, which most decisions are about; of all others decisionType and id, NUL between them."""


def key_of(decision_type: str, id: str) -> Key:
    """The key a decision stands under; ids cannot hold control characters, so two never share one."""
    return id if decision_type == "ScheduleActivityTask" else f"{decision_type}\0{id}"


@define
class Outbox:
    """Unsent decisions by (decisionType, id); a dict keeps the order in which code made them."""

    unsent: dict[Key, Entity] = field(factory=dict)

    def add(self, entity: Entity) -> None:
        """A decision was made."""
        self.unsent[key_of(entity.decision_type, entity.id)] = entity

    def drop(self, decision_type: str, id: str) -> Entity | None:
        """A decision was unmade before it was sent."""
        return self.unsent.pop(key_of(decision_type, id), None)

    def batch(
        self, open_now: dict[str, int], close: Close | None, again: int, seal: Seal | None = None
    ) -> list[dict[str, Any]]:
        """The decisions of one answer, as boto3 takes them (CONTRACTS §4).

        Args:
            open_now: How many of each kind in LIMITED the run has open in the service.
            close: The close, if the run is ready for it; sent only when nothing waits.
            again: Number of the next ``flowpy.again`` timer.
            seal: Makes a decision what is sent, whose bytes count; asked only for those that may go out.
        """
        ready, waiting = self._within_quotas(open_now)
        built = [entity.decision() for entity in ready]
        # Timers end with the run: those that only wait for a place need not be started any more.
        held_up = bool(waiting) and any(entity.decision_type != "StartTimer" for entity in waiting)
        closing = [close.decision()] if close is not None and not held_up else []
        count = len(built) + len(closing)
        if seal is not None:
            built, closing = _sealed(built, closing, seal)
        if count > FEW and (count > MAX_DECISIONS or size_of(built) + size_of(closing) > MAX_BYTES):
            return [*_cut(built), _again(again)]
        if built and not closing and _only_markers(built):
            # A marker schedules no decision task: without the timer nothing would wake the run.
            return [*built, _again(again)]
        return built + closing

    def _within_quotas(self, open_now: dict[str, int]) -> tuple[list[Entity], list[Entity]]:
        if len(self.unsent) + sum(open_now.values()) <= MAX_OPEN:
            return list(self.unsent.values()), []
        room = {kind: MAX_OPEN - open_now.get(kind, 0) for kind in LIMITED}
        ready: list[Entity] = []
        waiting: list[Entity] = []
        freed = 0
        for entity in self.unsent.values():
            kind = entity.decision_type
            if kind in room:
                room[kind] -= 1
                if room[kind] < 0:
                    waiting.append(entity)
                    continue
            ready.append(entity)
            freed += kind == "CancelTimer"
        # Nothing else would wake the run for the places that its own cancellations free; SWF takes decisions in order.
        following = [entity for entity in waiting if entity.decision_type == "StartTimer"][:freed]
        return ready + following, [entity for entity in waiting if entity not in following]


def _only_markers(built: list[dict[str, Any]]) -> bool:
    # Most batches hold one decision, and asking for a generator takes longer than looking at it.
    if built[0]["decisionType"] != "RecordMarker":
        return False
    return all(decision["decisionType"] == "RecordMarker" for decision in built)


def size_of(decisions: list[dict[str, Any]]) -> int:
    """Bytes of decisions as an answer counts them: as UTF-8 JSON (CONTRACTS §4)."""
    return len(json.dumps(decisions, ensure_ascii=False).encode("utf-8", "surrogatepass")) if decisions else 0


def _sealed(
    built: list[dict[str, Any]], closing: list[dict[str, Any]], seal: Seal
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """As sent are those that may go out in one answer: sealing what waits may write it to a store for nothing."""
    if len(built) + len(closing) > MAX_DECISIONS:
        built, closing = _first(built), []
    return [*map(seal, built)], [*map(seal, closing)]


def _order(built: list[dict[str, Any]]) -> list[int]:
    """Markers before all others, in the order they were made."""
    return sorted(range(len(built)), key=lambda i: (built[i]["decisionType"] != "RecordMarker", i))


def _first(built: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many decisions as may stand beside the timer."""
    return [built[index] for index in sorted(_order(built)[: MAX_DECISIONS - 1])]


def _cut(built: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first decisions that fit beside the timer, markers before all others, in the order they were made."""
    order = _order(built)
    taken: list[int] = []
    size = 2 + size_of([_again(0)])
    for index in order:
        size += size_of([built[index]])
        if len(taken) == MAX_DECISIONS - 1 or size > MAX_BYTES:
            break
        taken.append(index)
    return [built[index] for index in sorted(taken)]


def _again(number: int) -> dict[str, Any]:
    return {
        "decisionType": "StartTimer",
        "startTimerDecisionAttributes": {"timerId": f"{AGAIN_PREFIX}{number}", "startToFireTimeout": "0"},
    }

"""The 13 decisions: checked as a whole, then applied in order (swf-semantics §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import activities, close_decisions, faults, markers, timers
from flowpy.local.engine.deciding import Deciding

__all__ = ["DECISIONS", "Deciding", "check_decisions", "decide"]

DECISIONS: Final[dict[str, Callable[[Deciding, dict[str, Any]], None]]] = {
    "ScheduleActivityTask": activities.schedule,
    "RequestCancelActivityTask": activities.request_cancel,
    "RecordMarker": markers.record,
    "StartTimer": timers.start,
    "CancelTimer": timers.cancel,
    **close_decisions.DECISIONS,
}

_CLOSES: Final = frozenset(close_decisions.DECISIONS)


def check_decisions(decisions: list[dict[str, Any]]) -> None:
    """Refuses an answer that SWF refuses as a whole.

    Raises:
        InvalidRequest: A close that is not last, or a type that does not exist.
    """
    if any(decision.get("decisionType") in _CLOSES for decision in decisions[:-1]):
        raise faults.invalid("Close must be last decision in list")


def decide(deciding: Deciding, decisions: list[dict[str, Any]]) -> None:
    """Applies decisions that were checked; one that fails does not stop those after it."""
    for decision in decisions:
        decision_type = decision["decisionType"]
        attributes = decision.get(f"{decision_type[0].lower()}{decision_type[1:]}DecisionAttributes") or {}
        if not deciding.refused(decision_type, attributes):
            DECISIONS[decision_type](deciding, attributes)

"""The 13 decisions: checked as a whole, then applied in order (swf-semantics §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import (
    activities,
    children,
    close_decisions,
    external,
    faults,
    lambda_functions,
    markers,
    timers,
)
from flowpy.local.engine.deciding import Deciding
from flowpy.local.engine.recording import wake

__all__ = ["DECISIONS", "Deciding", "check_closes", "decide"]

DECISIONS: Final[dict[str, Callable[[Deciding, dict[str, Any]], None]]] = {
    "ScheduleActivityTask": activities.schedule,
    "RequestCancelActivityTask": activities.request_cancel,
    "RecordMarker": markers.record,
    "StartTimer": timers.start,
    "CancelTimer": timers.cancel,
    "StartChildWorkflowExecution": children.start,
    "SignalExternalWorkflowExecution": external.signal,
    "RequestCancelExternalWorkflowExecution": external.request_cancel,
    "ScheduleLambdaFunction": lambda_functions.schedule,
    **close_decisions.DECISIONS,
}

_CLOSES: Final = frozenset(close_decisions.DECISIONS)


def _is_close(decision: Any) -> bool:
    return isinstance(decision, dict) and decision.get("decisionType") in _CLOSES


def check_closes(decisions: Any) -> None:
    """Refuses an answer that closes before its end; SWF looks at this before anything else.

    Raises:
        InvalidRequest: A close that is not last.
    """
    if isinstance(decisions, list) and any(_is_close(decision) for decision in decisions[:-1]):
        raise faults.invalid("Close must be last decision in list")


def decide(deciding: Deciding, decisions: list[dict[str, Any]]) -> None:
    """Applies decisions that were checked; one that fails does not stop those after it."""
    world, run = deciding.world, deciding.run
    # Recorded: what a failed decision wakes is scheduled after the last decision, not between them.
    world.deciding = None if world.wake_between else run
    for decision in decisions:
        decision_type = decision["decisionType"]
        attributes = decision.get(f"{decision_type[0].lower()}{decision_type[1:]}DecisionAttributes") or {}
        if not deciding.refused(decision_type, attributes):
            DECISIONS[decision_type](deciding, attributes)
    world.deciding = None
    wake(world, run)

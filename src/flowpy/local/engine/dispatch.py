"""Which function does what: one table for the operations, one for what falls due, one for what follows by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flowpy.local.engine import (
    activities,
    children,
    closing,
    decision_tasks,
    domains,
    executions,
    external,
    lambda_functions,
    listing,
    registry,
    tags,
    timers,
    visibility,
)
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["DEADLINES", "EFFECTS", "OPERATIONS"]

OPERATIONS: Final[dict[str, Callable[[World, dict[str, Any]], dict[str, Any]]]] = {
    **domains.OPERATIONS,
    **registry.OPERATIONS,
    **tags.OPERATIONS,
    **activities.OPERATIONS,
    **executions.OPERATIONS,
    **visibility.OPERATIONS,
    **listing.OPERATIONS,
    "PollForDecisionTask": decision_tasks.poll,
    "RespondDecisionTaskCompleted": decision_tasks.respond_completed,
    "CountPendingDecisionTasks": decision_tasks.count_pending,
}

DEADLINES: Final[dict[str, Callable[[World, Execution, int], None]]] = {
    **activities.DEADLINES,
    "execution.START_TO_CLOSE": closing.time_out,
    "decision.START_TO_CLOSE": decision_tasks.time_out_start_to_close,
    "decision.SCHEDULE_TO_START": decision_tasks.time_out_schedule_to_start,
    "timer": timers.fire,
    **lambda_functions.DEADLINES,
}

EFFECTS: Final[dict[str, Callable[[World, Execution, int, str], None]]] = {
    "cancel_unstarted_activity": activities.cancel_unstarted,
    **children.EFFECTS,
    **external.EFFECTS,
    **lambda_functions.EFFECTS,
}

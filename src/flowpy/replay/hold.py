"""Held runs (CONTRACTS §6): how a decision task that this code cannot decide is kept from eating the history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from flowpy.history.episodes import HOLD_PREFIX, Episodes
from flowpy.history.events import Event

UNANSWERED_ATTEMPTS: Final = 3
"""Attempts of one decision that are left unanswered before a hold timer is started."""

FIRST_SECONDS: Final = 60
LONGEST_SECONDS: Final = 6 * 3600


def hold_decision(events: Iterable[Event]) -> dict[str, Any] | None:
    """The one decision that holds the run, or None while the decision task should be left unanswered.

    Args:
        events: The whole history up to the decision task's DecisionTaskStarted.

    Returns:
        StartTimer(``flowpy.hold-<n>``) as boto3 takes it, of 60 s doubling to 6 hours with every hold since the last
        real decision.
    """
    cut = Episodes()
    cut.feed(events)
    if not cut.held_in_a_row and cut.unanswered < UNANSWERED_ATTEMPTS:
        return None
    number = cut.held + 1
    seconds = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(cut.held_in_a_row, 20))
    return {
        "decisionType": "StartTimer",
        "startTimerDecisionAttributes": {"timerId": f"{HOLD_PREFIX}{number}", "startToFireTimeout": str(seconds)},
    }

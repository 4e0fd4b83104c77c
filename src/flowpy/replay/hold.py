"""Held runs (CONTRACTS §6): how a decision task that this code cannot decide is kept from eating the history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from attrs import evolve, frozen

from flowpy.history.episodes import HOLD_PREFIX, Episodes, is_hold
from flowpy.history.events import ATTRIBUTES, Event

UNANSWERED_ATTEMPTS: Final = 3
"""Attempts of one decision that are left unanswered before a hold timer is started."""

FIRST_SECONDS: Final = 60
LONGEST_SECONDS: Final = 6 * 3600


@frozen
class HoldState:
    """What decides how a held run is answered.

    Attributes:
        last_event_id: Id of the last event that was seen.
        held: Decision tasks that were answered with a hold timer.
        held_in_a_row: How many of these came last.
        unanswered: Decision tasks in a row, up to now, that timed out after they were started.
        decided: Whether any decision task was ever completed.
    """

    last_event_id: int
    held: int
    held_in_a_row: int
    unanswered: int
    decided: bool

    @classmethod
    def of(cls, events: Iterable[Event]) -> HoldState:
        """The state of a run, from its whole history up to the decision task's DecisionTaskStarted."""
        cut = Episodes()
        cut.feed(events)
        return cls(cut.last_event_id, cut.held, cut.held_in_a_row, cut.unanswered, cut.decided)

    def after(self, events: list[Event]) -> HoldState | None:
        """The state after further events, which follow those seen so far.

        Returns:
            The state; None if somebody decided the run meanwhile: then only the whole history tells.
        """
        state, completed = self, [event for event in events if event["eventType"] == "DecisionTaskCompleted"]
        for event in completed:
            if not is_hold([each for each in events if _completed_by(each) == event["eventId"]]):
                return None
        for event in events:
            if event["eventType"] == "DecisionTaskCompleted":
                held, in_a_row = state.held + 1, state.held_in_a_row + 1
                state = evolve(state, held=held, held_in_a_row=in_a_row, unanswered=0, decided=True)
            elif event["eventType"] == "DecisionTaskTimedOut":
                started = event["decisionTaskTimedOutEventAttributes"].get("startedEventId")
                state = evolve(state, unanswered=state.unanswered + bool(started))
        return evolve(state, last_event_id=events[-1]["eventId"]) if events else state

    def decision(self) -> dict[str, Any] | None:
        """The one decision that holds the run, or None while the decision task should be left unanswered.

        Returns:
            StartTimer(``flowpy.hold-<n>``) as boto3 takes it, of 60 s doubling to 6 hours with every hold since the
            last real decision.
        """
        if not self.held_in_a_row and self.unanswered < UNANSWERED_ATTEMPTS:
            return None
        seconds = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(self.held_in_a_row, 20))
        timer = {"timerId": f"{HOLD_PREFIX}{self.held + 1}", "startToFireTimeout": str(seconds)}
        return {"decisionType": "StartTimer", "startTimerDecisionAttributes": timer}


def hold_decision(events: Iterable[Event]) -> dict[str, Any] | None:
    """The one decision that holds the run, or None while the decision task should be left unanswered.

    Args:
        events: The whole history up to the decision task's DecisionTaskStarted.
    """
    return HoldState.of(events).decision()


def _completed_by(event: Event) -> int:
    """Id of the DecisionTaskCompleted whose transaction an event may belong to, 0 for others."""
    attributes = event.get(ATTRIBUTES.get(event["eventType"], "")) or {}
    return int(attributes.get("decisionTaskCompletedEventId") or 0)

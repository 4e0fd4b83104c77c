"""An episode: what one accepted decision task saw for the first time, and what it answered."""

from __future__ import annotations

from attrs import define

from flowpy.history.events import Event

__all__ = ["Cut", "Episode", "Plain"]

Plain = tuple[list[Event], list[Event], Event, Event]
"""A decided episode as most are, in the briefest form: answers, events, started, completed (see ``Episode``).

Its answers are nothing but ActivityTaskScheduled, its events nothing but ActivityTaskCompleted."""


@define(init=False)
class Episode:
    """What one accepted decision task saw for the first time, and what was recorded as its answer.

    Attributes:
        started: Its DecisionTaskStarted event; the time of this event is the workflow's clock.
        events: New events in handling order, those about decision tasks left out.
        answers: The own transaction of its decision in history order; None while the decision is open.
        completed: Its DecisionTaskCompleted event; None while the decision is open.
    """

    started: Event
    events: list[Event]
    answers: list[Event] | None
    completed: Event | None

    @classmethod
    def of(
        cls, started: Event, events: list[Event], answers: list[Event] | None = None, completed: Event | None = None
    ) -> Episode:
        """An episode; there is no __init__, because calling one takes longer than all else in cutting an episode."""
        episode = cls()
        episode.started, episode.events, episode.answers, episode.completed = started, events, answers, completed
        return episode

    @classmethod
    def from_cut(cls, cut: Cut) -> Episode:
        """The episode itself, from either form."""
        if type(cut) is not tuple:
            return cut  # type: ignore[return-value] # mypy does not narrow by exact types
        answers, events, started, completed = cut
        return cls.of(started, events, answers, completed)

    @property
    def started_event_id(self) -> int:
        """Id of the DecisionTaskStarted event."""
        return int(self.started["eventId"])


Cut = Episode | Plain
"""An episode as it was cut."""

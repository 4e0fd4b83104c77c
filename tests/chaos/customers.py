"""Who starts the runs, signals and cancels them, a little at a time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from attrs import define, field

from flowpy import Client, UnknownResource

from .stories import STORIES, Story


@define(eq=False)
class Customers:
    """Brings so many runs about, and knows which have ended.

    Args:
        client: Of the service itself: what they ask for is not lost.
        count: How many runs.
        chance: Says when a run is signaled.
        at_once: How many of them are open at once.
    """

    client: Client
    count: int
    chance: random.Random
    at_once: int = 40
    started: dict[str, tuple[Story, int]] = field(factory=dict, init=False)
    open: set[str] = field(factory=set, init=False)
    _errands: list[tuple[float, Callable[[], bool]]] = field(factory=list, init=False)
    _look_at: float = field(default=0.0, init=False)

    @property
    def done(self) -> bool:
        """Whether all runs have ended."""
        return len(self.started) == self.count and not self.open

    def step(self) -> None:
        """Start what there is room for, do what is due."""
        while len(self.open) < self.at_once and len(self.started) < self.count:
            self._start()
        now = time.monotonic()
        due = [errand for errand in self._errands if errand[0] <= now]
        for errand in due:
            self._errands.remove(errand)
            if not errand[1]():
                self._errands.append((now + 0.3, errand[1]))
        if now >= self._look_at:
            self._look_at = now + 0.5
            self.open &= {each.workflow_id for each in self.client.list_open()}

    def _start(self) -> None:
        number = len(self.started)
        story, workflow_id = STORIES[number % len(STORIES)], f"w{number}"
        self.client.start(story.workflow, number, workflow_id=workflow_id)
        self.started[workflow_id] = (story, number)
        self.open.add(workflow_id)
        for signal, value in story.signals:
            self._later(lambda signal=signal, value=value: self._signal(workflow_id, signal, value))
        if story.cancel:
            self._later(lambda: self._cancel(workflow_id))

    def _later(self, errand: Callable[[], bool]) -> None:
        self._errands.append((time.monotonic() + self.chance.uniform(0, 4), errand))

    def _signal(self, workflow_id: str, signal: Any, value: Any) -> bool:
        self.client.run(workflow_id).signal(signal, value)
        return True

    def _cancel(self, workflow_id: str) -> bool:
        run = self.client.run(workflow_id)
        if not any(event["eventType"] == "ActivityTaskScheduled" for event in run.history()):
            return False
        try:
            run.cancel()
        except UnknownResource:
            # It has failed: the end shows that.
            return True
        return True

"""One execution of a test, kept in memory from decision to decision as a worker with a cache keeps it.

That makes it another run of the code than the cold replays at the end of the test, which start from event 1 for every
decision: what differs between the two differs between workers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import define, field

from flowpy.data.converter import Converter
from flowpy.declare.workflow import Workflow
from flowpy.history.events import CLOSE_EVENTS, Event, seconds
from flowpy.local.engine.state import Events
from flowpy.runtime.run import Run
from flowpy.testing.known import DOMAIN

__all__ = ["Live"]


@define(eq=False)
class Live:
    """An execution and the run of its code.

    Attributes:
        workflow: The declared workflow, or what a stub made of it.
        workflow_id: Its workflowId.
        run_id: Its runId.
        converter: Reads and writes payloads.
        events: Its history, which grows.
        is_stubbed: Whether a stub plays it.
        answers: The decisions sent, by the id of the DecisionTaskStarted that they answer.
        run: Its code in memory, None if it has left memory.
    """

    workflow: Workflow[..., Any]
    workflow_id: str
    run_id: str
    converter: Converter
    events: Events
    is_stubbed: bool = False
    answers: dict[int, list[dict[str, Any]]] = field(factory=dict)
    run: Run | None = None

    def decide(self, events: list[Event]) -> tuple[list[dict[str, Any]], str | None]:
        """Run the code through what is new in a history; gives the decisions and the executionContext.

        Raises:
            RunHeld: The code cannot decide this run.
            PayloadError: The answer cannot be sent.
        """
        if self.run is None:
            self.run = self._new()
        run = self.run
        try:
            run.feed(events[run.episodes.last_event_id :])
            return run.answer()
        except BaseException:
            self.leave()
            raise

    @contextmanager
    def seen(self) -> Iterator[Run]:
        """Another run in memory, after all events of its history and without deciding anything new."""
        run = self._new()
        try:
            run.feed(list(self.events), decide=False)
            yield run
        finally:
            run.evict()

    @property
    def is_open(self) -> bool:
        """Whether it is not closed."""
        return self.events[len(self.events) - 1]["eventType"] not in CLOSE_EVENTS

    @property
    def times_out_at(self) -> float:
        """Epoch seconds at which its own timeout ends it."""
        text = self.events[0]["workflowExecutionStartedEventAttributes"]["executionStartToCloseTimeout"]
        return math.inf if text == "NONE" else seconds(self.events[0]) + int(text)

    def _new(self) -> Run:
        return Run(self.workflow, self.workflow_id, self.run_id, domain=DOMAIN, converter=self.converter)

    def leave(self) -> None:
        """Leave memory: the next decision is made by a replay from event 1."""
        run, self.run = self.run, None
        if run is not None:
            run.evict()

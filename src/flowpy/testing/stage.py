"""What the parts of an environment share."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any, Final

from attrs import define, field

from flowpy.data.converter import Converter
from flowpy.errors import UnknownResource
from flowpy.interceptors import Interceptor
from flowpy.local import Engine
from flowpy.service.retrying import Backoff, persist
from flowpy.testing.agenda import Agenda
from flowpy.testing.calls import Call
from flowpy.testing.known import DOMAIN, Known
from flowpy.testing.outcomes import Outcome
from flowpy.testing.stubs import Stubs

__all__ = ["Stage"]

_BACKOFF: Final = Backoff(random=lambda: 0.0)
_EVER: Final = 1_000_000
"""Days."""

_SHARED: Final = frozenset({"PollForDecisionTask", "PollForActivityTask"})


class InProcess:
    """The engine as a service; what it polls it only reads, so it gets no copy."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        call = self._engine.call_shared if operation in _SHARED else self._engine.call
        return call(operation, request)


@define
class Stage:
    """The engine and all that the environment knows of a test.

    Attributes:
        engine: The embedded service, on a virtual clock.
        converter: Reads and writes payloads.
        random: Decides what strict mode leaves open; None outside of it.
        interceptors: What stands around workflows and activities, outermost first.
        service: The engine as a service.
        known: Declared workflows and activities.
        stubs: The test's stubs.
        calls: Calls made so far.
        agenda: Ends of work under way.
        drawn: How calls that were sent end, by runId and activityId, or by workflowId of a child.
    """

    engine: Engine
    converter: Converter
    random: Random | None = None
    interceptors: list[Interceptor] = field(factory=list)
    service: InProcess = field(init=False)
    known: Known = field(init=False)
    stubs: Stubs = field(init=False)
    agenda: Agenda = field(init=False)
    calls: list[tuple[tuple[str, ...], Call]] = field(factory=list, init=False)
    drawn: dict[tuple[str, ...], Outcome] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.service = InProcess(self.engine)
        self.known = Known(self.service)
        # A test may look at what closed years ago.
        self.engine.world.domains[DOMAIN].retention = str(_EVER)
        self.stubs = Stubs(self.converter)
        self.agenda = Agenda(self.random)

    def now(self) -> float:
        """The virtual time in epoch seconds."""
        return self.engine.clock.now()

    def decides(self) -> str | None:
        """A task list that has a decision task, None if none has."""
        lists = self.engine.world.decision_lists
        return next((name for name in self.known.decision_lists if lists.count(DOMAIN, name)), None)

    def works(self) -> str | None:
        """A task list that has an activity task, None if none has."""
        lists = self.engine.world.activity_lists
        return next((name for name in self.known.activity_lists if lists.count(DOMAIN, name)), None)

    def sleep(self, _seconds: float) -> None:
        """Wait before a call is made again: a second, whatever the jitter, so that each run of a test is the same."""
        self.engine.advance(1)

    def pause(self, seconds: float) -> bool:
        """Wait before a call is made again; never gives up."""
        self.sleep(seconds)
        return False

    def persist(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Call as a worker does, again and again until the service has answered.

        Raises:
            ServiceError: Another fault than throttling or a lost connection.
        """
        return persist(self.service, operation, request, pause=self.pause, backoff=_BACKOFF)

    def answer(self, operation: str, request: dict[str, Any]) -> None:
        """Answer a task; an answer to a task that is closed is dropped, as a worker drops it.

        Raises:
            ServiceError: The service refused the answer.
        """
        with suppress(UnknownResource):
            self.persist(operation, request)

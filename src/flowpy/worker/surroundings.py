"""What stands around the work of a worker: its interceptors, and what measures it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen

from flowpy.interceptors import Around, DecisionCall, Interceptor, chosen
from flowpy.service.protocol import Service
from flowpy.worker.intercepting import AroundActivities
from flowpy.worker.metering import Measures
from flowpy.worker.settings import WorkerSettings

__all__ = ["Surroundings", "surroundings"]


@frozen
class Surroundings:
    """What stands around the work of one worker.

    Attributes:
        interceptors: All, outermost first.
        activity: What stands around activities.
        decision: What stands around decisions, outermost first.
        measures: What is measured, None if nothing is.
    """

    interceptors: list[Interceptor]
    activity: AroundActivities
    decision: list[Around[DecisionCall]]
    measures: Measures | None = None

    @property
    def counted(self) -> Callable[[str], None] | None:
        """To be told of what is counted."""
        return None if self.measures is None else self.measures.count

    def on(self, service: Service) -> Service:
        """The service that the worker uses."""
        return service if self.measures is None else self.measures.on(service)

    def observe(self, name: str, read: Callable[[], int]) -> None:
        """Measure what goes up and down."""
        if self.measures is not None:
            self.measures.observe(name, read)

    def close(self) -> None:
        """The worker stops."""
        if self.measures is not None:
            self.measures.close()


def surroundings(
    interceptors: Iterable[Interceptor], settings: WorkerSettings, domain: str, task_list: str
) -> Surroundings:
    """What stands around the work of a worker.

    Args:
        interceptors: As they were given to it.
        settings: Its settings; with a meter the times of activities and decisions are measured outermost.
        domain: SWF domain.
        task_list: Its task list.

    Raises:
        DeclarationError: One is no interceptor, or none of a worker's.
    """
    measures = None if settings.meter is None else Measures(settings.meter, domain, task_list)
    own = [] if measures is None else [measures.interceptor]
    given = [*own, *interceptors]
    _, activity, decision = chosen(given, "Worker", "workflow", "activity", "decision")
    return Surroundings(given, AroundActivities(activity), decision, measures)

"""From polled tasks to the decider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowpy.service.paging import PolledDecisionTask
from flowpy.worker.decisions import Decided
from flowpy.worker.settings import WorkerSettings

__all__ = ["decide_with"]


def decide_with(workflows: list[Any], settings: WorkerSettings) -> Callable[[PolledDecisionTask], Decided]:
    """Make what decides tasks for these workflows.

    Args:
        workflows: The declared workflows.
        settings: The worker's; ``settings.decider`` replaces flowpy's own.

    Returns:
        A function that threads may call at once for different runs.
    """
    if settings.decider is not None:
        decide: Callable[[PolledDecisionTask], Decided] = settings.decider(workflows).decide
        return _guarded(decide, settings)
    from flowpy.runtime.decider import Decider, DecisionTask, Workflows

    decider = Decider(Workflows(workflows), converter=settings.converter, strict=settings.strict)

    def own(task: PolledDecisionTask) -> Decided:
        return decider.decide(
            DecisionTask(
                domain=task.domain,
                workflow_id=task.workflow_id,
                run_id=task.run_id,
                workflow_type=task.workflow_type,
                events=task.events,
                started_event_id=task.started_event_id,
                previous_started_event_id=task.previous_started_event_id,
                task_token=task.task_token,
            )
        )

    return _guarded(own, settings)


def _guarded(
    decide: Callable[[PolledDecisionTask], Decided], settings: WorkerSettings
) -> Callable[[PolledDecisionTask], Decided]:
    """The same under the cheap form of the guard."""
    if settings.guard == "off":
        return decide
    from flowpy.runtime.guard import Guard

    guard = Guard(settings.guard, strict=False)

    def guarded(task: PolledDecisionTask) -> Decided:
        with guard:
            return decide(task)

    return guarded

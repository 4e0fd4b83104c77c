"""From polled tasks to the decider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.redaction import hiding
from flowpy.errors import DeclarationError
from flowpy.interceptors import Interceptor, surrounded
from flowpy.service.paging import PolledDecisionTask
from flowpy.worker.decisions import Decided
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.settings import WorkerSettings
from flowpy.worker.sticky import Sticky, sticky_task_list

__all__ = ["decide_with", "keep_with"]


def decide_with(
    workflows: list[Any],
    settings: WorkerSettings,
    converter: Converter = DEFAULT,
    interceptors: Sequence[Interceptor] = (),
) -> Callable[[PolledDecisionTask], Decided]:
    """Make what decides tasks for these workflows.

    Args:
        workflows: The declared workflows.
        settings: The worker's; ``settings.decider`` replaces flowpy's own.
        converter: Reads and writes payloads.
        interceptors: The worker's.

    Returns:
        A function that threads may call at once for different runs.

    Raises:
        DeclarationError: There are interceptors, and a decider that knows nothing of them.
    """
    if settings.decider is not None:
        if any(each.workflow for each in interceptors):
            raise DeclarationError(
                "interceptors around workflows are for flowpy's own decider", remedy="leave out decider="
            )
        decide: Callable[[PolledDecisionTask], Decided] = settings.decider(workflows).decide
        return _guarded(decide, settings)
    return _own(_decider(workflows, settings, converter, interceptors), settings, converter)


def keep_with(
    workflows: list[Any],
    settings: WorkerSettings,
    lifecycle: Lifecycle,
    task_list: str,
    converter: Converter = DEFAULT,
    interceptors: Sequence[Interceptor] = (),
) -> Sticky | None:
    """Make what keeps runs of these workflows in memory, on ``settings.threads`` threads.

    Args:
        workflows: The declared workflows.
        settings: The worker's.
        lifecycle: The worker's.
        task_list: The shared list.
        converter: Reads and writes payloads.
        interceptors: The worker's.

    Returns:
        None if ``settings`` say that nothing is kept.
    """
    if not settings.sticky or settings.decider is not None:
        return None
    from flowpy.runtime.sticky import StickyDecider

    def count(what: str) -> None:
        lifecycle.count(what)
        if what == "cache_misses":
            lifecycle.count("replays")

    decider, share = _decider(workflows, settings, converter, interceptors), settings.threads
    runs, bytes_ = max(1, settings.cached_runs // share), max(1, settings.cached_bytes // share)
    deciders = [StickyDecider(decider, runs, bytes_, count) for _ in range(share)]
    return Sticky(
        lifecycle,
        _own(decider, settings, converter),
        [(each, _own(each, settings, converter)) for each in deciders],
        sticky_task_list(task_list),
        settings.sticky_timeout,
    )


def _decider(
    workflows: list[Any], settings: WorkerSettings, converter: Converter, interceptors: Sequence[Interceptor]
) -> Any:
    from flowpy.runtime.decider import Decider, Workflows

    known = Workflows([surrounded(workflow, interceptors) for workflow in workflows])
    return Decider(known, converter=converter, strict=settings.strict)


def _own(decider: Any, settings: WorkerSettings, converter: Converter) -> Callable[[PolledDecisionTask], Any]:
    """What decides with a decider of flowpy's own; values are left out of what it logs if they are secret."""
    decide = _guarded(_on_tasks(decider.decide), settings)
    if not converter.payloads.redact:
        return decide

    def hidden(task: PolledDecisionTask) -> Any:
        with hiding(True):
            return decide(task)

    return hidden


def _on_tasks(decide: Callable[[Any], Any]) -> Callable[[PolledDecisionTask], Any]:
    """The same on tasks as they are polled."""
    from flowpy.runtime.decider import DecisionTask

    def own(task: PolledDecisionTask) -> Any:
        return decide(
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

    return own


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

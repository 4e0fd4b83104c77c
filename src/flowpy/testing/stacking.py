"""Where the code of a run stood after each of its decisions: the asynchronous stack at any event."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.workflow import Workflow
from flowpy.runtime.pending import Pending
from flowpy.runtime.replaying import pending_by_episode
from flowpy.testing.given import of_kind
from flowpy.testing.sources import read_source

__all__ = ["stacks"]


def stacks(
    workflow: Workflow[..., Any],
    source: Any,
    *,
    event_ids: Collection[int] | None = None,
    workflow_id: str | None = None,
    run_id: str | None = None,
    converter: Converter = DEFAULT,
) -> Iterator[tuple[int, Pending]]:
    """Run the code through a history once, and look after each decision task where it stands.

    ``Replayer.replay(source, up_to=event_id).pending`` is the same for one event; this is for all of them, at the price
    of one replay, and gives each as soon as the code has come to it.

    Args:
        workflow: The declared workflow, whatever the type in the history says.
        source: A run, or whatever ``read_history`` takes.
        event_ids: Give only what holds at these events: looking takes longer than replaying where much is open; default
            all.
        workflow_id: workflowId of the run; default what the source says.
        run_id: Its runId, likewise.
        converter: Reads payloads; default JSON.

    Yields:
        The id of a DecisionTaskStarted event, and what the code waited for from there to the next one that is given.

    Raises:
        NonDeterminismError: The code does not match the history; what was given before holds.
        HistoryError: The source is no history, or contradicts itself.
        DeclarationError: It is no workflow.
    """
    of_kind(workflow, Workflow, "stacks", "give what @workflow made of the function")
    history = read_source(source, workflow_id or None, run_id or None)
    return pending_by_episode(
        workflow,
        history.events,
        history.workflow_id or "workflow",
        history.run_id or "run",
        event_ids=event_ids,
        converter=converter,
    )

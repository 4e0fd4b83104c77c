"""``flowpy.testing.replay``: a recorded history, in whatever shape, against the code here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flowpy.declare.workflow import Workflow
from flowpy.history.reader import read_history
from flowpy.runtime.decider import Workflows
from flowpy.runtime.replaying import Replay, replay_events


def replay(
    workflow: Workflow[..., Any] | Iterable[Workflow[..., Any]],
    source: Any,
    *,
    workflow_id: str | None = None,
    run_id: str | None = None,
    warm: bool = False,
    strict: bool = False,
) -> Replay:
    """Run a workflow's code through a recorded history and compare every decision.

    Args:
        workflow: The workflow, or several from which the history's type is chosen.
        source: A path, text, parsed JSON, poll replies or pages: whatever ``read_history`` takes.
        workflow_id: workflowId of the run; default what the source says, or ``"workflow"``.
        run_id: Its runId; default what the source says, or ``"run"``.
        strict: Whether harmless differences (input, seconds, options set) are errors too.
        warm: Keep one run alive through all decision tasks instead of replaying the whole.

    Returns:
        What the code decided in each episode; ``.decisions`` is what a worker would send now.

    Raises:
        NonDeterminismError: The code does not match the history.
        HistoryError: The source is no history, or contradicts itself.
        UnknownWorkflowType: None of the workflows is of the history's type.
    """
    history = read_history(source)
    if isinstance(workflow, Workflow):
        chosen: Workflow[..., Any] = workflow
    else:
        chosen = Workflows(workflow).find(*_type_of(history.events))
    return replay_events(
        chosen,
        history.events,
        workflow_id or history.workflow_id or "workflow",
        run_id or history.run_id or "run",
        warm=warm,
        strict=strict,
    )


def _type_of(events: list[dict[str, Any]]) -> tuple[str, str]:
    type_ = events[0]["workflowExecutionStartedEventAttributes"]["workflowType"]
    return type_["name"], type_["version"]

"""``flowpy.testing.replay``: a recorded history, in whatever shape, against the code here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from flowpy.declare.workflow import Workflow
from flowpy.errors import NonDeterminismError
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
        source: A run (``client.run(...)``), or a path, text, parsed JSON, poll replies or pages: whatever
            ``read_history`` takes.
        workflow_id: workflowId of the run: ids of children come from it; default what the source says.
        run_id: Its runId: ids of children, uuid4, random and back-offs come from it; default what the source says.
        strict: Whether harmless differences (input, seconds, options set) are errors too.
        warm: Keep one run alive through all decision tasks instead of replaying the whole.

    Returns:
        What the code decided in each episode; ``.decisions`` is what a worker would send now.

    Raises:
        NonDeterminismError: The code does not match the history.
        HistoryError: The source is no history, or contradicts itself.
        UnknownWorkflowType: None of the workflows is of the history's type.
    """
    if isinstance(source, ExecutionHandle):
        workflow_id, run_id = workflow_id or source.workflow_id, run_id or source.run_id
        source = source.history()
    history = read_history(source, workflow_id=workflow_id, run_id=run_id)
    if isinstance(workflow, Workflow):
        chosen: Workflow[..., Any] = workflow
    else:
        chosen = Workflows(workflow).find(*_type_of(history.events))
    ids = (history.workflow_id or "workflow", history.run_id or "run")
    try:
        return replay_events(chosen, history.events, *ids, warm=warm, strict=strict)
    except NonDeterminismError as error:
        if not (history.workflow_id and history.run_id):
            error.add_note(
                "the source does not say whose history it is, so ids of children, uuid4, random, back-offs were "
                "made up from 'workflow' and 'run'; if one of these differs, give replay(workflow_id=..., run_id=...)"
            )
        raise


@runtime_checkable
class ExecutionHandle(Protocol):
    """What can fetch its own history, such as ``client.run(workflow_id, run_id)``."""

    workflow_id: str
    run_id: str

    def history(self) -> list[dict[str, Any]]:
        """The events recorded so far."""
        ...


def _type_of(events: list[dict[str, Any]]) -> tuple[str, str]:
    type_ = events[0]["workflowExecutionStartedEventAttributes"]["workflowType"]
    return type_["name"], type_["version"]

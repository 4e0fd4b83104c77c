"""The decisions that close an execution (swf-semantics §2, §4.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from flowpy.local.engine.closing import close
from flowpy.local.engine.deciding import Deciding

__all__ = ["DECISIONS"]

Decision = dict[str, Any]


def _unhandled(deciding: Deciding, decision_type: str, decision: Decision) -> bool:
    """Whether something happened that the decider has not seen; then the execution stays open."""
    if deciding.run.decision is None:
        return False
    deciding.fail(decision_type, decision, "UNHANDLED_DECISION")
    return True


def _close(decision_type: str, event_type: str, names: tuple[str, ...], deciding: Deciding, decision: Decision) -> None:
    if not _unhandled(deciding, decision_type, decision):
        deciding.record(event_type, **{name: decision.get(name) for name in names})
        status = event_type.removeprefix("WorkflowExecution").upper()
        close(deciding.world, deciding.run, status)


DECISIONS: Final[dict[str, Callable[[Deciding, Decision], None]]] = {
    decision_type: partial(_close, decision_type, event_type, names)
    for decision_type, event_type, names in (
        ("CompleteWorkflowExecution", "WorkflowExecutionCompleted", ("result",)),
        ("FailWorkflowExecution", "WorkflowExecutionFailed", ("reason", "details")),
        ("CancelWorkflowExecution", "WorkflowExecutionCanceled", ("details",)),
    )
}

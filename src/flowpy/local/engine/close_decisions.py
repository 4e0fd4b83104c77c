"""The decisions that close an execution (swf-semantics §2, §4.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from flowpy.local.engine.beginning import Birth, begin, decided_config
from flowpy.local.engine.children import follow
from flowpy.local.engine.closing import close
from flowpy.local.engine.deciding import Deciding

__all__ = ["DECISIONS"]

Decision = dict[str, Any]


def _unhandled(deciding: Deciding, decision_type: str, decision: Decision) -> bool:
    """Whether something happened that the decider has not seen; then the execution stays open."""
    if deciding.run.decision is None and not deciding.run.unseen:
        return False
    deciding.fail(decision_type, decision, "UNHANDLED_DECISION")
    return True


def _close(decision_type: str, event_type: str, names: tuple[str, ...], deciding: Deciding, decision: Decision) -> None:
    if not _unhandled(deciding, decision_type, decision):
        deciding.record(event_type, **{name: decision.get(name) for name in names})
        status = event_type.removeprefix("WorkflowExecution").upper()
        close(deciding.world, deciding.run, status)


def _continue(deciding: Deciding, decision: Decision) -> None:
    world, run = deciding.world, deciding.run
    if _unhandled(deciding, "ContinueAsNewWorkflowExecution", decision):
        return
    domain = world.domains[run.domain]
    version = decision.get("workflowTypeVersion") or run.workflow_type["version"]
    workflow_type = {"name": run.workflow_type["name"], "version": version}
    config, cause = decided_config(domain, workflow_type, decision)
    if cause:
        deciding.fail("ContinueAsNewWorkflowExecution", decision, cause)
        return
    run_id = world.new_run_id()
    deciding.record(
        "WorkflowExecutionContinuedAsNew",
        input=decision.get("input"),
        newExecutionRunId=run_id,
        **config,
        tagList=decision.get("tagList"),
        workflowType=workflow_type,
    )
    close(world, run, "CONTINUED_AS_NEW")
    birth = Birth(domain, run.workflow_id, workflow_type, config, decision, run.parent, run_id, run.run_id)
    begin(world, birth)
    follow(world, run, run_id)


DECISIONS: Final[dict[str, Callable[[Deciding, Decision], None]]] = {
    decision_type: partial(_close, decision_type, event_type, names)
    for decision_type, event_type, names in (
        ("CompleteWorkflowExecution", "WorkflowExecutionCompleted", ("result",)),
        ("FailWorkflowExecution", "WorkflowExecutionFailed", ("reason", "details")),
        ("CancelWorkflowExecution", "WorkflowExecutionCanceled", ("details",)),
    )
} | {"ContinueAsNewWorkflowExecution": _continue}

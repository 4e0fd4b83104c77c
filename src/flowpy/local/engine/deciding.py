"""What a decision is applied with: the transaction of one RespondDecisionTaskCompleted."""

from __future__ import annotations

from typing import Any, Final

from attrs import define

from flowpy.local.engine.recording import record, wake
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["Deciding"]

_FAILED: Final = {
    "ScheduleActivityTask": ("ScheduleActivityTaskFailed", ("activityType", "activityId")),
    "RequestCancelActivityTask": ("RequestCancelActivityTaskFailed", ("activityId",)),
    "CompleteWorkflowExecution": ("CompleteWorkflowExecutionFailed", ()),
    "FailWorkflowExecution": ("FailWorkflowExecutionFailed", ()),
    "CancelWorkflowExecution": ("CancelWorkflowExecutionFailed", ()),
    "ContinueAsNewWorkflowExecution": ("ContinueAsNewWorkflowExecutionFailed", ()),
    "RecordMarker": ("RecordMarkerFailed", ("markerName",)),
    "StartTimer": ("StartTimerFailed", ("timerId",)),
    "CancelTimer": ("CancelTimerFailed", ("timerId",)),
    "StartChildWorkflowExecution": ("StartChildWorkflowExecutionFailed", ("workflowType", "workflowId", "control")),
    "ScheduleLambdaFunction": ("ScheduleLambdaFunctionFailed", ("id", "name")),
}
"""The event that says a decision failed, and what it repeats of the decision."""

_INITIATED_FIRST: Final = ("SignalExternalWorkflowExecution", "RequestCancelExternalWorkflowExecution")
_ASYNCHRONOUS_CAUSES: Final = ("WORKFLOW_ALREADY_RUNNING",)


@define
class Deciding:
    """One transaction of decisions.

    Attributes:
        world: The engine's state.
        run: The execution.
        completed: Its DecisionTaskCompleted.
        cause: With what a test wants the asynchronous part of the decision at hand to fail, or "".
    """

    world: World
    run: Execution
    completed: int
    cause: str = ""

    def record(self, event_type: str, **attributes: Any) -> int:
        """Records an event of this transaction."""
        return record(self.world, self.run, event_type, **attributes, decisionTaskCompletedEventId=self.completed)

    def fail(self, decision_type: str, attributes: dict[str, Any], cause: str) -> None:
        """Records that a decision failed."""
        event_type, copied = _FAILED[decision_type]
        repeated = {name: attributes.get(name) for name in copied}
        if decision_type == "StartChildWorkflowExecution":
            repeated["initiatedEventId"] = 0
        self.record(event_type, **repeated, cause=cause)

    def refused(self, decision_type: str, attributes: dict[str, Any]) -> bool:
        """Whether a test wanted this decision refused, and it was."""
        self.cause = self.world.refusal(decision_type)
        if not self.cause or decision_type in _INITIATED_FIRST or self.cause in _ASYNCHRONOUS_CAUSES:
            return False
        # The decider sees every refusal; UNHANDLED_DECISION moreover says that something waits to be seen already.
        self.run.unseen = True
        if self.cause == "UNHANDLED_DECISION":
            wake(self.world, self.run)
        self.fail(decision_type, attributes, self.cause)
        return True

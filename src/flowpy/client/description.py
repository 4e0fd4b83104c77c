"""What SWF tells about a run."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from attrs import field, frozen

from flowpy.data import Context, decode_context

__all__ = ["Description", "OpenCounts"]


@frozen
class OpenCounts:
    """What a run has open.

    Attributes:
        activity_tasks: Scheduled and started activity tasks.
        decision_tasks: 0 or 1.
        timers: Timers.
        child_workflow_executions: Children.
        lambda_functions: Lambda functions.
    """

    activity_tasks: int = 0
    decision_tasks: int = 0
    timers: int = 0
    child_workflow_executions: int = 0
    lambda_functions: int = 0


@frozen(kw_only=True)
class Description:
    """A run as SWF describes it (DescribeWorkflowExecution, or a listing, which has fewer fields).

    Attributes:
        workflow_id: Its workflowId.
        run_id: Its runId.
        workflow_type: Name and version.
        status: OPEN or CLOSED.
        close_status: COMPLETED, FAILED, CANCELED, TERMINATED, CONTINUED_AS_NEW or TIMED_OUT; None while open.
        start_time: When it started.
        close_time: When it closed; None while open.
        tag_list: Its tags.
        cancel_requested: Whether its cancellation was requested.
        parent: workflowId and runId of its parent, or None.
        open_counts: What it has open.
        task_list: Its decision task list, "" in listings.
        context: What the code published: contract version, Python and ``state``.
    """

    workflow_id: str
    run_id: str
    workflow_type: tuple[str, str]
    status: str
    close_status: str | None = None
    start_time: datetime
    close_time: datetime | None = None
    tag_list: tuple[str, ...] = ()
    cancel_requested: bool = False
    parent: tuple[str, str] | None = None
    open_counts: OpenCounts = field(factory=OpenCounts)
    task_list: str = ""
    context: Context = field(factory=lambda: decode_context(None))

    @property
    def state(self) -> Any:
        """What the workflow published with ``flowpy.set_state``, or None."""
        return self.context.state

    @classmethod
    def of(cls, info: dict[str, Any], reply: dict[str, Any] | None = None) -> Description:
        """Read ``executionInfo`` and the rest of a DescribeWorkflowExecution reply, as boto3 gives them."""
        reply = reply or {}
        counts, parent = reply.get("openCounts", {}), info.get("parent")
        return cls(
            workflow_id=info["execution"]["workflowId"],
            run_id=info["execution"]["runId"],
            workflow_type=(info["workflowType"]["name"], info["workflowType"]["version"]),
            status=info["executionStatus"],
            close_status=info.get("closeStatus"),
            start_time=info["startTimestamp"],
            close_time=info.get("closeTimestamp"),
            tag_list=tuple(info.get("tagList", ())),
            cancel_requested=info.get("cancelRequested", False),
            parent=(parent["workflowId"], parent["runId"]) if parent else None,
            open_counts=OpenCounts(
                counts.get("openActivityTasks", 0),
                counts.get("openDecisionTasks", 0),
                counts.get("openTimers", 0),
                counts.get("openChildWorkflowExecutions", 0),
                counts.get("openLambdaFunctions", 0),
            ),
            task_list=reply.get("executionConfiguration", {}).get("taskList", {}).get("name", ""),
            context=decode_context(reply.get("latestExecutionContext")),
        )

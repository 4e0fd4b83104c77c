"""The options as type checkers see them, so that a wrong name or type is found before anything runs."""

from __future__ import annotations

from typing import Literal, TypedDict

from flowpy.declare.durations import Duration
from flowpy.declare.retry import Retry

__all__ = [
    "ActivityCallOptions",
    "ActivityDeclaration",
    "ChildPolicy",
    "Executor",
    "OnCancel",
    "WorkflowCallOptions",
    "WorkflowDeclaration",
]

OnCancel = Literal["try", "wait", "abandon"]
"""What cancelling does: ask and go on, ask and wait for the end, or neither ask nor wait."""

Executor = Literal["thread", "process"]
"""Where a worker runs a plain ``def`` activity: on a thread, or in a process of its own."""

ChildPolicy = Literal["TERMINATE", "REQUEST_CANCEL", "ABANDON"]
"""What SWF does to open children when their parent is terminated or times out."""


class _Declaration(TypedDict, total=False):
    """Options every declaration may carry."""

    task_list: str | None
    task_priority: int | None
    on_cancel: OnCancel | None


class ActivityDeclaration(_Declaration, total=False):
    """Options of ``@activity``; see ``ActivityOptions``."""

    schedule_to_start_timeout: Duration | None
    schedule_to_close_timeout: Duration | None
    start_to_close_timeout: Duration | None
    heartbeat_timeout: Duration | None
    retry: Retry | None


class ActivityCallOptions(ActivityDeclaration, total=False):
    """Options of ``Activity.options``; see ``ActivityOptions``."""

    activity_id: str | None


class WorkflowDeclaration(_Declaration, total=False):
    """Options of ``@workflow``; see ``WorkflowOptions``."""

    execution_start_to_close_timeout: Duration | None
    task_start_to_close_timeout: Duration | None
    child_policy: ChildPolicy | None
    lambda_role: str | None
    tag_list: list[str] | tuple[str, ...] | None


class WorkflowCallOptions(WorkflowDeclaration, total=False):
    """Options of ``Workflow.options``; see ``WorkflowOptions``."""

    workflow_id: str | None

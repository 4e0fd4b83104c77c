"""What an interceptor is given: the call that it stands around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow
from flowpy.service.paging import PolledDecisionTask

__all__ = ["ActivityCall", "ClientCall", "DecisionCall", "WorkflowCall"]


@frozen
class WorkflowCall:
    """A workflow's function about to run; ``flowpy.info()`` says in which run.

    Attributes:
        workflow: The declared workflow.
        args: Positional arguments.
        kwargs: Arguments by name.
    """

    workflow: Workflow[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@frozen
class ActivityCall:
    """An activity's function about to run; ``flowpy.current_activity()`` gives its context.

    Attributes:
        activity: The declared activity.
        args: Positional arguments.
        kwargs: Arguments by name.
        fields: What log records of the activity carry: ``domain``, ``task_list``, ``workflow_id``, ``run_id``,
            ``activity_id``, ``activity_type``, ``activity_version``, ``attempt``.
        trace: The trace that its input carried, headers of W3C Trace Context by name; empty if none.
    """

    activity: Activity[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    fields: Mapping[str, Any] = field(factory=dict)
    trace: Mapping[str, str] = field(factory=dict)


@define
class DecisionCall:
    """A decision task about to be decided, outside of workflow code: once, however much of the history is replayed.

    Attributes:
        task: The task. Its events may begin after the first one; if the whole history was needed it is here when
            ``proceed`` has returned.
        task_list: The worker's task list.
        is_kept: Once ``proceed`` has returned: whether the run is in memory now.
    """

    task: PolledDecisionTask
    task_list: str = ""
    is_kept: bool = False


@frozen
class ClientCall:
    """An operation of SWF about to be called by a client.

    Attributes:
        operation: SWF's name, such as ``StartWorkflowExecution``.
        request: Exactly what boto3's method takes as keyword arguments; give another one on, do not change it.
        workflow: The declared workflow that is started, else None.
    """

    operation: str
    request: Mapping[str, Any]
    workflow: Workflow[..., Any] | None = None

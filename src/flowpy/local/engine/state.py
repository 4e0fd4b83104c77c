"""What the engine remembers: plain data, so that it can be stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, overload

from attrs import define, field, frozen

__all__ = [
    "ActivityTask",
    "Child",
    "DecisionTask",
    "Domain",
    "Effect",
    "Events",
    "Execution",
    "LambdaFunction",
    "Override",
    "ParentLink",
    "Registration",
    "attributes_key",
    "type_label",
]


def attributes_key(event_type: str) -> str:
    """The key under which an event of this type carries its attributes."""
    return f"{event_type[0].lower()}{event_type[1:]}EventAttributes"


def type_label(kind: str, name: str, version: str) -> str:
    """A type as SWF's messages print it."""
    return f"{kind}=[name={name}, version={version}]"


@define(eq=False)
class Registration:
    """A registered activity or workflow type.

    Attributes:
        kind: "ActivityType" or "WorkflowType".
        name: Its name.
        version: Its version.
        created: Epoch seconds.
        defaults: What it was registered with, in SWF's names: ``defaultTaskList`` and so on.
        description: As registered, or None.
        deprecated: Epoch seconds of the deprecation, or None.
    """

    kind: str
    name: str
    version: str
    created: float
    defaults: dict[str, Any]
    description: str | None = None
    deprecated: float | None = None

    @property
    def label(self) -> str:
        """The type as SWF's messages print it."""
        return type_label(self.kind, self.name, self.version)


@define(eq=False)
class Domain:
    """A domain: its types by (kind, name, version), its open executions' runId by workflowId."""

    name: str
    retention: str
    description: str | None = None
    deprecated: bool = False
    tags: dict[str, str] = field(factory=dict)
    types: dict[tuple[str, str, str], Registration] = field(factory=dict)
    open_runs: dict[str, str] = field(factory=dict)


@define(eq=False)
class DecisionTask:
    """A decision task that is scheduled or, with `started_event_id`, started.

    Attributes:
        scheduled_event_id: Its DecisionTaskScheduled.
        task_list: Name of the list it is on.
        schedule_to_start: Seconds as text, or "NONE".
        started_event_id: Its DecisionTaskStarted, 0 before.
        place: Its place on the list, 0 before it is dispatched.
    """

    scheduled_event_id: int
    task_list: str
    schedule_to_start: str
    started_event_id: int = 0
    place: int = 0


@define(eq=False)
class ActivityTask:
    """An open activity task.

    Attributes:
        scheduled_event_id: Its ActivityTaskScheduled.
        activity_id: Its activityId.
        task_list: Name of the list it is on.
        priority: Its taskPriority, 0 if it has none.
        place: Its place on the list.
        started_event_id: Its ActivityTaskStarted, 0 before.
        cancel_requested_event_id: The latest ActivityTaskCancelRequested, 0 if none.
        details: Details of the last heartbeat that had any, or None.
    """

    scheduled_event_id: int
    activity_id: str
    task_list: str
    priority: int
    place: int = 0
    started_event_id: int = 0
    cancel_requested_event_id: int = 0
    details: str | None = None


@define(eq=False)
class Child:
    """A child that was initiated and has not closed; `run_id` and `started_event_id` come when it starts."""

    initiated_event_id: int
    workflow_id: str
    run_id: str = ""
    started_event_id: int = 0


@define(eq=False)
class LambdaFunction:
    """An open Lambda function; `started_event_id` is 0 until it starts."""

    scheduled_event_id: int
    id: str
    started_event_id: int = 0


@frozen
class ParentLink:
    """The parent of a child execution, and the parent's StartChildWorkflowExecutionInitiated."""

    run_id: str
    workflow_id: str
    initiated_event_id: int

    @property
    def reference(self) -> dict[str, str]:
        """The parent's ``WorkflowExecution`` structure."""
        return {"workflowId": self.workflow_id, "runId": self.run_id}


@frozen
class Override:
    """A temporary task list for decision tasks, and for how many seconds a task waits there."""

    task_list: str
    schedule_to_start: str


@frozen
class Effect:
    """Something SWF does later, in a transaction of its own.

    Attributes:
        kind: Key into ``dispatch.EFFECTS``.
        run_id: The execution it comes from.
        event_id: The event of that execution it belongs to.
        cause: Refuse with this cause instead, "" to go on as usual.
        number: Effects count from 1.
    """

    kind: str
    run_id: str
    event_id: int
    cause: str = ""
    number: int = 0


class Events(Protocol):
    """A history, oldest event first: a list, or what behaves like one where histories are not in memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[dict[str, Any]]: ...

    @overload
    def __getitem__(self, position: int, /) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, position: slice, /) -> list[dict[str, Any]]: ...

    def append(self, event: dict[str, Any], /) -> None:
        """Adds an event at the end."""
        ...


@define(eq=False)
class Execution:
    """One workflow execution, open or closed.

    Attributes:
        config: taskList, childPolicy, taskStartToCloseTimeout, executionStartToCloseTimeout and, if set, taskPriority
            and lambdaRole, resolved, in SWF's names.
        started: Epoch seconds.
        number: Executions count from 1, in the order of their start.
        events: The history, oldest first.
        closed: Epoch seconds, or None.
        close_status: COMPLETED and so on, "" while open.
        closing_policy: The child policy its close applied.
        task_list: Where decision tasks go unless `override` says otherwise.
        decision: The decision task that is scheduled or started.
        queued: The decision task scheduled while `decision` is started.
        unseen: Whether the transaction under way has something that the decider has to see.
        decided: DecisionTaskStarted id of the last decision task that was completed.
        activities: Open activity tasks by scheduledEventId.
        activity_ids: Their scheduledEventId by activityId.
        timers: TimerStarted id of the open timers by timerId.
        children: Open children by initiatedEventId.
        lambdas: Open Lambda functions by scheduledEventId.
        deadlines: Epoch seconds and number by (kind, event id); what is absent here never fires.
        expires: Epoch seconds until when it is kept once closed.
        stored: How many of its events a store has.
    """

    domain: str
    workflow_id: str
    run_id: str
    workflow_type: dict[str, str]
    config: dict[str, Any]
    started: float
    task_list: str
    number: int = 0
    tag_list: list[str] = field(factory=list)
    parent: ParentLink | None = None
    events: Events = field(factory=list[dict[str, Any]])
    closed: float | None = None
    close_status: str = ""
    closing_policy: str = ""
    cancel_requested: bool = False
    override: Override | None = None
    decision: DecisionTask | None = None
    queued: DecisionTask | None = None
    unseen: bool = False
    decided: int = 0
    activities: dict[int, ActivityTask] = field(factory=dict)
    activity_ids: dict[str, int] = field(factory=dict)
    timers: dict[str, int] = field(factory=dict)
    children: dict[int, Child] = field(factory=dict)
    lambdas: dict[int, LambdaFunction] = field(factory=dict)
    deadlines: dict[tuple[str, int], tuple[float, int]] = field(factory=dict)
    latest_execution_context: str | None = None
    latest_activity: float | None = None
    expires: float = 0.0
    stored: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it has not closed."""
        return self.closed is None

    @property
    def reference(self) -> dict[str, str]:
        """The ``WorkflowExecution`` structure."""
        return {"workflowId": self.workflow_id, "runId": self.run_id}

    @property
    def priority(self) -> int:
        """Of its decision tasks."""
        return int(self.config.get("taskPriority") or 0)

    def attributes(self, event_id: int) -> dict[str, Any]:
        """The attributes of one of its events."""
        event = self.events[event_id - 1]
        attributes: dict[str, Any] = event[attributes_key(event["eventType"])]
        return attributes

    def activity_of(self, activity_id: str) -> ActivityTask | None:
        """The open activity task with this id."""
        scheduled_event_id = self.activity_ids.get(activity_id)
        return None if scheduled_event_id is None else self.activities[scheduled_event_id]

"""SWF's throttling: token buckets of operations, decisions and executions (swf-semantics §5)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from attrs import define, field, frozen

__all__ = ["DECISIONS", "EXECUTIONS", "OPERATIONS", "Bucket", "Throttle"]


@frozen
class Bucket:
    """How many calls come through at once, and how many more per second.

    Attributes:
        size: Tokens of a full bucket.
        refill: Tokens per second.
    """

    size: float
    refill: float


def _all(size: float, refill: float, *names: str) -> dict[str, Bucket]:
    return dict.fromkeys(names, Bucket(size, refill))


_VERBS: Final = ("Delete", "Deprecate", "Undeprecate")
_TYPES: Final = [f"{verb}{kind}Type" for verb in _VERBS for kind in ("Activity", "Workflow")]

OPERATIONS: Final[Mapping[str, Bucket]] = {
    **_all(2000, 200, "PollForActivityTask", "PollForDecisionTask", "StartWorkflowExecution"),
    **_all(2000, 200, *(f"RespondActivityTask{how}" for how in ("Completed", "Failed", "Canceled"))),
    **_all(2000, 200, "RespondDecisionTaskCompleted"),
    **_all(2000, 160, "RecordActivityTaskHeartbeat"),
    **_all(2000, 60, "GetWorkflowExecutionHistory", "TerminateWorkflowExecution"),
    **_all(2000, 30, "RequestCancelWorkflowExecution", "SignalWorkflowExecution"),
    **_all(2000, 6, "CountClosedWorkflowExecutions", "CountOpenWorkflowExecutions"),
    **_all(2000, 6, "DescribeActivityType", "DescribeWorkflowType", "DescribeWorkflowExecution"),
    **_all(200, 60, "RegisterActivityType", "RegisterWorkflowType"),
    **_all(200, 48, "ListOpenWorkflowExecutions"),
    **_all(200, 6, "CountPendingActivityTasks", "CountPendingDecisionTasks", *_TYPES),
    **_all(200, 6, "DescribeDomain", "ListActivityTypes", "ListWorkflowTypes", "ListClosedWorkflowExecutions"),
    **_all(100, 6, "RegisterDomain", "DeprecateDomain", "UndeprecateDomain", "ListDomains"),
    **_all(50, 30, "ListTagsForResource", "TagResource", "UntagResource"),
}
"""The bucket that all calls of an operation share."""

EXECUTIONS: Final[Mapping[str, Bucket]] = {
    "GetWorkflowExecutionHistory": Bucket(400, 200),
    "SignalWorkflowExecution": Bucket(1000, 1000),
    "RecordActivityTaskHeartbeat": Bucket(1000, 1000),
    "RequestCancelWorkflowExecution": Bucket(200, 200),
}
"""The bucket that the calls of an operation for one execution share."""

DECISIONS: Final[Mapping[str, Bucket]] = {
    "ScheduleActivityTask": Bucket(1000, 200),
    "StartTimer": Bucket(2000, 200),
    "StartChildWorkflowExecution": Bucket(500, 12),
    "SignalExternalWorkflowExecution": Bucket(1200, 120),
    "RequestCancelExternalWorkflowExecution": Bucket(1200, 120),
}
"""The bucket that all decisions of a type share; the others' buckets are not published."""

_CAUSES: Final = {
    "ScheduleActivityTask": "ACTIVITY_CREATION_RATE_EXCEEDED",
    "StartTimer": "TIMER_CREATION_RATE_EXCEEDED",
    "StartChildWorkflowExecution": "CHILD_CREATION_RATE_EXCEEDED",
    "SignalExternalWorkflowExecution": "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED",
    "RequestCancelExternalWorkflowExecution": "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED",
}

_SPARE: Final = 1_000
"""So many buckets are kept before those that are full again are dropped."""


@define(eq=False)
class Throttle:
    """The buckets of one engine, all full at first; they are not kept in a store.

    Args:
        operations: By operation; what is not named is not throttled.
        executions: By operation, for each execution.
        decisions: By decision type.
    """

    operations: Mapping[str, Bucket] = OPERATIONS
    executions: Mapping[str, Bucket] = EXECUTIONS
    decisions: Mapping[str, Bucket] = DECISIONS
    _levels: dict[Hashable, tuple[Bucket, float, float]] = field(factory=dict)

    def admits(self, operation: str, execution: Hashable, now: float) -> bool:
        """Whether a call comes through; it then has taken its tokens.

        Args:
            operation: SWF's name of it.
            execution: Which execution it is for, if it is for one.
            now: Epoch seconds.
        """
        bucket = self.executions.get(operation)
        if bucket is not None and not self._take((operation, execution), bucket, now):
            return False
        bucket = self.operations.get(operation)
        return bucket is None or self._take(operation, bucket, now)

    def refusal(self, decision_type: str, now: float) -> str:
        """The cause for which a decision fails, "" if it comes through; it then has taken its token."""
        bucket = self.decisions.get(decision_type)
        if bucket is None or self._take(("decision", decision_type), bucket, now):
            return ""
        return _CAUSES[decision_type]

    def _take(self, key: Hashable, bucket: Bucket, now: float) -> bool:
        level = _refilled(self._levels.get(key, (bucket, bucket.size, now)), now)
        if level < 1:
            return False
        if len(self._levels) > _SPARE and key not in self._levels:
            self._levels = {name: held for name, held in self._levels.items() if _refilled(held, now) < held[0].size}
        self._levels[key] = (bucket, level - 1, now)
        return True


def _refilled(held: tuple[Bucket, float, float], now: float) -> float:
    bucket, level, at = held
    return min(bucket.size, level + (now - at) * bucket.refill)

"""flowpy: long-running business processes as ordinary Python functions, on Amazon SWF.

A workflow is a function; activities are functions too. The workflow may sleep for a month, wait for a person, fan out
to a thousand machines and survive the death of every process involved: SWF keeps its history, and flowpy re-runs the
function against it.

    >>> import flowpy
    >>> @flowpy.activity
    ... def charge(order_id: str, cents: int) -> str:
    ...     return f"receipt for {order_id}"
    >>> @flowpy.workflow
    ... async def order(order_id: str) -> str:
    ...     return await charge(order_id, 4200)
    >>> charge.fn("o-7", 1)
    'receipt for o-7'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.declare import (
    NONE,
    Activity,
    ChildPromise,
    Promise,
    Retry,
    Signal,
    Workflow,
    activity,
    asynchronous,
    execute,
    query,
    signal,
    workflow,
)
from flowpy.errors import (
    AccessDenied,
    ActivityCanceled,
    ActivityCancelFailed,
    ActivityCancelRequested,
    ActivityError,
    ActivityFailed,
    ActivityProcessDied,
    ActivityScheduleFailed,
    ActivityTimedOut,
    AlreadyExists,
    ApplicationError,
    AwaitNeeded,
    CallError,
    ChildCanceled,
    ChildError,
    ChildFailed,
    ChildStartFailed,
    ChildTerminated,
    ChildTimedOut,
    ConfigurationError,
    ContinueAsNew,
    ContinueAsNewFailed,
    DecisionFailed,
    DeclarationError,
    DefaultUndefined,
    DuplicateId,
    DurationError,
    ExecutionError,
    ExternalCancelFailed,
    ExternalSignalFailed,
    FlowpyError,
    HistoryError,
    InvalidRequest,
    LambdaError,
    LambdaFailed,
    LambdaScheduleFailed,
    LambdaStartFailed,
    LambdaTimedOut,
    MarkerFailed,
    NonDeterminismError,
    NotDeterministic,
    NotInTask,
    NotStubbed,
    OutsideWorkflow,
    PayloadCodecUnknown,
    PayloadCorrupt,
    PayloadError,
    PayloadKeyUnknown,
    PayloadMissing,
    PayloadNotDecodable,
    PayloadNotEncodable,
    PayloadStoreUnavailable,
    PayloadTooLarge,
    PayloadUnavailable,
    ReadOnly,
    ResultNotReady,
    RunBlocked,
    RunHeld,
    ServiceError,
    ServiceUnavailable,
    SideEffectFailed,
    Throttled,
    TimerCancelFailed,
    TimerStartFailed,
    TypeDeprecated,
    UnknownResource,
    UnknownWorkflowType,
    WorkCanceled,
    WorkError,
    WorkflowBlocked,
    WorkflowCanceled,
    WorkflowFailed,
    WorkflowTerminated,
    WorkflowTimedOut,
)
from flowpy.runtime.continuing import continue_as_new
from flowpy.runtime.external import external
from flowpy.runtime.facts import RunInfo, info, is_replaying, now, random, set_state, uuid4
from flowpy.runtime.lambdas import lambda_function
from flowpy.runtime.logs import logger
from flowpy.runtime.recording import patched, side_effect
from flowpy.runtime.waiting import all_of, any_of, shield, sleep

if TYPE_CHECKING:
    from flowpy.client import Client
    from flowpy.worker import Worker, current_activity

__version__ = "0.1.0"

__all__ = [
    "NONE",
    "AccessDenied",
    "Activity",
    "ActivityCancelFailed",
    "ActivityCancelRequested",
    "ActivityCanceled",
    "ActivityError",
    "ActivityFailed",
    "ActivityProcessDied",
    "ActivityScheduleFailed",
    "ActivityTimedOut",
    "AlreadyExists",
    "ApplicationError",
    "AwaitNeeded",
    "CallError",
    "ChildCanceled",
    "ChildError",
    "ChildFailed",
    "ChildPromise",
    "ChildStartFailed",
    "ChildTerminated",
    "ChildTimedOut",
    "Client",
    "ConfigurationError",
    "ContinueAsNew",
    "ContinueAsNewFailed",
    "DecisionFailed",
    "DeclarationError",
    "DefaultUndefined",
    "DuplicateId",
    "DurationError",
    "ExecutionError",
    "ExternalCancelFailed",
    "ExternalSignalFailed",
    "FlowpyError",
    "HistoryError",
    "InvalidRequest",
    "LambdaError",
    "LambdaFailed",
    "LambdaScheduleFailed",
    "LambdaStartFailed",
    "LambdaTimedOut",
    "MarkerFailed",
    "NonDeterminismError",
    "NotDeterministic",
    "NotInTask",
    "NotStubbed",
    "OutsideWorkflow",
    "PayloadCodecUnknown",
    "PayloadCorrupt",
    "PayloadError",
    "PayloadKeyUnknown",
    "PayloadMissing",
    "PayloadNotDecodable",
    "PayloadNotEncodable",
    "PayloadStoreUnavailable",
    "PayloadTooLarge",
    "PayloadUnavailable",
    "Promise",
    "ReadOnly",
    "ResultNotReady",
    "Retry",
    "RunBlocked",
    "RunHeld",
    "RunInfo",
    "ServiceError",
    "ServiceUnavailable",
    "SideEffectFailed",
    "Signal",
    "Throttled",
    "TimerCancelFailed",
    "TimerStartFailed",
    "TypeDeprecated",
    "UnknownResource",
    "UnknownWorkflowType",
    "WorkCanceled",
    "WorkError",
    "Worker",
    "Workflow",
    "WorkflowBlocked",
    "WorkflowCanceled",
    "WorkflowFailed",
    "WorkflowTerminated",
    "WorkflowTimedOut",
    "activity",
    "all_of",
    "any_of",
    "asynchronous",
    "continue_as_new",
    "current_activity",
    "execute",
    "external",
    "info",
    "is_replaying",
    "lambda_function",
    "logger",
    "now",
    "patched",
    "query",
    "random",
    "set_state",
    "shield",
    "side_effect",
    "signal",
    "sleep",
    "uuid4",
    "workflow",
]

_LAZY = {"Client": "flowpy.client", "Worker": "flowpy.worker", "current_activity": "flowpy.worker"}


def __getattr__(name: str) -> Any:
    """Workers and clients are imported when they are first asked for: workflow code never needs them."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'flowpy' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)

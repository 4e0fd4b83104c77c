"""The 13 decisions (swf-semantics §2): what each becomes, and every cause for which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from flowpy.local.engine import Bucket, Quotas, Throttle

from .driver import Driver, decision
from .stories import CONFIG, NOWHERE, charge, child, function, timer

BARE = {"name": "bare", "version": "1"}
OLD = {"name": "old", "version": "1"}
Decision = dict[str, Any]
Prepare = Callable[[Driver], object]

signal = decision("SignalExternalWorkflowExecution", workflowId="t", signalName="s")
request_cancel = decision("RequestCancelExternalWorkflowExecution", workflowId="t")


def with_types(swf: Driver) -> None:
    """Types without defaults, and types that are deprecated; version 2 of ``order`` is bare and version 0 is old."""
    for kind in ("Activity", "Workflow"):
        for named in (BARE, OLD, {"name": "order", "version": "2"}, {"name": "order", "version": "0"}):
            swf.call(f"Register{kind}Type", domain="shop", **named)
            if named in (OLD, {"name": "order", "version": "0"}):
                swf.call(f"Deprecate{kind}Type", domain="shop", **{f"{kind.lower()}Type": named})


def at_most(**quotas: int) -> Prepare:
    """Quotas turned down."""

    def turn_down(swf: Driver) -> None:
        swf.engine.world.quotas = Quotas(**quotas)

    return turn_down


def throttled(decision_type: str) -> Prepare:
    """A bucket that is empty."""

    def empty(swf: Driver) -> None:
        swf.engine.world.throttle = Throttle(decisions={decision_type: Bucket(0, 0)})

    return empty


def refusing(decision_type: str, cause: str) -> Prepare:
    """What SWF publishes no rule for happens when a test asks for it."""
    return lambda swf: swf.engine.refuse(decision_type, cause)


def nothing(swf: Driver) -> None:
    """No preparation."""


# --- success --------------------------------------------------------------------------------


@frozen
class Success:
    """What a decision becomes.

    Attributes:
        decisions: The decision, which is the last, and others that it needs.
        at_once: Its event.
        later: The events of the same run that follow by themselves, without the decision task they schedule.
        start: How the run is started.
    """

    decisions: tuple[Decision, ...]
    at_once: str
    later: tuple[str, ...] = ()
    start: dict[str, Any] = field(factory=dict)


SUCCESSES: dict[str, Success] = {
    "ScheduleActivityTask": Success((charge(),), "ActivityTaskScheduled"),
    "RequestCancelActivityTask": Success(
        (charge(), decision("RequestCancelActivityTask", activityId="a")),
        "ActivityTaskCancelRequested",
        ("ActivityTaskCanceled",),
    ),
    "CompleteWorkflowExecution": Success((decision("CompleteWorkflowExecution"),), "WorkflowExecutionCompleted"),
    "FailWorkflowExecution": Success((decision("FailWorkflowExecution"),), "WorkflowExecutionFailed"),
    "CancelWorkflowExecution": Success((decision("CancelWorkflowExecution"),), "WorkflowExecutionCanceled"),
    "ContinueAsNewWorkflowExecution": Success(
        (decision("ContinueAsNewWorkflowExecution"),), "WorkflowExecutionContinuedAsNew"
    ),
    "RecordMarker": Success((decision("RecordMarker", markerName="m"),), "MarkerRecorded"),
    "StartTimer": Success((timer(),), "TimerStarted"),
    "CancelTimer": Success((timer(), decision("CancelTimer", timerId="t")), "TimerCanceled"),
    "SignalExternalWorkflowExecution": Success(
        (signal,), "SignalExternalWorkflowExecutionInitiated", ("ExternalWorkflowExecutionSignaled",)
    ),
    "RequestCancelExternalWorkflowExecution": Success(
        (request_cancel,),
        "RequestCancelExternalWorkflowExecutionInitiated",
        ("ExternalWorkflowExecutionCancelRequested",),
    ),
    "StartChildWorkflowExecution": Success(
        (child(),), "StartChildWorkflowExecutionInitiated", ("ChildWorkflowExecutionStarted",)
    ),
    "ScheduleLambdaFunction": Success(
        (function(),),
        "LambdaFunctionScheduled",
        ("LambdaFunctionStarted", "LambdaFunctionCompleted"),
        {"lambdaRole": "role"},
    ),
}

# --- failure --------------------------------------------------------------------------------


@frozen
class Failure:
    """How a decision comes to fail.

    Attributes:
        decisions: The decision, which is the last, and others that it needs.
        prepare: What has to be done before.
        meanwhile: What happens while the decider thinks.
        initiated: The event of the decision that comes before the failure, "" if the failure is the event.
    """

    decisions: tuple[Decision, ...]
    prepare: Prepare = nothing
    meanwhile: Prepare = nothing
    initiated: str = ""


def activity_with(*given: str) -> tuple[Decision, ...]:
    """An activity of a type without defaults, with no more than these values."""
    values = {
        "taskList": {"name": "workers"},
        "scheduleToStartTimeout": "1",
        "scheduleToCloseTimeout": "2",
        "startToCloseTimeout": "3",
    }
    said = {name: values[name] for name in given}
    return (decision("ScheduleActivityTask", activityId="a", activityType=BARE, **said),)


def run_with(decision_type: str, given: int) -> tuple[Decision, ...]:
    """A decision that starts a run of a type without defaults, with so many of the values it needs."""
    said = {name: CONFIG[name] for name in list(CONFIG)[:given]}
    if decision_type == "ContinueAsNewWorkflowExecution":
        return (decision(decision_type, workflowTypeVersion="2", **said),)
    return (child(workflowType=BARE, **said),)


def undefined(decision_type: str) -> dict[tuple[str, str], Failure]:
    """The first value that is missing is the cause."""
    names = ("EXECUTION_START_TO_CLOSE_TIMEOUT", "TASK_LIST", "TASK_START_TO_CLOSE_TIMEOUT", "CHILD_POLICY")
    return {
        (decision_type, f"DEFAULT_{name}_UNDEFINED"): Failure(run_with(decision_type, given), with_types)
        for given, name in enumerate(names)
    }


def unhandled(decision_type: str) -> dict[tuple[str, str], Failure]:
    """Something came while the decider was thinking."""
    failure = Failure((decision(decision_type),), meanwhile=lambda swf: swf.signal())
    return {(decision_type, "UNHANDLED_DECISION"): failure}


def of(decision_type: str, **causes: Failure) -> dict[tuple[str, str], Failure]:
    return {(decision_type, cause): failure for cause, failure in causes.items()}


FAILURES: dict[tuple[str, str], Failure] = {
    **of(
        "ScheduleActivityTask",
        ACTIVITY_TYPE_DOES_NOT_EXIST=Failure((decision("ScheduleActivityTask", activityId="a", activityType=NOWHERE),)),
        ACTIVITY_TYPE_DEPRECATED=Failure(
            (decision("ScheduleActivityTask", activityId="a", activityType=OLD),), with_types
        ),
        ACTIVITY_ID_ALREADY_IN_USE=Failure((charge(), charge())),
        OPEN_ACTIVITIES_LIMIT_EXCEEDED=Failure((charge("a"), charge("b"), charge("c")), at_most(open_activities=2)),
        ACTIVITY_CREATION_RATE_EXCEEDED=Failure((charge(),), throttled("ScheduleActivityTask")),
        DEFAULT_TASK_LIST_UNDEFINED=Failure(activity_with(), with_types),
        DEFAULT_SCHEDULE_TO_START_TIMEOUT_UNDEFINED=Failure(activity_with("taskList"), with_types),
        DEFAULT_SCHEDULE_TO_CLOSE_TIMEOUT_UNDEFINED=Failure(
            activity_with("taskList", "scheduleToStartTimeout"), with_types
        ),
        DEFAULT_START_TO_CLOSE_TIMEOUT_UNDEFINED=Failure(
            activity_with("taskList", "scheduleToStartTimeout", "scheduleToCloseTimeout"), with_types
        ),
        DEFAULT_HEARTBEAT_TIMEOUT_UNDEFINED=Failure(
            activity_with("taskList", "scheduleToStartTimeout", "scheduleToCloseTimeout", "startToCloseTimeout"),
            with_types,
        ),
    ),
    **of(
        "RequestCancelActivityTask",
        ACTIVITY_ID_UNKNOWN=Failure((decision("RequestCancelActivityTask", activityId="a"),)),
    ),
    **unhandled("CompleteWorkflowExecution"),
    **unhandled("FailWorkflowExecution"),
    **unhandled("CancelWorkflowExecution"),
    **unhandled("ContinueAsNewWorkflowExecution"),
    **undefined("ContinueAsNewWorkflowExecution"),
    **of(
        "ContinueAsNewWorkflowExecution",
        WORKFLOW_TYPE_DOES_NOT_EXIST=Failure((decision("ContinueAsNewWorkflowExecution", workflowTypeVersion="9"),)),
        WORKFLOW_TYPE_DEPRECATED=Failure(
            (decision("ContinueAsNewWorkflowExecution", workflowTypeVersion="0"),), with_types
        ),
        CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED=Failure(
            (decision("ContinueAsNewWorkflowExecution"),),
            refusing("ContinueAsNewWorkflowExecution", "CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED"),
        ),
    ),
    **of(
        "StartTimer",
        TIMER_ID_ALREADY_IN_USE=Failure((timer(), timer())),
        OPEN_TIMERS_LIMIT_EXCEEDED=Failure((timer("a"), timer("b"), timer("c")), at_most(open_timers=2)),
        TIMER_CREATION_RATE_EXCEEDED=Failure((timer(),), throttled("StartTimer")),
    ),
    **of("CancelTimer", TIMER_ID_UNKNOWN=Failure((decision("CancelTimer", timerId="t"),))),
    **of(
        "SignalExternalWorkflowExecution",
        UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION=Failure(
            (signal,), lambda swf: swf.terminate("t"), initiated="SignalExternalWorkflowExecutionInitiated"
        ),
        SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED=Failure(
            (signal,),
            throttled("SignalExternalWorkflowExecution"),
            initiated="SignalExternalWorkflowExecutionInitiated",
        ),
    ),
    **of(
        "RequestCancelExternalWorkflowExecution",
        UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION=Failure(
            (request_cancel,),
            lambda swf: swf.terminate("t"),
            initiated="RequestCancelExternalWorkflowExecutionInitiated",
        ),
        REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED=Failure(
            (request_cancel,),
            throttled("RequestCancelExternalWorkflowExecution"),
            initiated="RequestCancelExternalWorkflowExecutionInitiated",
        ),
    ),
    **undefined("StartChildWorkflowExecution"),
    **of(
        "StartChildWorkflowExecution",
        WORKFLOW_TYPE_DOES_NOT_EXIST=Failure((child(workflowType=NOWHERE),)),
        WORKFLOW_TYPE_DEPRECATED=Failure((child(workflowType=OLD),), with_types),
        OPEN_CHILDREN_LIMIT_EXCEEDED=Failure((child("a"), child("b"), child("c")), at_most(open_children=2)),
        OPEN_WORKFLOWS_LIMIT_EXCEEDED=Failure((child(),), at_most(open_executions=2)),
        CHILD_CREATION_RATE_EXCEEDED=Failure((child(),), throttled("StartChildWorkflowExecution")),
        WORKFLOW_ALREADY_RUNNING=Failure((child("t"),), initiated="StartChildWorkflowExecutionInitiated"),
    ),
    **of(
        "ScheduleLambdaFunction",
        ID_ALREADY_IN_USE=Failure((function(), function())),
        OPEN_LAMBDA_FUNCTIONS_LIMIT_EXCEEDED=Failure(
            (function("a"), function("b"), function("c")), at_most(open_lambda_functions=2)
        ),
        LAMBDA_FUNCTION_CREATION_RATE_EXCEEDED=Failure(
            (function(),), refusing("ScheduleLambdaFunction", "LAMBDA_FUNCTION_CREATION_RATE_EXCEEDED")
        ),
        LAMBDA_SERVICE_NOT_AVAILABLE_IN_REGION=Failure(
            (function(),), refusing("ScheduleLambdaFunction", "LAMBDA_SERVICE_NOT_AVAILABLE_IN_REGION")
        ),
    ),
    **of(
        "RecordMarker",
        OPERATION_NOT_PERMITTED=Failure(
            (decision("RecordMarker", markerName="m"),), refusing("RecordMarker", "OPERATION_NOT_PERMITTED")
        ),
    ),
}

# --- causes in order ------------------------------------------------------------------------

CHECKED_FIRST: dict[str, tuple[Prepare, tuple[Decision, ...], str]] = {
    "activity: the type before the id": (
        with_types,
        (charge(), decision("ScheduleActivityTask", activityId="a", activityType=NOWHERE)),
        "ACTIVITY_TYPE_DOES_NOT_EXIST",
    ),
    "activity: deprecation before the id": (
        with_types,
        (charge(), decision("ScheduleActivityTask", activityId="a", activityType=OLD)),
        "ACTIVITY_TYPE_DEPRECATED",
    ),
    "activity: the id before the defaults": (
        with_types,
        (charge(), decision("ScheduleActivityTask", activityId="a", activityType=BARE)),
        "ACTIVITY_ID_ALREADY_IN_USE",
    ),
    "continue as new: what is unseen before the type": (
        nothing,
        (decision("CancelTimer", timerId="t"), decision("ContinueAsNewWorkflowExecution", workflowTypeVersion="9")),
        "UNHANDLED_DECISION",
    ),
    "child: deprecation before the defaults": (with_types, (child(workflowType=OLD),), "WORKFLOW_TYPE_DEPRECATED"),
}

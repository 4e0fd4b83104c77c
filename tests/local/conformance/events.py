"""The 54 types of events (swf-semantics §3): who writes them, what stands in them, who wakes the decider."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

from attrs import frozen

from . import stories as s
from .driver import CHARGE, ORDER, decision

RUN = {"workflowId": "w", "runId": ANY}
CHILD = {"workflowId": "c", "runId": ANY}
TARGET = {"workflowId": "t", "runId": ANY}
BY_4 = {"decisionTaskCompletedEventId": 4}
"""What the first answer of a run decides."""

STARTS_CHILD = {"workflowId": "c", "workflowType": ORDER}
OF_CHILD = {"workflowExecution": CHILD, "workflowType": ORDER, "initiatedEventId": 5}
RESOLVED = {"childPolicy", "taskList", "executionStartToCloseTimeout", "taskStartToCloseTimeout"}
SIGNAL = ("SignalExternalWorkflowExecution", {"signalName": "s"})
CANCEL = ("RequestCancelExternalWorkflowExecution", {})


@frozen
class Row:
    """An event type.

    Attributes:
        story: What has to happen.
        wakes: "Y", it schedules a decision task; "N", it does not; "pending", it is written only while one waits;
            "close", nothing follows.
        full: Its attributes when all is given that can be.
        optional: Those among them that are absent when nothing is given.
    """

    story: s.Story
    wakes: str
    full: dict[str, Any]
    optional: frozenset[str] = frozenset()


def row(story: s.Story, wakes: str, full: dict[str, Any], *optional: str) -> Row:
    return Row(story, wakes, full, frozenset(optional))


def both(decision_type: str, *optional: dict[str, Any], **required: Any) -> s.Story:
    """A story of one decision, with and without what is optional."""
    everything = decision(decision_type, **required, **(optional[0] if optional else {}))
    return s.decided(decision(decision_type, **required), everything=(everything,))


EVENTS: dict[str, Row] = {
    # --- the execution
    "WorkflowExecutionStarted": row(
        s.started,
        "Y",
        {
            **s.FULL_CONFIG,
            "workflowType": ORDER,
            "parentWorkflowExecution": RUN,
            "parentInitiatedEventId": 5,
            "continuedExecutionRunId": ANY,
        },
        "input", "taskPriority", "tagList", "lambdaRole", "parentWorkflowExecution", "continuedExecutionRunId",
    ),
    "WorkflowExecutionCancelRequested": row(
        s.cancel_requested,
        "Y",
        {"externalWorkflowExecution": RUN, "externalInitiatedEventId": 0, "cause": "CHILD_POLICY_APPLIED"},
        "externalWorkflowExecution", "cause",
    ),
    "WorkflowExecutionSignaled": row(
        s.signaled,
        "Y",
        {"signalName": "s", "input": "i", "externalWorkflowExecution": RUN, "externalInitiatedEventId": 5},
        "input", "externalWorkflowExecution",
    ),
    "WorkflowExecutionCompleted": row(
        both("CompleteWorkflowExecution", {"result": "r"}), "close", {"result": "r", **BY_4}, "result"
    ),
    "CompleteWorkflowExecutionFailed": row(
        s.unhandled("CompleteWorkflowExecution"),
        "pending",
        {"cause": "UNHANDLED_DECISION", "decisionTaskCompletedEventId": 6},
    ),
    "WorkflowExecutionFailed": row(
        both("FailWorkflowExecution", {"reason": "why", "details": "d"}),
        "close",
        {"reason": "why", "details": "d", **BY_4},
        "reason", "details",
    ),
    "FailWorkflowExecutionFailed": row(
        s.unhandled("FailWorkflowExecution"),
        "pending",
        {"cause": "UNHANDLED_DECISION", "decisionTaskCompletedEventId": 6},
    ),
    "WorkflowExecutionTimedOut": row(
        s.execution_timed_out, "close", {"timeoutType": "START_TO_CLOSE", "childPolicy": "TERMINATE"}
    ),
    "WorkflowExecutionCanceled": row(
        both("CancelWorkflowExecution", {"details": "d"}), "close", {"details": "d", **BY_4}, "details"
    ),
    "CancelWorkflowExecutionFailed": row(
        s.unhandled("CancelWorkflowExecution"),
        "pending",
        {"cause": "UNHANDLED_DECISION", "decisionTaskCompletedEventId": 6},
    ),
    "WorkflowExecutionContinuedAsNew": row(
        both("ContinueAsNewWorkflowExecution", s.FULL_CONFIG),
        "close",
        {**s.FULL_CONFIG, "workflowType": ORDER, "newExecutionRunId": ANY, **BY_4},
        "input", "taskPriority", "tagList", "lambdaRole",
    ),
    "ContinueAsNewWorkflowExecutionFailed": row(
        both("ContinueAsNewWorkflowExecution", workflowTypeVersion="9"),
        "Y",
        {"cause": "WORKFLOW_TYPE_DOES_NOT_EXIST", **BY_4},
    ),
    "WorkflowExecutionTerminated": row(
        s.terminated,
        "close",
        {"reason": "r", "details": "d", "childPolicy": "TERMINATE", "cause": "OPERATOR_INITIATED"},
        "reason", "details",
    ),
    # --- decision tasks
    "DecisionTaskScheduled": row(
        s.decision_scheduled,
        "N",
        {
            "taskList": {"name": "deciders"},
            "startToCloseTimeout": "30",
            "scheduleToStartTimeout": "NONE",
            "taskPriority": "4",
        },
        "taskPriority",
    ),
    "DecisionTaskStarted": row(s.decision_started, "N", {"scheduledEventId": 2, "identity": "me"}, "identity"),
    "DecisionTaskCompleted": row(
        s.decision_completed,
        "N",
        {
            "scheduledEventId": 2,
            "startedEventId": 3,
            "executionContext": "x",
            "taskList": {"name": "mine"},
            "taskListScheduleToStartTimeout": "5",
        },
        "executionContext", "taskList", "taskListScheduleToStartTimeout",
    ),
    "DecisionTaskTimedOut": row(
        s.decision_timed_out, "Y", {"timeoutType": "START_TO_CLOSE", "scheduledEventId": 2, "startedEventId": 3}
    ),
    # --- activities
    "ActivityTaskScheduled": row(
        both("ScheduleActivityTask", s.WORK, activityId="a", activityType=CHARGE),
        "N",
        {"activityType": CHARGE, "activityId": "a", **s.WORK, **BY_4},
        "input", "control", "taskPriority",
    ),
    "ScheduleActivityTaskFailed": row(
        both("ScheduleActivityTask", s.WORK, activityId="a", activityType=s.NOWHERE),
        "Y",
        {"activityType": s.NOWHERE, "activityId": "a", "cause": "ACTIVITY_TYPE_DOES_NOT_EXIST", **BY_4},
    ),
    "ActivityTaskStarted": row(s.activity(), "N", {"scheduledEventId": 5, "identity": "me"}, "identity"),
    "ActivityTaskCompleted": row(
        s.activity("Completed", result="r"),
        "Y",
        {"scheduledEventId": 5, "startedEventId": 6, "result": "r"},
        "result",
    ),
    "ActivityTaskFailed": row(
        s.activity("Failed", reason="why", details="d"),
        "Y",
        {"scheduledEventId": 5, "startedEventId": 6, "reason": "why", "details": "d"},
        "reason", "details",
    ),
    "ActivityTaskTimedOut": row(
        s.activity_timed_out("startToCloseTimeout", taken=True),
        "Y",
        {"timeoutType": "START_TO_CLOSE", "scheduledEventId": 5, "startedEventId": 6, "details": "far"},
        "details",
    ),
    "ActivityTaskCanceled": row(
        s.activity_canceled,
        "Y",
        {"scheduledEventId": 5, "startedEventId": 6, "details": "d", "latestCancelRequestedEventId": 11},
        "details", "latestCancelRequestedEventId",
    ),
    "ActivityTaskCancelRequested": row(
        s.decided(s.charge(), decision("RequestCancelActivityTask", activityId="a")),
        "N",
        {"activityId": "a", **BY_4},
    ),
    "RequestCancelActivityTaskFailed": row(
        both("RequestCancelActivityTask", activityId="a"),
        "Y",
        {"activityId": "a", "cause": "ACTIVITY_ID_UNKNOWN", **BY_4},
    ),
    # --- markers and timers
    "MarkerRecorded": row(
        both("RecordMarker", {"details": "d"}, markerName="m"),
        "N",
        {"markerName": "m", "details": "d", **BY_4},
        "details",
    ),
    "RecordMarkerFailed": row(
        s.refused("RecordMarker", "OPERATION_NOT_PERMITTED", markerName="m"),
        "Y",
        {"markerName": "m", "cause": "OPERATION_NOT_PERMITTED", **BY_4},
    ),
    "TimerStarted": row(
        s.decided(s.timer(), everything=(s.timer(control="k"),)),
        "N",
        {"timerId": "t", "startToFireTimeout": "5", "control": "k", **BY_4},
        "control",
    ),
    "StartTimerFailed": row(
        s.decided(s.timer(), s.timer(control="k")),
        "Y",
        {"timerId": "t", "cause": "TIMER_ID_ALREADY_IN_USE", **BY_4},
    ),
    "TimerFired": row(s.timer_fired, "Y", {"timerId": "t", "startedEventId": 5}),
    "TimerCanceled": row(
        s.decided(s.timer(), decision("CancelTimer", timerId="t")),
        "N",
        {"timerId": "t", "startedEventId": 5, **BY_4},
    ),
    "CancelTimerFailed": row(
        both("CancelTimer", timerId="t"), "Y", {"timerId": "t", "cause": "TIMER_ID_UNKNOWN", **BY_4}
    ),
    # --- children
    "StartChildWorkflowExecutionInitiated": row(
        s.decided(s.child(), everything=(s.child(control="k", **s.FULL_CONFIG),)),
        "N",
        {**STARTS_CHILD, **s.FULL_CONFIG, "control": "k", **BY_4},
        "control", "input", "taskPriority", "tagList", "lambdaRole",
    ),
    "StartChildWorkflowExecutionFailed": row(
        s.child_already_running,
        "Y",
        {**STARTS_CHILD, "cause": "WORKFLOW_ALREADY_RUNNING", "initiatedEventId": 5, "control": "k", **BY_4},
        "control",
    ),
    "ChildWorkflowExecutionStarted": row(s.child_started, "Y", OF_CHILD),
    "ChildWorkflowExecutionCompleted": row(
        s.child_closed("CompleteWorkflowExecution", result="r"),
        "Y",
        {**OF_CHILD, "startedEventId": 6, "result": "r"},
        "result",
    ),
    "ChildWorkflowExecutionFailed": row(
        s.child_closed("FailWorkflowExecution", reason="why", details="d"),
        "Y",
        {**OF_CHILD, "startedEventId": 6, "reason": "why", "details": "d"},
        "reason", "details",
    ),
    "ChildWorkflowExecutionTimedOut": row(
        s.child_timed_out, "Y", {**OF_CHILD, "startedEventId": 6, "timeoutType": "START_TO_CLOSE"}
    ),
    "ChildWorkflowExecutionCanceled": row(
        s.child_closed("CancelWorkflowExecution", details="d"),
        "Y",
        {**OF_CHILD, "startedEventId": 6, "details": "d"},
        "details",
    ),
    "ChildWorkflowExecutionTerminated": row(s.child_terminated, "Y", {**OF_CHILD, "startedEventId": 6}),
    # --- other executions
    "SignalExternalWorkflowExecutionInitiated": row(
        both(SIGNAL[0], {"runId": "r", "input": "i", "control": "k"}, workflowId="t", **SIGNAL[1]),
        "N",
        {"workflowId": "t", "signalName": "s", "runId": "r", "input": "i", "control": "k", **BY_4},
        "runId", "input", "control",
    ),
    "SignalExternalWorkflowExecutionFailed": row(
        s.external(SIGNAL[0], "none", **SIGNAL[1]),
        "Y",
        {
            "workflowId": "none",
            "runId": ANY,
            "control": "k",
            "cause": "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION",
            "initiatedEventId": 5,
            **BY_4,
        },
        "runId", "control",
    ),
    "ExternalWorkflowExecutionSignaled": row(
        s.external(SIGNAL[0], **SIGNAL[1]), "Y", {"workflowExecution": TARGET, "initiatedEventId": 5}
    ),
    "RequestCancelExternalWorkflowExecutionInitiated": row(
        both(CANCEL[0], {"runId": "r", "control": "k"}, workflowId="t"),
        "N",
        {"workflowId": "t", "runId": "r", "control": "k", **BY_4},
        "runId", "control",
    ),
    "RequestCancelExternalWorkflowExecutionFailed": row(
        s.external(CANCEL[0], "none"),
        "Y",
        {
            "workflowId": "none",
            "runId": ANY,
            "control": "k",
            "cause": "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION",
            "initiatedEventId": 5,
            **BY_4,
        },
        "runId", "control",
    ),
    "ExternalWorkflowExecutionCancelRequested": row(
        s.external(CANCEL[0]), "Y", {"workflowExecution": TARGET, "initiatedEventId": 5}
    ),
    # --- Lambda
    "LambdaFunctionScheduled": row(
        s.decided(s.function(), everything=(s.function(control="k", input="i", startToCloseTimeout="9"),)),
        "N",
        {"id": "l", "name": "resize", "control": "k", "input": "i", "startToCloseTimeout": "9", **BY_4},
        "control", "input",
    ),
    "LambdaFunctionStarted": row(s.function_started, "N", {"scheduledEventId": 5}),
    "LambdaFunctionCompleted": row(
        s.function_completed, "Y", {"scheduledEventId": 5, "startedEventId": 6, "result": "r"}
    ),
    "LambdaFunctionFailed": row(
        s.function_failed, "Y", {"scheduledEventId": 5, "startedEventId": 6, "reason": "why", "details": "d"}
    ),
    "LambdaFunctionTimedOut": row(
        s.function_timed_out, "Y", {"scheduledEventId": 5, "startedEventId": 6, "timeoutType": "START_TO_CLOSE"}
    ),
    "ScheduleLambdaFunctionFailed": row(
        s.decided(s.function(), s.function()),
        "Y",
        {"id": "l", "name": "resize", "cause": "ID_ALREADY_IN_USE", **BY_4},
    ),
    "StartLambdaFunctionFailed": row(
        s.function_without_a_role,
        "Y",
        {
            "scheduledEventId": 5,
            "cause": "ASSUME_ROLE_FAILED",
            "message": "No IAM role is attached to the current workflow execution.",
        },
    ),
}

VALUES: dict[tuple[str, str, str], s.Story] = {
    ("DecisionTaskTimedOut", "timeoutType", "SCHEDULE_TO_START"): s.decision_never_started,
    ("ActivityTaskTimedOut", "timeoutType", "SCHEDULE_TO_START"): s.activity_timed_out(
        "scheduleToStartTimeout", taken=False
    ),
    ("ActivityTaskTimedOut", "timeoutType", "SCHEDULE_TO_CLOSE"): s.activity_timed_out(
        "scheduleToCloseTimeout", taken=False
    ),
    ("ActivityTaskTimedOut", "timeoutType", "HEARTBEAT"): s.activity_timed_out("heartbeatTimeout", taken=True),
    ("WorkflowExecutionTerminated", "cause", "CHILD_POLICY_APPLIED"): s.terminated_with_the_parent,
    ("WorkflowExecutionTerminated", "cause", "EVENT_LIMIT_EXCEEDED"): s.outgrown,
}
"""Stories of the values of enumerations that the rows above do not have; the causes of failed decisions aside."""

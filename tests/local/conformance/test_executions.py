from __future__ import annotations

import pytest

from flowpy.errors import AlreadyExists, UnknownResource

ORDER = {"name": "order", "version": "1"}
BARE = {"name": "bare", "version": "1"}
DEFAULTS = {
    "executionStartToCloseTimeout": "60",
    "taskList": {"name": "deciders"},
    "taskStartToCloseTimeout": "9",
    "childPolicy": "ABANDON",
}


def test_a_start_records_what_the_run_works_with(swf):
    run_id = swf.start(input="", tagList=["eu"], taskPriority="4", lambdaRole="role", executionStartToCloseTimeout="60")
    assert len(run_id) == 46
    assert swf.last("WorkflowExecutionStarted") == {
        "workflowType": ORDER,
        "taskList": {"name": "deciders"},
        "childPolicy": "TERMINATE",
        "executionStartToCloseTimeout": "60",
        "taskStartToCloseTimeout": "30",
        "taskPriority": "4",
        "lambdaRole": "role",
        "input": "",
        "tagList": ["eu"],
        "parentInitiatedEventId": 0,
    }


def test_an_open_workflow_id_is_taken_whatever_the_type(swf):
    swf.call("RegisterWorkflowType", domain="shop", **BARE)
    swf.start()
    with pytest.raises(AlreadyExists, match="Already Started") as caught:
        swf.start(workflowType=BARE)
    assert caught.value.fault == "WorkflowExecutionAlreadyStartedFault"
    swf.terminate()
    swf.start()


# --- from outside ---------------------------------------------------------------------------

OUTSIDE = ["SignalWorkflowExecution", "RequestCancelWorkflowExecution", "TerminateWorkflowExecution"]


@pytest.mark.parametrize("operation", OUTSIDE)
def test_the_run_id_may_be_left_out(swf, operation):
    said = {"signalName": "s"} if "Signal" in operation else {}
    closed = swf.start()
    swf.terminate()
    run_id = swf.start()
    for other, message in (
        ({"workflowId": "none"}, "Unknown execution, workflowId = none"),
        ({"runId": closed}, f"Unknown execution: WorkflowExecution=[workflowId=w, runId={closed}]"),
    ):
        with pytest.raises(UnknownResource) as caught:
            swf.call(operation, **({"domain": "shop", "workflowId": "w", **said} | other))
        assert str(caught.value) == message
    swf.call(operation, domain="shop", workflowId="w", runId="", **said)
    assert len(swf.events(run_id)) == 3


def test_signals_are_never_merged(swf):
    swf.start()
    for text in (None, "", "1", "1"):
        swf.call("SignalWorkflowExecution", domain="shop", workflowId="w", signalName="s", input=text)
    inputs = [event.get("workflowExecutionSignaledEventAttributes") for event in swf.events()[2:]]
    plain = {"signalName": "s", "externalInitiatedEventId": 0}
    assert inputs == [plain, plain | {"input": ""}, plain | {"input": "1"}, plain | {"input": "1"}]


def test_a_cancel_is_only_a_request(swf, make):
    run_id = swf.start()
    for _ in range(2):
        swf.call("RequestCancelWorkflowExecution", domain="shop", workflowId="w")
    assert swf.types()[2:] == ["WorkflowExecutionCancelRequested"] * 2
    assert swf.last("WorkflowExecutionCancelRequested") == {"externalInitiatedEventId": 0}
    assert swf.describe(run_id)["executionInfo"]["cancelRequested"] is True
    swf.decide(make("CancelWorkflowExecution", details="d"))
    info = swf.describe(run_id)["executionInfo"]
    assert (info["closeStatus"], info["cancelRequested"]) == ("CANCELED", False)


def test_a_termination_says_why(swf):
    run_id = swf.start()
    swf.terminate(reason="r", details="d")
    assert swf.last("WorkflowExecutionTerminated", run_id) == {
        "reason": "r",
        "details": "d",
        "childPolicy": "TERMINATE",
        "cause": "OPERATOR_INITIATED",
    }
    assert swf.poll()["startedEventId"] == 0


def test_an_execution_has_its_time(swf):
    run_id = swf.start(executionStartToCloseTimeout="60")
    swf.engine.advance(61)
    assert swf.last("WorkflowExecutionTimedOut", run_id) == {
        "timeoutType": "START_TO_CLOSE",
        "childPolicy": "TERMINATE",
    }
    assert swf.describe(run_id)["executionInfo"]["closeStatus"] == "TIMED_OUT"


# --- continue as new ------------------------------------------------------------------------


def test_a_run_continues_with_what_the_decision_and_the_type_say(swf, make):
    swf.call("RegisterWorkflowType", domain="shop", name="order", version="2", defaultTaskPriority="9")
    first = swf.start(input="1", tagList=["eu"], childPolicy="ABANDON", taskPriority="2")
    said = DEFAULTS | {"input": "2", "tagList": ["us"]}
    swf.decide(make("ContinueAsNewWorkflowExecution", workflowTypeVersion="2", **said))

    second = swf.run_id()
    config = said | {"workflowType": {"name": "order", "version": "2"}, "taskPriority": "9"}
    assert swf.last("WorkflowExecutionContinuedAsNew", first) == config | {
        "newExecutionRunId": second,
        "decisionTaskCompletedEventId": 4,
    }
    assert swf.last("WorkflowExecutionStarted", second) == config | {
        "continuedExecutionRunId": first,
        "parentInitiatedEventId": 0,
    }
    assert swf.describe(first)["executionInfo"]["closeStatus"] == "CONTINUED_AS_NEW"


def test_a_continued_run_takes_the_types_defaults_not_its_own(swf, make):
    swf.start(input="1", tagList=["eu"], childPolicy="ABANDON", taskPriority="2")
    swf.decide(make("ContinueAsNewWorkflowExecution"))
    started = swf.last("WorkflowExecutionStarted")
    assert started["childPolicy"] == "TERMINATE"
    assert not {"input", "tagList", "taskPriority"} & set(started)


def test_continuing_waits_for_what_is_unseen(swf, make):
    swf.start()
    task = swf.poll()
    swf.signal()
    swf.answer(task, make("ContinueAsNewWorkflowExecution"))
    assert swf.last("ContinueAsNewWorkflowExecutionFailed")["cause"] == "UNHANDLED_DECISION"
    assert swf.types().count("DecisionTaskScheduled") == 2


# --- retention ------------------------------------------------------------------------------


@pytest.mark.parametrize(("days", "kept"), [("7", 7 * 86_400), ("0", 0), ("NONE", 0)])
def test_a_closed_run_is_kept_as_long_as_the_domain_says(swf, days, kept):
    name = f"keeps {days}"
    swf.call("RegisterDomain", name=name, workflowExecutionRetentionPeriodInDays=days)
    swf.call("RegisterWorkflowType", domain=name, **ORDER)
    run_id = swf.call("StartWorkflowExecution", domain=name, workflowId="w", workflowType=ORDER, **DEFAULTS)["runId"]
    swf.call("TerminateWorkflowExecution", domain=name, workflowId="w")
    execution = {"workflowId": "w", "runId": run_id}
    if kept:
        swf.engine.advance(kept - 1)
        swf.call("DescribeWorkflowExecution", domain=name, execution=execution)
        swf.engine.advance(1)
    assert swf.engine.next_due() is None, "being forgotten is nothing to wait for"
    with pytest.raises(UnknownResource, match="Unknown execution"):
        swf.call("DescribeWorkflowExecution", domain=name, execution=execution)

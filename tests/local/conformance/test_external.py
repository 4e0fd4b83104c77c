from __future__ import annotations

import pytest

KINDS = {
    "signal": (
        "SignalExternalWorkflowExecution",
        {"signalName": "s", "input": "i"},
        "WorkflowExecutionSignaled",
        "ExternalWorkflowExecutionSignaled",
    ),
    "cancel": (
        "RequestCancelExternalWorkflowExecution",
        {},
        "WorkflowExecutionCancelRequested",
        "ExternalWorkflowExecutionCancelRequested",
    ),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


def test_a_request_reaches_its_target_and_is_acknowledged(swf, make, kind):
    decision_type, said, arrives, acknowledged = kind
    sender, target = swf.start("w"), swf.start("t")
    swf.engine.hold_effects = True
    swf.decide(make(decision_type, workflowId="t", control="k", **said))

    initiated = {"workflowId": "t", "control": "k", **said, "decisionTaskCompletedEventId": 4}
    assert swf.last(f"{decision_type}Initiated") == initiated
    assert swf.types()[-1] == f"{decision_type}Initiated"
    swf.engine.settle()
    assert swf.types()[-2:] == [acknowledged, "DecisionTaskScheduled"]
    assert swf.last(acknowledged) == {
        "workflowExecution": {"workflowId": "t", "runId": target},
        "initiatedEventId": 5,
    }
    assert swf.last(arrives, workflow_id="t") == {
        **said,
        "externalWorkflowExecution": {"workflowId": "w", "runId": sender},
        "externalInitiatedEventId": 5,
    }


def test_a_request_to_nobody_fails(swf, make, kind):
    decision_type, said, _, _ = kind
    closed = swf.start("t")
    swf.terminate("t")
    swf.start("t")
    swf.start("w", taskPriority="1")
    swf.decide(
        make(decision_type, workflowId="none", control="k", **said),
        make(decision_type, workflowId="t", runId=closed, **said),
    )

    assert swf.types()[4:] == [
        f"{decision_type}Initiated",
        f"{decision_type}Initiated",
        f"{decision_type}Failed",
        "DecisionTaskScheduled",
        f"{decision_type}Failed",
    ]
    assert swf.events()[6][f"{decision_type[0].lower()}{decision_type[1:]}FailedEventAttributes"] == {
        "workflowId": "none",
        "control": "k",
        "cause": "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION",
        "initiatedEventId": 5,
        "decisionTaskCompletedEventId": 4,
    }
    assert swf.last(f"{decision_type}Failed")["runId"] == closed


def test_what_was_sent_before_the_close_arrives(swf, make, kind):
    decision_type, said, arrives, _ = kind
    run_id = swf.start("w")
    swf.start("t")
    swf.decide(make(decision_type, workflowId="t", **said), make("CompleteWorkflowExecution"))
    swf.engine.settle()

    assert swf.types(workflow_id="t")[-1] == arrives
    assert swf.types(run_id)[-1] == "WorkflowExecutionCompleted"


def test_an_execution_may_write_to_itself(swf, make, kind):
    decision_type, said, arrives, acknowledged = kind
    swf.start()
    swf.decide(make(decision_type, workflowId="w", **said))
    assert swf.types()[5:] == [arrives, "DecisionTaskScheduled", acknowledged]

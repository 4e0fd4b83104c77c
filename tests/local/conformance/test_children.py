from __future__ import annotations

import pytest

from flowpy.errors import UnknownResource

from .events import EVENTS

ORDER = {"name": "order", "version": "1"}


def child(make, workflow_id="c", **options):
    return make("StartChildWorkflowExecution", **({"workflowId": workflow_id, "workflowType": ORDER} | options))


@pytest.fixture
def family(swf, make):
    """Starts a parent ``w`` with a child ``c``; gives both runIds. The child's first decision task waits."""

    def born(parent=None, **options):
        run_id = swf.start(**(parent or {}))
        swf.decide(child(make, **options))
        swf.engine.settle()
        return run_id, swf.run_id("c")

    return born


def answer_of(swf, workflow_id, *decisions):
    """Polls until it has the task of this workflow; the others are answered with nothing."""
    while (task := swf.poll())["workflowExecution"]["workflowId"] != workflow_id:
        swf.answer(task)
    swf.answer(task, *decisions)


def test_a_child_starts_a_moment_after_it_is_initiated(swf, make):
    swf.engine.hold_effects = True
    parent = swf.start(childPolicy="ABANDON")
    swf.decide(child(make, control="k", input="i", tagList=["t"], taskPriority="2", lambdaRole="role"))

    assert swf.last("StartChildWorkflowExecutionInitiated") == {
        "workflowId": "c",
        "workflowType": ORDER,
        "control": "k",
        "input": "i",
        "tagList": ["t"],
        "taskPriority": "2",
        "lambdaRole": "role",
        "taskList": {"name": "deciders"},
        "childPolicy": "TERMINATE",
        "executionStartToCloseTimeout": "86400",
        "taskStartToCloseTimeout": "30",
        "decisionTaskCompletedEventId": 4,
    }
    assert swf.describe(parent)["openCounts"]["openChildWorkflowExecutions"] == 1
    swf.engine.settle()
    run_id = swf.run_id("c")
    assert swf.types()[5:] == ["ChildWorkflowExecutionStarted", "DecisionTaskScheduled"]
    assert swf.last("ChildWorkflowExecutionStarted") == {
        "workflowExecution": {"workflowId": "c", "runId": run_id},
        "workflowType": ORDER,
        "initiatedEventId": 5,
    }
    assert swf.last("WorkflowExecutionStarted", workflow_id="c") == {
        "childPolicy": "TERMINATE",
        "taskList": {"name": "deciders"},
        "workflowType": ORDER,
        "executionStartToCloseTimeout": "86400",
        "taskStartToCloseTimeout": "30",
        "parentWorkflowExecution": {"workflowId": "w", "runId": parent},
        "parentInitiatedEventId": 5,
        "input": "i",
        "tagList": ["t"],
        "taskPriority": "2",
        "lambdaRole": "role",
    }
    parent_info = swf.describe(run_id, "c")["executionInfo"]["parent"]
    assert parent_info == {"workflowId": "w", "runId": parent}


REPORTS = [name for name in EVENTS if name.startswith("ChildWorkflowExecution") and not name.endswith("Started")]


@pytest.mark.parametrize("event_type", REPORTS)
def test_a_child_that_closed_is_not_counted_any_more(swf, event_type):
    parent, workflow_id = EVENTS[event_type].story(swf, False)
    assert swf.describe(parent, workflow_id)["openCounts"]["openChildWorkflowExecutions"] == 0


def test_a_child_that_cannot_start_fails_at_once(swf, make):
    nowhere = {"name": "none", "version": "1"}
    swf.start()
    swf.decide(child(make, control="k", workflowType=nowhere))
    assert swf.types()[4:] == ["StartChildWorkflowExecutionFailed", "DecisionTaskScheduled"]
    assert swf.last("StartChildWorkflowExecutionFailed") == {
        "workflowId": "c",
        "workflowType": nowhere,
        "control": "k",
        "cause": "WORKFLOW_TYPE_DOES_NOT_EXIST",
        "initiatedEventId": 0,
        "decisionTaskCompletedEventId": 4,
    }


# --- the parent closes ----------------------------------------------------------------------


def parent_completes(swf, make):
    answer_of(swf, "w", make("CompleteWorkflowExecution"))


def parent_fails(swf, make):
    answer_of(swf, "w", make("FailWorkflowExecution"))


def parent_cancels(swf, make):
    answer_of(swf, "w", make("CancelWorkflowExecution"))


def parent_continues(swf, make):
    answer_of(swf, "w", make("ContinueAsNewWorkflowExecution"))


def parent_is_terminated(swf, make):
    swf.terminate()


def parent_expires(swf, make):
    swf.engine.advance(60)


PARENT_CLOSES = [
    parent_completes,
    parent_fails,
    parent_cancels,
    parent_continues,
    parent_is_terminated,
    parent_expires,
]


@pytest.mark.parametrize("close", PARENT_CLOSES)
@pytest.mark.parametrize("policy", ["TERMINATE", "REQUEST_CANCEL", "ABANDON"])
def test_every_close_applies_the_child_policy(swf, make, family, close, policy):
    parent, run_id = family({"childPolicy": policy, "executionStartToCloseTimeout": "60"}, childPolicy="ABANDON")
    close(swf, make)
    swf.engine.settle()

    if policy == "TERMINATE":
        assert swf.last("WorkflowExecutionTerminated", run_id, "c") == {
            "childPolicy": "ABANDON",
            "cause": "CHILD_POLICY_APPLIED",
        }
    elif policy == "REQUEST_CANCEL":
        assert swf.last("WorkflowExecutionCancelRequested", run_id, "c") == {
            "externalWorkflowExecution": {"workflowId": "w", "runId": parent},
            "externalInitiatedEventId": 0,
            "cause": "CHILD_POLICY_APPLIED",
        }
        assert swf.describe(run_id, "c")["executionInfo"]["cancelRequested"] is True
    else:
        assert not {"WorkflowExecutionTerminated", "WorkflowExecutionCancelRequested"} & set(swf.types(run_id, "c"))


def test_termination_goes_down_the_tree(swf, make, family):
    _, run_id = family()
    answer_of(swf, "c", child(make, "grandchild"))
    swf.engine.settle()
    grandchild = swf.run_id("grandchild")
    swf.terminate()
    swf.engine.settle()
    assert swf.types(run_id, "c")[-1] == swf.types(grandchild, "grandchild")[-1] == "WorkflowExecutionTerminated"


def test_a_termination_may_bring_its_own_policy(swf, family):
    parent, run_id = family()
    swf.terminate(childPolicy="ABANDON")
    assert swf.last("WorkflowExecutionTerminated", parent)["childPolicy"] == "ABANDON"
    assert swf.describe(run_id, "c")["executionInfo"]["executionStatus"] == "OPEN"


def test_a_child_whose_parent_closed_first_never_starts(swf, make):
    swf.engine.hold_effects = True
    swf.start()
    swf.decide(child(make), make("CompleteWorkflowExecution"))
    swf.engine.settle()
    with pytest.raises(UnknownResource, match="Unknown execution, workflowId = c"):
        swf.signal(workflow_id="c")


def test_a_child_that_continues_as_new_stays_the_child(swf, make, family):
    parent, first = family()
    answer_of(swf, "c", make("ContinueAsNewWorkflowExecution", input="2"))
    second = swf.run_id("c")
    assert swf.last("WorkflowExecutionStarted", second, "c")["continuedExecutionRunId"] == first
    assert swf.last("WorkflowExecutionStarted", second, "c")["parentInitiatedEventId"] == 5
    assert "ChildWorkflowExecutionStarted" in swf.types(parent)[-4:]

    answer_of(swf, "c", make("CompleteWorkflowExecution"))
    swf.engine.settle()
    report = swf.last("ChildWorkflowExecutionCompleted", parent)
    assert report["workflowExecution"] == {"workflowId": "c", "runId": second}
    assert report["startedEventId"] == 6

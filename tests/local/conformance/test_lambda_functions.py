from __future__ import annotations

import json

import pytest

from flowpy.errors import UnknownResource

ROLE = "arn:aws:iam::123456789012:role/swf"


def function(make, id="l", **options):
    return make("ScheduleLambdaFunction", **({"id": id, "name": "resize"} | options))


def test_a_handler_plays_the_function(swf, make):
    swf.engine.on_lambda("resize", lambda text: {"got": json.loads(text)})
    swf.start(lambdaRole=ROLE)
    swf.decide(function(make, input="[1]", control="k"))

    assert swf.types()[4:] == [
        "LambdaFunctionScheduled",
        "LambdaFunctionStarted",
        "LambdaFunctionCompleted",
        "DecisionTaskScheduled",
    ]
    assert swf.last("LambdaFunctionScheduled") == {
        "id": "l",
        "name": "resize",
        "control": "k",
        "input": "[1]",
        "startToCloseTimeout": "900",
        "decisionTaskCompletedEventId": 4,
    }
    assert swf.last("LambdaFunctionCompleted") == {
        "scheduledEventId": 5,
        "startedEventId": 6,
        "result": '{"got": [1]}',
    }


def test_what_a_handler_raises_is_the_failure(swf, make):
    swf.engine.on_lambda("*", lambda text: 1 / 0)
    swf.start(lambdaRole=ROLE)
    swf.decide(function(make))

    failed = swf.last("LambdaFunctionFailed")
    assert failed["reason"] == "UnhandledError"
    assert json.loads(failed["details"])["errorType"] == "ZeroDivisionError"


def test_a_function_nobody_knows_is_not_found(swf, make):
    swf.start(lambdaRole=ROLE)
    swf.decide(function(make))
    assert swf.last("LambdaFunctionFailed")["reason"] == "ResourceNotFoundException"


def test_without_a_role_it_does_not_start(swf, make):
    swf.start()
    swf.decide(function(make))
    assert swf.types()[5:] == ["StartLambdaFunctionFailed", "DecisionTaskScheduled"]
    assert swf.last("StartLambdaFunctionFailed") == {
        "scheduledEventId": 5,
        "cause": "ASSUME_ROLE_FAILED",
        "message": "No IAM role is attached to the current workflow execution.",
    }


def test_a_running_function_can_be_ended_by_hand_or_time_out(swf, make):
    swf.engine.on_lambda("resize", None)
    run_id = swf.start(lambdaRole=ROLE)
    swf.decide(*(function(make, name, startToCloseTimeout="9") for name in "abc"))
    assert swf.describe(run_id)["openCounts"]["openLambdaFunctions"] == 3

    swf.engine.complete_lambda(run_id, 5, "done")
    swf.engine.fail_lambda(run_id, 6, "why", "d")
    swf.engine.advance(9)

    assert swf.last("LambdaFunctionCompleted")["result"] == "done"
    assert swf.last("LambdaFunctionFailed")["reason"] == "why"
    assert swf.last("LambdaFunctionTimedOut") == {
        "timeoutType": "START_TO_CLOSE",
        "scheduledEventId": 7,
        "startedEventId": 10,
    }
    with pytest.raises(UnknownResource, match="Unknown Lambda function, scheduledEventId = 5"):
        swf.engine.complete_lambda(run_id, 5, "again")


def test_a_handler_may_call_the_engine(swf, make):
    swf.engine.on_lambda("resize", lambda text: swf.terminate() or "late")
    run_id = swf.start(lambdaRole=ROLE)
    swf.decide(function(make))
    assert swf.types(run_id)[-1] == "WorkflowExecutionTerminated"

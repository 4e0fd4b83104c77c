from __future__ import annotations

import pytest

from flowpy.errors import InvalidRequest, Throttled
from flowpy.local.engine import Bucket, Engine, Throttle, VirtualClock
from flowpy.local.engine.buckets import DECISIONS, EXECUTIONS, OPERATIONS
from flowpy.local.engine.dispatch import OPERATIONS as KNOWN


@pytest.fixture
def throttled(new_driver):
    """A driver whose engine lets two signals through, three for all runs, and one timer; one more per second."""
    swf = new_driver(Engine(VirtualClock()))
    swf.engine.world.throttle = Throttle(
        operations={"SignalWorkflowExecution": Bucket(3, 1)},
        executions={"SignalWorkflowExecution": Bucket(2, 1)},
        decisions={"StartTimer": Bucket(1, 1), "SignalExternalWorkflowExecution": Bucket(1, 1)},
    )
    return swf


def test_nothing_is_throttled_unless_asked_for(swf):
    swf.start()
    for _ in range(1_001):
        swf.signal()


def test_the_buckets_are_the_services():
    assert set(OPERATIONS) == set(KNOWN)
    assert set(EXECUTIONS) < set(KNOWN)
    assert OPERATIONS["PollForDecisionTask"] == Bucket(2000, 200)
    assert DECISIONS["StartChildWorkflowExecution"] == Bucket(500, 12)


def test_a_bucket_is_emptied_and_fills_again(new_driver):
    swf = new_driver(Engine(VirtualClock(), throttle=Throttle()))
    for _ in range(100):
        swf.call("ListDomains", registrationStatus="REGISTERED")
    with pytest.raises(Throttled, match="Rate exceeded") as caught:
        swf.call("ListDomains", registrationStatus="REGISTERED")
    assert (caught.value.fault, caught.value.operation) == ("ThrottlingException", "ListDomains")
    swf.engine.advance(0.5)
    for _ in range(3):
        swf.call("ListDomains", registrationStatus="REGISTERED")
    with pytest.raises(Throttled):
        swf.call("ListDomains", registrationStatus="REGISTERED")


def test_executions_have_buckets_of_their_own(throttled):
    throttled.start("a")
    throttled.start("b")
    for workflow_id in ("a", "a", "b"):
        throttled.signal("go", workflow_id)
    throttled.engine.advance(0.9)
    with pytest.raises(Throttled):
        throttled.signal("go", "a")
    throttled.engine.advance(0.1)
    throttled.signal("go", "a")
    assert throttled.types(workflow_id="a").count("WorkflowExecutionSignaled") == 3


def test_decisions_are_refused(throttled, make):
    throttled.start()
    throttled.decide(
        *(make("StartTimer", timerId=name, startToFireTimeout="60") for name in "ab"),
        *(make("SignalExternalWorkflowExecution", workflowId="w", signalName=name) for name in "ab"),
    )
    assert throttled.last("StartTimerFailed")["cause"] == "TIMER_CREATION_RATE_EXCEEDED"
    failed = throttled.last("SignalExternalWorkflowExecutionFailed")
    assert failed["cause"] == "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED"
    assert throttled.last("WorkflowExecutionSignaled")["signalName"] == "a"
    throttled.engine.advance(1)
    throttled.decide(make("StartTimer", timerId="b", startToFireTimeout="60"))
    assert throttled.last("TimerStarted")["timerId"] == "b"


def test_buckets_that_are_full_again_are_not_kept(throttled):
    throttle = Throttle(executions={"GetWorkflowExecutionHistory": Bucket(5, 1)}, operations={})
    for number in range(5_000):
        assert throttle.admits("GetWorkflowExecutionHistory", number, float(number))
    assert len(throttle._levels) < 1_100


@pytest.mark.parametrize("token", ["bm8=", "WzFd", "WyJhY3Rpdml0eSIsInciLFtdLDUsMF0=", ""])
def test_tokens_made_up_are_no_tokens(throttled, token):
    throttled.engine.world.throttle = Throttle()
    with pytest.raises(InvalidRequest):
        throttled.call("RecordActivityTaskHeartbeat", taskToken=token)

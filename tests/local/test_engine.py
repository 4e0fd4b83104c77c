from __future__ import annotations

from threading import Lock, Thread

import pytest
from botocore.loaders import Loader

from flowpy.errors import InvalidRequest, ServiceUnavailable, Throttled, UnknownResource
from flowpy.local.engine import Engine, SystemClock, VirtualClock
from flowpy.local.engine.dispatch import OPERATIONS


class SteppingClock:
    """A clock that a test sets, as a machine's clock might jump."""

    def __init__(self, now):
        self.at = now

    def now(self):
        return self.at


def test_every_operation_of_the_service_is_there(swf):
    known = set(Loader().load_service_model("swf", "service-2")["operations"])
    assert known == set(OPERATIONS)
    with pytest.raises(InvalidRequest) as caught:
        swf.engine.call("Dance", {})
    assert caught.value.fault == "UnknownOperationException"


def test_unknown_members_and_nulls_are_ignored(swf):
    swf.start(input=None, unheard="of")
    assert "input" not in swf.last("WorkflowExecutionStarted")


def test_a_request_may_be_changed_after_the_call(swf):
    tags = ["eu"]
    swf.start(tagList=tags)
    tags.append("us")
    assert swf.last("WorkflowExecutionStarted")["tagList"] == ["eu"]


def test_the_same_calls_give_the_same_runs(new_driver):
    ids = [new_driver(Engine(seed=seed)).start() for seed in ("a", "a", "b")]
    assert ids[0] == ids[1] != ids[2]


def test_a_clock_may_step_backwards_but_no_history_does(new_driver):
    clock = SteppingClock(1_000.0)
    swf = new_driver(Engine(clock))
    swf.start()
    clock.at = 500.0
    swf.signal()
    assert swf.events()[2]["eventTimestamp"].timestamp() == 1_000.0
    swf.check()


def test_what_fell_due_happens_at_its_time_in_the_next_call(new_driver, make):
    clock = SteppingClock(1_000.0)
    swf = new_driver(Engine(clock))
    swf.start()
    swf.decide(make("StartTimer", timerId="t", startToFireTimeout="5"))
    clock.at = 1_060.5
    swf.signal()
    fired, _, signaled = swf.events()[5:]
    assert (fired["eventTimestamp"].timestamp(), signaled["eventTimestamp"].timestamp()) == (1_005.0, 1_060.5)


def test_only_a_virtual_clock_is_advanced():
    with pytest.raises(TypeError, match="only an engine on a VirtualClock"):
        Engine(SystemClock()).advance(1)
    clock = VirtualClock(5.0)
    clock.move_to(3.0)
    assert clock.now() == 5.0


def test_effects_come_before_anything_is_due(swf, make):
    assert swf.engine.next_due() is None
    swf.start()
    swf.decide(make("SignalExternalWorkflowExecution", workflowId="w", signalName="s"))
    assert swf.engine.next_due() == swf.engine.clock.now()
    assert swf.engine.settle() == 1


def test_effects_can_be_held_and_run_in_any_order(swf, make):
    swf.engine.hold_effects = True
    for workflow_id in ("w", "t"):
        swf.start(workflow_id)
    swf.decide(*(make("SignalExternalWorkflowExecution", workflowId="t", signalName=name) for name in "ab"))
    swf.engine.advance(1)
    assert [effect.event_id for effect in swf.engine.pending_effects] == [5, 6]

    swf.engine.run_effect(1)
    assert swf.last("WorkflowExecutionSignaled", workflow_id="t")["signalName"] == "b"
    assert swf.last("ExternalWorkflowExecutionSignaled")["initiatedEventId"] == 6
    swf.engine.hold_effects = False
    assert swf.last("WorkflowExecutionSignaled", workflow_id="t")["signalName"] == "a"


REFUSALS = {
    "ScheduleActivityTask": (
        {"activityId": "a", "activityType": {"name": "charge", "version": "1"}},
        "ACTIVITY_CREATION_RATE_EXCEEDED",
    ),
    "RequestCancelActivityTask": ({"activityId": "a"}, "OPERATION_NOT_PERMITTED"),
    "RecordMarker": ({"markerName": "m"}, "OPERATION_NOT_PERMITTED"),
    "StartTimer": ({"timerId": "t", "startToFireTimeout": "1"}, "TIMER_CREATION_RATE_EXCEEDED"),
    "CancelTimer": ({"timerId": "t"}, "OPERATION_NOT_PERMITTED"),
    "StartChildWorkflowExecution": (
        {"workflowId": "c", "workflowType": {"name": "order", "version": "1"}},
        "CHILD_CREATION_RATE_EXCEEDED",
    ),
    "ScheduleLambdaFunction": ({"id": "l", "name": "f"}, "LAMBDA_FUNCTION_CREATION_RATE_EXCEEDED"),
    "ContinueAsNewWorkflowExecution": ({}, "CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED"),
}


@pytest.mark.parametrize(("decision_type", "attributes", "cause"), [(key, *value) for key, value in REFUSALS.items()])
def test_a_test_can_have_decisions_refused(swf, make, decision_type, attributes, cause):
    swf.start()
    swf.engine.refuse(decision_type, cause, 2)
    for _ in range(2):
        swf.decide(make(decision_type, **attributes))
        assert swf.last(f"{decision_type}Failed")["cause"] == cause
    assert swf.types().count(f"{decision_type}Failed") == 2


@pytest.mark.parametrize("close", ["CompleteWorkflowExecution", "FailWorkflowExecution", "CancelWorkflowExecution"])
def test_a_close_can_be_refused_and_comes_again(swf, make, close):
    run_id = swf.start()
    swf.engine.refuse(close, "UNHANDLED_DECISION")
    swf.decide(make(close))
    assert swf.types()[4:] == ["DecisionTaskScheduled", f"{close}Failed"]
    swf.decide(make(close))
    assert swf.describe(run_id)["executionInfo"]["executionStatus"] == "CLOSED"


def test_what_follows_later_can_be_refused(swf, make):
    swf.start(lambdaRole="role")
    swf.engine.refuse("StartChildWorkflowExecution", "WORKFLOW_ALREADY_RUNNING")
    swf.engine.refuse("StartLambdaFunction", "ASSUME_ROLE_FAILED")
    swf.decide(
        make("StartChildWorkflowExecution", workflowId="c", workflowType={"name": "order", "version": "1"}),
        make("ScheduleLambdaFunction", id="l", name="f"),
    )
    assert swf.last("StartChildWorkflowExecutionFailed")["initiatedEventId"] == 5
    assert swf.last("StartLambdaFunctionFailed")["scheduledEventId"] == 6


def test_a_test_can_lose_a_request_or_its_answer(swf):
    swf.engine.disrupt("StartWorkflowExecution", Throttled("Rate exceeded", fault="ThrottlingException"))
    with pytest.raises(Throttled):
        swf.start()
    swf.engine.disrupt("StartWorkflowExecution", ServiceUnavailable("no answer"), after=True)
    with pytest.raises(ServiceUnavailable):
        swf.start()
    assert swf.types() == ["WorkflowExecutionStarted", "DecisionTaskScheduled"]


def test_a_test_can_keep_an_activity_from_workers(swf, make):
    run_id = swf.start()
    charge = {"name": "charge", "version": "1"}
    swf.decide(make("ScheduleActivityTask", activityId="a", activityType=charge, scheduleToStartTimeout="9"))
    swf.engine.withhold(run_id, "a")
    assert "taskToken" not in swf.take()

    swf.engine.advance(9)
    assert swf.last("ActivityTaskTimedOut")["timeoutType"] == "SCHEDULE_TO_START"


def test_a_test_can_take_heartbeats_for_granted(swf, make):
    run_id = swf.start()
    charge = {"name": "charge", "version": "1"}
    swf.decide(make("ScheduleActivityTask", activityId="a", activityType=charge, heartbeatTimeout="9"))
    task = swf.take()
    swf.engine.sustain(run_id, "a")
    swf.engine.advance(1_000)
    assert "ActivityTaskTimedOut" not in swf.types()

    swf.call("RecordActivityTaskHeartbeat", taskToken=task["taskToken"])
    swf.engine.advance(9)
    assert swf.last("ActivityTaskTimedOut")["timeoutType"] == "HEARTBEAT"


def test_an_activity_that_is_not_open_can_neither_be_kept_nor_sustained(swf):
    run_id = swf.start()
    for act in (swf.engine.withhold, swf.engine.sustain):
        with pytest.raises(UnknownResource):
            act(run_id, "a")
        with pytest.raises(UnknownResource):
            act("no run", "a")


def test_a_history_can_be_watched_as_it_grows(swf):
    events = swf.engine.events(swf.start())
    before = len(events)
    swf.signal()
    assert len(events) == before + 1


def test_who_waits_for_tasks_is_told(swf, make):
    told = []
    swf.engine.on_change = lambda: told.append(len(told))
    swf.start()
    assert told == [0]
    swf.decide(make("StartTimer", timerId="t", startToFireTimeout="5"))
    assert told == [0]
    swf.engine.advance(5)
    assert told == [0, 1]


def test_who_is_told_may_hold_a_lock_that_callers_hold(swf):
    lock = Lock()
    swf.engine.on_change = lambda: lock.acquire(timeout=5) and lock.release()

    def poll():
        with lock:
            swf.engine.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "deciders"}})

    threads = [
        Thread(target=poll),
        Thread(target=lambda: swf.engine.call("ListDomains", {"registrationStatus": "REGISTERED"})),
    ]
    swf.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)
    assert not any(thread.is_alive() for thread in threads)


def test_threads_take_turns(swf):
    def work(number):
        for step in range(20):
            swf.engine.call(
                "StartWorkflowExecution",
                {"domain": "shop", "workflowId": f"{number}-{step}", "workflowType": {"name": "order", "version": "1"}},
            )

    threads = [Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert swf.call("CountPendingDecisionTasks", domain="shop", taskList={"name": "deciders"})["count"] == 160

from __future__ import annotations

import pytest

from flowpy.errors import InvalidRequest, UnknownResource

CHARGE = {"name": "charge", "version": "1"}


@pytest.fixture
def schedule(swf, make):
    """Starts a run and has it schedule one activity."""

    def scheduled(**options):
        swf.start()
        swf.decide(make("ScheduleActivityTask", **({"activityId": "a", "activityType": CHARGE} | options)))

    return scheduled


def test_what_is_scheduled_is_recorded_as_it_will_run(swf, schedule):
    schedule(input="[1]", control="c", heartbeatTimeout="9", taskPriority="3")

    assert swf.last("ActivityTaskScheduled") == {
        "activityType": CHARGE,
        "activityId": "a",
        "input": "[1]",
        "control": "c",
        "taskList": {"name": "workers"},
        "scheduleToStartTimeout": "NONE",
        "scheduleToCloseTimeout": "NONE",
        "startToCloseTimeout": "NONE",
        "heartbeatTimeout": "9",
        "taskPriority": "3",
        "decisionTaskCompletedEventId": 4,
    }


def test_a_worker_gets_input_but_not_control(swf, schedule):
    schedule(input="[1]", control="c")
    task = swf.take()

    assert set(task) == {"taskToken", "activityId", "startedEventId", "workflowExecution", "activityType", "input"}
    assert (task["activityId"], task["startedEventId"], task["input"]) == ("a", 6, "[1]")
    assert swf.take() == {"startedEventId": 0}
    assert swf.types()[-1] == "ActivityTaskStarted", "a start wakes nobody"


ENDS = {
    "RespondActivityTaskCompleted": ({"result": "r"}, "ActivityTaskCompleted"),
    "RespondActivityTaskFailed": ({"reason": "why", "details": "d"}, "ActivityTaskFailed"),
    "RespondActivityTaskCanceled": ({"details": "d"}, "ActivityTaskCanceled"),
}


@pytest.mark.parametrize(("operation", "said", "event_type"), [(key, *value) for key, value in ENDS.items()])
def test_an_answer_is_recorded_and_wakes_the_decider(swf, schedule, operation, said, event_type):
    schedule()
    token = swf.take()["taskToken"]
    swf.call(operation, taskToken=token, **said)

    assert swf.types()[-2:] == [event_type, "DecisionTaskScheduled"]
    assert swf.last(event_type) == {**said, "scheduledEventId": 5, "startedEventId": 6}
    with pytest.raises(UnknownResource, match="Unknown activity, scheduledEventId = 5"):
        swf.call(operation, taskToken=token)


def test_an_answer_that_is_too_long_leaves_the_task_open(swf, schedule):
    schedule()
    task = swf.take()
    with pytest.raises(InvalidRequest, match="at 'reason' failed to satisfy constraint"):
        swf.call("RespondActivityTaskFailed", taskToken=task["taskToken"], reason="x" * 257)
    with pytest.raises(InvalidRequest, match="less than or equal to 2048"):
        swf.call("RecordActivityTaskHeartbeat", taskToken=task["taskToken"], details="x" * 2_049)
    swf.complete(task)


# --- failing to schedule --------------------------------------------------------------------


def test_an_id_is_taken_while_its_activity_is_open(swf, make, schedule):
    again = make("ScheduleActivityTask", activityId="a", activityType=CHARGE)
    schedule()
    swf.signal()
    swf.decide(again)
    assert swf.last("ScheduleActivityTaskFailed")["cause"] == "ACTIVITY_ID_ALREADY_IN_USE"

    task = swf.poll()
    swf.complete(swf.take())
    swf.answer(task, again)
    assert swf.types()[-1] == "ActivityTaskScheduled", "what counts is the state at the answer, not at the poll"


# --- timeouts -------------------------------------------------------------------------------

TIMED_OUT = {
    # timeouts given; whether a worker takes the task at second 2; what times out, when
    "waits too long": ({"scheduleToStartTimeout": "5"}, False, "SCHEDULE_TO_START", 5),
    "runs too long": ({"startToCloseTimeout": "5"}, True, "START_TO_CLOSE", 7),
    "takes too long, waiting": ({"scheduleToCloseTimeout": "5"}, False, "SCHEDULE_TO_CLOSE", 5),
    "takes too long, running": ({"scheduleToCloseTimeout": "5"}, True, "SCHEDULE_TO_CLOSE", 5),
    "falls silent": ({"heartbeatTimeout": "5"}, True, "HEARTBEAT", 7),
    "all at once, waiting": (
        {"scheduleToStartTimeout": "5", "scheduleToCloseTimeout": "5"},
        False,
        "SCHEDULE_TO_START",
        5,
    ),
    "all at once, running": (
        {"scheduleToCloseTimeout": "7", "startToCloseTimeout": "5", "heartbeatTimeout": "5"},
        True,
        "START_TO_CLOSE",
        7,
    ),
}


@pytest.mark.parametrize(("timeouts", "taken", "timeout_type", "after"), TIMED_OUT.values(), ids=TIMED_OUT)
def test_each_timeout_fires_at_its_time(swf, schedule, timeouts, taken, timeout_type, after):
    schedule(**timeouts)
    began = swf.engine.clock.now()
    swf.engine.advance(2)
    if taken:
        swf.take()
    assert swf.engine.next_due() == began + after
    swf.engine.advance(600)

    event = swf.events()[-2]
    assert swf.types()[-2:] == ["ActivityTaskTimedOut", "DecisionTaskScheduled"]
    assert event["eventTimestamp"].timestamp() == began + after
    assert swf.last("ActivityTaskTimedOut") == {
        "timeoutType": timeout_type,
        "scheduledEventId": 5,
        "startedEventId": 6 if taken else 0,
    }
    assert swf.take() == {"startedEventId": 0}


def test_an_unstarted_activity_has_no_heartbeat(swf, schedule):
    schedule(heartbeatTimeout="5", startToCloseTimeout="5")
    swf.engine.advance(1_000)
    assert swf.types()[-1] == "ActivityTaskScheduled"


def test_heartbeats_keep_an_activity_alive_and_their_details(swf, schedule):
    schedule(heartbeatTimeout="5")
    token = swf.take()["taskToken"]
    for details in ({"details": "one"}, {}, {}):
        swf.engine.advance(4)
        assert swf.call("RecordActivityTaskHeartbeat", taskToken=token, **details) == {"cancelRequested": False}
    swf.engine.advance(5)

    assert swf.last("ActivityTaskTimedOut")["details"] == "one"
    with pytest.raises(UnknownResource, match="Unknown activity"):
        swf.call("RecordActivityTaskHeartbeat", taskToken=token)


# --- cancellation ---------------------------------------------------------------------------


def test_an_activity_nobody_took_is_cancelled_a_moment_later(swf, make, schedule):
    swf.engine.hold_effects = True
    schedule()
    swf.signal()
    swf.decide(make("RequestCancelActivityTask", activityId="a"))
    assert swf.types()[-1] == "ActivityTaskCancelRequested"
    swf.engine.settle()

    assert swf.types()[-2:] == ["ActivityTaskCanceled", "DecisionTaskScheduled"]
    assert swf.last("ActivityTaskCanceled") == {
        "scheduledEventId": 5,
        "startedEventId": 0,
        "latestCancelRequestedEventId": 10,
    }
    assert swf.take() == {"startedEventId": 0}


def test_a_worker_that_takes_it_in_between_is_asked_to_stop(swf, make, schedule):
    swf.engine.hold_effects = True
    schedule()
    swf.signal()
    swf.decide(make("RequestCancelActivityTask", activityId="a"))
    token = swf.take()["taskToken"]
    swf.engine.settle()

    assert swf.call("RecordActivityTaskHeartbeat", taskToken=token) == {"cancelRequested": True}
    swf.call("RespondActivityTaskCanceled", taskToken=token, details="stopped")
    assert swf.last("ActivityTaskCanceled") == {
        "details": "stopped",
        "scheduledEventId": 5,
        "startedEventId": 11,
        "latestCancelRequestedEventId": 10,
    }


def test_a_worker_that_was_asked_to_stop_may_complete(swf, make, schedule):
    schedule()
    task = swf.take()
    swf.signal()
    swf.decide(*[make("RequestCancelActivityTask", activityId="a")] * 2)
    swf.complete(task)
    assert swf.types()[-4:] == [
        "ActivityTaskCancelRequested",
        "ActivityTaskCancelRequested",
        "ActivityTaskCompleted",
        "DecisionTaskScheduled",
    ]


@pytest.mark.parametrize("activity_id", ["a", "none"])
def test_what_is_not_open_cannot_be_cancelled(swf, make, schedule, activity_id):
    schedule()
    swf.complete(swf.take())
    swf.decide(make("RequestCancelActivityTask", activityId=activity_id))
    assert swf.last("RequestCancelActivityTaskFailed") == {
        "activityId": activity_id,
        "cause": "ACTIVITY_ID_UNKNOWN",
        "decisionTaskCompletedEventId": 10,
    }


# --- lists ----------------------------------------------------------------------------------


def test_higher_priority_first(swf, make):
    swf.start()
    swf.decide(
        *(
            make("ScheduleActivityTask", activityId=name, activityType=CHARGE, taskPriority=priority)
            for name, priority in (("low", "-5"), ("b", "0"), ("c", "0"), ("high", "5"))
        )
    )
    assert [swf.take()["activityId"] for _ in range(4)] == ["high", "b", "c", "low"]


def test_activity_and_decision_lists_of_one_name_are_two(swf, schedule):
    schedule(taskList={"name": "deciders"})
    assert swf.poll()["startedEventId"] == 0
    count = swf.call("CountPendingActivityTasks", domain="shop", taskList={"name": "deciders"})
    assert count == {"count": 1, "truncated": False}
    assert swf.take("deciders")["activityId"] == "a"

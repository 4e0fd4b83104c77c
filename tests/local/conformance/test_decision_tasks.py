from __future__ import annotations

import pytest

from flowpy.errors import InvalidRequest, UnknownResource

BEGIN = ["WorkflowExecutionStarted", "DecisionTaskScheduled"]


def test_a_start_queues_the_first_decision_task_in_the_same_instant(swf):
    run_id = swf.start()

    started, scheduled = swf.events(run_id)
    assert [started["eventType"], scheduled["eventType"]] == BEGIN
    assert started["eventTimestamp"] == scheduled["eventTimestamp"]
    assert scheduled["decisionTaskScheduledEventAttributes"] == {
        "taskList": {"name": "deciders"},
        "startToCloseTimeout": "30",
        "scheduleToStartTimeout": "NONE",
    }


def test_a_poll_ends_with_its_own_start(swf):
    run_id = swf.start()

    task = swf.poll(identity="me")

    assert task["startedEventId"] == task["events"][-1]["eventId"] == 3
    assert task["previousStartedEventId"] == 0
    assert task["workflowExecution"] == {"workflowId": "w", "runId": run_id}
    assert task["workflowType"] == {"name": "order", "version": "1"}
    assert swf.last("DecisionTaskStarted") == {"scheduledEventId": 2, "identity": "me"}


def test_an_empty_poll_has_no_token(swf):
    assert swf.poll() == {"startedEventId": 0, "previousStartedEventId": 0}


def test_what_comes_before_a_task_is_started_joins_it(swf):
    swf.start()
    swf.signal("a")
    swf.signal("b")

    assert swf.types() == [*BEGIN, "WorkflowExecutionSignaled", "WorkflowExecutionSignaled"]
    assert len(swf.poll()["events"]) == 5


def test_what_comes_while_a_task_runs_queues_one_task_at_once(swf):
    swf.start()
    task = swf.poll()
    swf.signal("a")
    swf.signal("b")
    assert swf.poll()["startedEventId"] == 0, "the queued task waits for the running one"
    swf.answer(task)

    assert swf.types()[2:] == [
        "DecisionTaskStarted",
        "WorkflowExecutionSignaled",
        "DecisionTaskScheduled",
        "WorkflowExecutionSignaled",
        "DecisionTaskCompleted",
    ]
    following = swf.poll()
    assert following["previousStartedEventId"] == 3
    assert following["startedEventId"] == 8


def test_a_close_fails_when_something_is_unseen_and_the_rest_of_the_batch_stands(swf, make):
    run_id = swf.start()
    task = swf.poll()
    swf.signal()
    swf.answer(task, make("StartTimer", timerId="t", startToFireTimeout="5"), make("CompleteWorkflowExecution"))

    assert swf.types()[5:] == ["DecisionTaskCompleted", "TimerStarted", "CompleteWorkflowExecutionFailed"]
    assert swf.last("CompleteWorkflowExecutionFailed")["cause"] == "UNHANDLED_DECISION"

    swf.decide(make("CompleteWorkflowExecution", result="ok"))
    assert swf.last("WorkflowExecutionCompleted", run_id) == {"result": "ok", "decisionTaskCompletedEventId": 10}


def test_open_work_does_not_keep_an_execution_open(swf, make):
    run_id = swf.start()
    swf.decide(
        make("ScheduleActivityTask", activityId="a", activityType={"name": "charge", "version": "1"}),
        make("StartTimer", timerId="t", startToFireTimeout="5"),
        make("CompleteWorkflowExecution"),
    )

    assert swf.types(run_id)[-1] == "WorkflowExecutionCompleted"
    assert swf.take() == {"startedEventId": 0}
    assert swf.engine.next_due() is None
    assert swf.describe(run_id)["openCounts"]["openActivityTasks"] == 1


@pytest.mark.parametrize("close", ["CompleteWorkflowExecution", "FailWorkflowExecution", "CancelWorkflowExecution"])
def test_a_close_after_a_failed_decision_is_unhandled(swf, make, close):
    swf.start()
    swf.decide(make("CancelTimer", timerId="none"), make(close))

    assert swf.types()[3:] == [
        "DecisionTaskCompleted",
        "CancelTimerFailed",
        f"{close}Failed",
        "DecisionTaskScheduled",
    ]


def test_the_task_for_a_failed_decision_comes_after_the_last_decision(swf, make):
    swf.start()
    swf.decide(make("CancelTimer", timerId="none"), make("RecordMarker", markerName="m"))

    assert swf.types()[4:] == ["CancelTimerFailed", "MarkerRecorded", "DecisionTaskScheduled"]


def test_or_straight_after_it_if_a_test_wants_that(engine, new_driver, make):
    engine.world.wake_between = True
    swf = new_driver(engine)
    swf.start()
    swf.decide(make("CancelTimer", timerId="none"), make("RecordMarker", markerName="m"))
    swf.check()

    assert swf.types()[4:] == ["CancelTimerFailed", "DecisionTaskScheduled", "MarkerRecorded"]


REJECTED = {
    "an unknown type": (
        [("StartTimer", {"timerId": "t", "startToFireTimeout": "1"}), ("Dance", {})],
        "Value 'Dance' at 'decisions.2.member.decisionType' failed to satisfy constraint: Member must satisfy enum",
    ),
    "no attributes": ([("StartTimer", {})], "Value null at 'decisions.1.member.startTimerDecisionAttributes' failed"),
    "a missing attribute": (
        [("StartTimer", {"timerId": "t"})],
        "Value null at 'decisions.1.member.startTimerDecisionAttributes.startToFireTimeout' failed",
    ),
    "an endless timer": ([("StartTimer", {"timerId": "t", "startToFireTimeout": "NONE"})], "startToFireTimeout"),
    "a bad id": ([("StartTimer", {"timerId": "a:b", "startToFireTimeout": "1"})], "regular expression pattern"),
    "a long marker": ([("RecordMarker", {"markerName": "m", "details": "x" * 32_769})], "less than or equal to 32768"),
    "a slow Lambda": (
        [("ScheduleLambdaFunction", {"id": "l", "name": "f", "startToCloseTimeout": "901"})],
        "between 1 and 900",
    ),
}


@pytest.mark.parametrize(("decisions", "message"), REJECTED.values(), ids=REJECTED)
def test_an_answer_is_rejected_as_a_whole_and_its_token_stays_good(swf, make, decisions, message):
    swf.start()
    task = swf.poll()
    before = swf.types()

    with pytest.raises(InvalidRequest) as caught:
        swf.answer(task, *(make(decision_type, **attributes) for decision_type, attributes in decisions))

    assert message in str(caught.value)
    assert caught.value.fault == "ValidationException"
    assert swf.types() == before
    swf.answer(task)


def test_attributes_of_another_decision_type_are_checked_too(swf, make):
    swf.start()
    task = swf.poll()
    with pytest.raises(InvalidRequest, match=r"cancelTimerDecisionAttributes\.timerId"):
        swf.answer(task, make("CompleteWorkflowExecution") | {"cancelTimerDecisionAttributes": {}})


def test_an_unanswered_task_times_out_and_comes_back_with_the_same_past(swf):
    swf.start()
    first = swf.poll()
    swf.signal()
    swf.engine.advance(30)

    assert swf.types()[3:] == ["WorkflowExecutionSignaled", "DecisionTaskScheduled", "DecisionTaskTimedOut"]
    assert swf.last("DecisionTaskTimedOut") == {
        "timeoutType": "START_TO_CLOSE",
        "scheduledEventId": 2,
        "startedEventId": 3,
    }
    with pytest.raises(UnknownResource, match="Unknown decision task, scheduledEventId = 2"):
        swf.answer(first)
    again = swf.poll()
    assert again["previousStartedEventId"] == 0
    assert again["startedEventId"] == 7


def test_a_task_without_a_timeout_waits(swf):
    swf.start(taskStartToCloseTimeout="NONE")
    task = swf.poll()
    swf.engine.advance(80_000)
    swf.answer(task)


# --- pages ----------------------------------------------------------------------------------


def _pages(swf, **options):
    task = swf.poll(**options)
    yield task
    while "nextPageToken" in task:
        task = swf.poll(**options, nextPageToken=task["nextPageToken"])
        yield task


@pytest.mark.parametrize("reverse", [False, True])
def test_pages_are_one_task(swf, reverse):
    swf.start()
    for number in range(8):
        swf.signal(str(number))

    pages = list(_pages(swf, maximumPageSize=4, reverseOrder=reverse))

    ids = [[event["eventId"] for event in page["events"]] for page in pages]
    expected = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]
    assert ids == ([[11, 10, 9, 8], [7, 6, 5, 4], [3, 2, 1]] if reverse else expected)
    assert {page["startedEventId"] for page in pages} == {11}
    assert swf.types().count("DecisionTaskStarted") == 1
    swf.answer(pages[-1])


def test_pages_show_the_past_as_it_was_at_the_poll(swf):
    swf.start()
    task = swf.poll(maximumPageSize=2)
    swf.signal()
    rest = swf.poll(maximumPageSize=2, nextPageToken=task["nextPageToken"])
    assert [event["eventId"] for event in rest["events"]] == [3]
    assert "nextPageToken" not in rest


def test_a_poll_can_begin_with_the_task_before(swf):
    swf.start()
    swf.decide()
    swf.signal()
    task = swf.poll(startAtPreviousStartedEvent=True)
    assert [event["eventId"] for event in task["events"]] == [3, 4, 5, 6, 7]


# --- task lists -----------------------------------------------------------------------------


def test_a_permanent_task_list_holds_for_all_later_tasks(swf):
    run_id = swf.start()
    swf.decide(taskList={"name": "mine"})
    assert swf.last("DecisionTaskCompleted")["taskList"] == {"name": "mine"}

    for _ in range(2):
        swf.signal()
        assert swf.poll()["startedEventId"] == 0
        swf.answer(swf.poll("mine"))
    assert swf.describe(run_id)["executionConfiguration"]["taskList"] == {"name": "mine"}


def test_a_temporary_task_list_is_left_when_nobody_polls_it(swf):
    swf.start()
    swf.decide(taskList={"name": "mine"}, taskListScheduleToStartTimeout="5")
    swf.signal()
    assert swf.last("DecisionTaskScheduled")["scheduleToStartTimeout"] == "5"
    swf.engine.advance(5)

    assert swf.types()[-3:] == ["DecisionTaskScheduled", "DecisionTaskTimedOut", "DecisionTaskScheduled"]
    assert swf.last("DecisionTaskTimedOut") == {
        "timeoutType": "SCHEDULE_TO_START",
        "scheduledEventId": 6,
        "startedEventId": 0,
    }
    assert swf.poll("mine")["startedEventId"] == 0
    assert swf.poll()["startedEventId"] == 9


def test_a_temporary_task_list_holds_while_it_is_polled_and_ends_with_a_timeout(swf):
    swf.start()
    swf.decide(taskList={"name": "mine"}, taskListScheduleToStartTimeout="5")
    swf.signal()
    swf.answer(swf.poll("mine"))
    swf.signal()
    swf.poll("mine")
    swf.engine.advance(30)

    assert swf.last("DecisionTaskTimedOut")["timeoutType"] == "START_TO_CLOSE"
    assert swf.poll()["startedEventId"] > 0


def test_a_task_that_waits_already_stays_on_its_list(swf):
    swf.start()
    task = swf.poll()
    swf.signal()
    swf.answer(task, taskList={"name": "mine"})
    assert swf.poll()["startedEventId"] > 0


def test_higher_priority_first_then_first_come(swf):
    swf.start("low", taskPriority="-1")
    swf.start("first")
    swf.start("second", taskPriority="0")
    swf.start("high", taskPriority="7")

    assert [swf.poll()["workflowExecution"]["workflowId"] for _ in range(4)] == ["high", "first", "second", "low"]
    assert swf.last("DecisionTaskScheduled", workflow_id="high")["taskPriority"] == "7"


def test_waiting_tasks_are_counted(swf):
    count = lambda name: swf.call("CountPendingDecisionTasks", domain="shop", taskList={"name": name})  # noqa: E731
    swf.start("a")
    swf.start("b")
    assert count("deciders") == {"count": 2, "truncated": False}
    swf.poll()
    swf.terminate("b")
    assert count("deciders")["count"] == count("never used")["count"] == 0


def test_the_latest_context_is_kept(swf):
    run_id = swf.start()
    assert "latestExecutionContext" not in swf.describe(run_id)
    for context in ({"executionContext": "one"}, {}, {"executionContext": ""}):
        swf.decide(**context)
        swf.signal()
        shown = swf.describe(run_id)["latestExecutionContext"]
        assert shown == ("" if context == {"executionContext": ""} else "one")

"""Rules of scheduling and of lives that are not told by an event or a decision alone (swf-semantics §4, §5)."""

from __future__ import annotations

import pytest

from flowpy.errors import InvalidRequest, UnknownResource
from flowpy.local.engine import Quotas

from .driver import ORDER, decision
from .stories import charge, child, function, timer

YEAR = 31_536_000
FAILS = decision("CancelTimer", timerId="none")
DONE = decision("CompleteWorkflowExecution")


def task_of(swf, workflow_id):
    """The decision task of one run; the others that wait are answered with nothing."""
    while (task := swf.poll())["workflowExecution"]["workflowId"] != workflow_id:
        swf.answer(task)
    return task


# --- 4.1 to 4.4: decision tasks -------------------------------------------------------------


def test_a_transaction_has_one_time_and_what_follows_by_itself_is_another(swf):
    swf.engine.hold_effects = True
    swf.start()
    swf.engine.advance(1)
    task = swf.poll()
    swf.engine.advance(1)
    swf.answer(task, timer(), FAILS, child())
    swf.engine.advance(1)
    swf.engine.settle()
    began = swf.events()[0]["eventTimestamp"]
    times = [(event["eventTimestamp"] - began).seconds for event in swf.events()]
    assert times == [0, 0, 1, 2, 2, 2, 2, 2, 3]


def test_a_run_has_one_decision_task_waiting_or_at_work_or_none(swf):
    run_id = swf.start()

    def is_open():
        return swf.describe(run_id)["openCounts"]["openDecisionTasks"]

    assert is_open() == 1
    task = swf.poll()
    swf.signal()
    assert is_open() == 1, "the one that waits behind the one at work is not counted"
    swf.answer(task)
    assert is_open() == 1
    swf.decide()
    assert is_open() == 0


def test_many_failures_ask_for_one_decision_task(swf):
    swf.start()
    swf.decide(FAILS, FAILS, FAILS)
    assert swf.types()[4:] == [*["CancelTimerFailed"] * 3, "DecisionTaskScheduled"]


def test_a_close_that_was_unhandled_has_to_be_decided_again(swf):
    run_id = swf.start()
    task = swf.poll()
    swf.signal()
    swf.answer(task, DONE)
    swf.decide()
    assert swf.poll()["startedEventId"] == 0
    assert swf.describe(run_id)["executionInfo"]["executionStatus"] == "OPEN"


def test_a_decision_task_comes_back_as_often_as_it_times_out(swf):
    swf.start()
    swf.decide()
    swf.signal()
    for _ in range(5):
        assert swf.poll()["previousStartedEventId"] == 3, "U3: that of the last one that was answered"
        swf.engine.advance(30)
    assert swf.types().count("DecisionTaskTimedOut") == 5


def test_a_decision_task_waits_until_the_execution_times_out(swf):
    run_id = swf.start(executionStartToCloseTimeout="60")
    swf.engine.advance(60)
    assert swf.types(run_id) == ["WorkflowExecutionStarted", "DecisionTaskScheduled", "WorkflowExecutionTimedOut"]
    assert swf.poll()["startedEventId"] == 0


# --- 4.5 to 4.7: task lists -----------------------------------------------------------------


def test_a_priority_is_not_handed_down(swf):
    swf.start(taskPriority="7")
    swf.decide(charge(), child())
    swf.engine.settle()
    assert "taskPriority" not in swf.last("ActivityTaskScheduled")
    assert "taskPriority" not in swf.last("WorkflowExecutionStarted", workflow_id="c")


def test_the_first_task_has_no_task_before_it_to_begin_with(swf):
    swf.start()
    assert len(swf.poll(startAtPreviousStartedEvent=True)["events"]) == 3


def test_pages_that_begin_with_the_task_before(swf):
    swf.start()
    swf.decide()
    swf.signal()
    options = {"startAtPreviousStartedEvent": True, "maximumPageSize": 2}
    task, read = swf.poll(**options), []
    while True:
        read += [event["eventId"] for event in task["events"]]
        if "nextPageToken" not in task:
            break
        task = swf.poll(**options, nextPageToken=task["nextPageToken"])
    assert read == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("timeout", [{}, {"taskListScheduleToStartTimeout": "NONE"}], ids=["absent", "NONE"])
def test_a_task_list_without_a_timeout_is_for_good(swf, timeout):
    swf.start()
    swf.decide(taskList={"name": "mine"}, **timeout)
    swf.signal()
    swf.engine.advance(1_000)
    assert swf.poll("mine")["startedEventId"] > 0


def test_a_temporary_list_is_left_for_the_last_permanent_one(swf):
    swf.start()
    swf.decide(taskList={"name": "mine"})
    swf.signal()
    swf.answer(swf.poll("mine"), taskList={"name": "other"}, taskListScheduleToStartTimeout="5")
    swf.signal()
    swf.engine.advance(5)
    assert swf.last("DecisionTaskScheduled")["taskList"] == {"name": "mine"}


def test_a_continued_run_begins_on_the_list_of_its_type(swf):
    swf.start()
    swf.decide(taskList={"name": "mine"})
    swf.signal()
    swf.answer(swf.poll("mine"), decision("ContinueAsNewWorkflowExecution"))
    assert swf.last("DecisionTaskScheduled")["taskList"] == {"name": "deciders"}


# --- 4.8, 4.9: activities and timers ----------------------------------------------------------


def test_a_request_to_stop_is_repeated_to_the_worker_and_the_last_one_counts(swf):
    swf.start()
    swf.decide(charge())
    token = swf.take()["taskToken"]
    cancel = decision("RequestCancelActivityTask", activityId="a")
    swf.signal()
    swf.decide(cancel, cancel)
    for _ in range(2):
        assert swf.call("RecordActivityTaskHeartbeat", taskToken=token) == {"cancelRequested": True}
    swf.call("RespondActivityTaskCanceled", taskToken=token)
    requests = [event["eventId"] for event in swf.events() if event["eventType"] == "ActivityTaskCancelRequested"]
    assert len(requests) == 2
    assert swf.last("ActivityTaskCanceled")["latestCancelRequestedEventId"] == requests[-1]


def test_a_timer_may_run_longer_than_any_execution(swf):
    swf.start()
    swf.decide(decision("StartTimer", timerId="t", startToFireTimeout="99999999"))
    assert swf.types()[-1] == "TimerStarted"


# --- 4.10 to 4.12: other executions -----------------------------------------------------------


def test_a_cancel_request_is_not_passed_on_to_what_is_open(swf):
    swf.start()
    swf.decide(charge(), timer(), child(taskList={"name": "mine"}))
    swf.engine.settle()
    before = len(swf.events())
    swf.call("RequestCancelWorkflowExecution", domain="shop", workflowId="w")
    assert swf.types()[before:] == ["WorkflowExecutionCancelRequested"]
    assert "WorkflowExecutionCancelRequested" not in swf.types(workflow_id="c")


def test_what_children_do_joins_a_decision_task_that_waits(swf):
    run_id = swf.start()
    swf.decide(child(), child("d"))
    swf.engine.settle()
    swf.terminate("c")
    swf.engine.settle()
    assert swf.types(run_id)[6:] == [
        "ChildWorkflowExecutionStarted",
        "DecisionTaskScheduled",
        "ChildWorkflowExecutionStarted",
        "ChildWorkflowExecutionTerminated",
    ]


def test_a_parent_that_has_closed_is_told_nothing(swf):
    run_id = swf.start(childPolicy="ABANDON")
    swf.decide(child())
    swf.engine.settle()
    swf.answer(task_of(swf, "w"), DONE)
    before = swf.types(run_id)
    swf.terminate("c")
    swf.engine.settle()
    assert swf.types(run_id) == before


def test_the_children_of_a_run_are_not_those_of_its_successor(swf):
    swf.start(childPolicy="ABANDON")
    swf.decide(child())
    swf.engine.settle()
    swf.answer(task_of(swf, "w"), decision("ContinueAsNewWorkflowExecution"))
    successor = swf.run_id()
    swf.terminate("c")
    swf.engine.settle()
    assert swf.types(successor) == ["WorkflowExecutionStarted", "DecisionTaskScheduled"]
    assert swf.describe(successor)["openCounts"]["openChildWorkflowExecutions"] == 0


def test_a_child_is_an_execution_like_any_other(swf):
    parent = swf.start()
    swf.decide(child())
    swf.engine.settle()
    swf.signal("go", "c")
    listed = swf.call("ListOpenWorkflowExecutions", domain="shop", startTimeFilter={"oldestDate": 0})["executionInfos"]
    parents = {info["execution"]["workflowId"]: info.get("parent") for info in listed}
    assert parents == {"w": None, "c": {"workflowId": "w", "runId": parent}}
    assert swf.types(workflow_id="c")[-1] == "WorkflowExecutionSignaled"


@pytest.mark.parametrize(
    "start",
    [
        decision("ContinueAsNewWorkflowExecution", executionStartToCloseTimeout="NONE"),
        child(executionStartToCloseTimeout="NONE"),
    ],
    ids=lambda start: start["decisionType"],
)
def test_a_run_that_a_decision_starts_without_a_timeout_has_a_year(swf, start):
    run_id = swf.start(executionStartToCloseTimeout=str(2 * YEAR), childPolicy="ABANDON")
    swf.engine.advance(60)
    swf.decide(start)
    swf.engine.settle()
    workflow_id = "w" if "Continue" in start["decisionType"] else "c"
    started = swf.run_id(workflow_id)
    assert started != run_id
    assert swf.last("WorkflowExecutionStarted", started, workflow_id)["executionStartToCloseTimeout"] == "NONE"
    swf.engine.advance(YEAR - 1)
    assert swf.describe(started, workflow_id)["executionInfo"]["executionStatus"] == "OPEN"
    swf.engine.advance(1)
    assert swf.describe(started, workflow_id)["executionInfo"]["closeStatus"] == "TIMED_OUT"


# --- 4.14: descriptions -----------------------------------------------------------------------


def test_the_latest_activity_is_that_of_any_event_of_an_activity(swf):
    run_id = swf.start()
    began = swf.engine.clock.now()

    def latest():
        return swf.describe(run_id)["latestActivityTaskTimestamp"].timestamp() - began

    assert "latestActivityTaskTimestamp" not in swf.describe(run_id)
    swf.decide(charge())
    seen = [latest()]
    swf.engine.advance(1)
    task = swf.take()
    seen.append(latest())
    swf.engine.advance(1)
    swf.complete(task)
    swf.engine.advance(1)
    swf.signal()
    assert [*seen, latest()] == [0, 1, 2]


def test_the_description_of_a_run_that_has_closed(swf):
    run_id = swf.start(lambdaRole="role")
    began = swf.engine.clock.now()
    swf.engine.advance(5)
    swf.decide(DONE)
    described = swf.describe(run_id)
    info = described["executionInfo"]
    assert (info["executionStatus"], info["closeStatus"]) == ("CLOSED", "COMPLETED")
    assert info["closeTimestamp"].timestamp() == began + 5
    assert "tagList" not in info
    assert "parent" not in info
    assert described["executionConfiguration"]["lambdaRole"] == "role"
    assert set(described) == {"executionInfo", "executionConfiguration", "openCounts"}


# --- 4.15: Lambda -----------------------------------------------------------------------------


def test_a_function_without_input_is_given_an_empty_object(swf):
    got = []
    swf.engine.on_lambda("resize", got.append)
    swf.start(lambdaRole="role")
    swf.decide(function(), function("m", input=""))
    swf.engine.settle()
    assert got == ["{}", "{}"]


def test_the_id_of_a_function_that_has_ended_is_free(swf):
    swf.engine.on_lambda("resize", lambda text: text)
    swf.start(lambdaRole="role")
    swf.decide(function())
    swf.engine.settle()
    swf.decide(function())
    swf.engine.settle()
    assert swf.types().count("LambdaFunctionCompleted") == 2


# --- 4.16: deprecation ------------------------------------------------------------------------


def retire(swf, *, delete):
    for kind, named in (("Activity", {"name": "charge", "version": "1"}), ("Workflow", ORDER)):
        request = {"domain": "shop", f"{kind.lower()}Type": named}
        swf.call(f"Deprecate{kind}Type", **request)
        if delete:
            swf.call(f"Delete{kind}Type", **request)


@pytest.mark.parametrize("delete", [False, True], ids=["deprecated", "deleted"])
def test_what_runs_goes_on_when_its_type_is_gone(swf, delete):
    run_id = swf.start()
    swf.decide(charge())
    retire(swf, delete=delete)
    swf.complete(swf.take())
    swf.decide(charge("b"), child())
    causes = {swf.last(f"{what}Failed")["cause"] for what in ("ScheduleActivityTask", "StartChildWorkflowExecution")}
    assert causes == (
        {"ACTIVITY_TYPE_DOES_NOT_EXIST", "WORKFLOW_TYPE_DOES_NOT_EXIST"}
        if delete
        else {"ACTIVITY_TYPE_DEPRECATED", "WORKFLOW_TYPE_DEPRECATED"}
    )
    swf.decide(DONE)
    assert swf.describe(run_id)["executionInfo"]["closeStatus"] == "COMPLETED"


def test_runs_of_a_deprecated_type_are_found_by_it(swf):
    swf.start()
    retire(swf, delete=False)
    request = {"domain": "shop", "startTimeFilter": {"oldestDate": 0}, "typeFilter": {"name": "order"}}
    assert swf.call("CountOpenWorkflowExecutions", **request)["count"] == 1


def test_a_child_goes_on_with_what_it_was_initiated_with(swf):
    swf.engine.hold_effects = True
    swf.start()
    swf.decide(child())
    retire(swf, delete=True)
    swf.engine.settle()
    assert swf.last("WorkflowExecutionStarted", workflow_id="c")["childPolicy"] == "TERMINATE"


# --- 5: quotas --------------------------------------------------------------------------------


def test_the_quotas_are_those_of_the_service():
    assert Quotas() == Quotas(
        domains=100,
        types=10_000,
        open_executions=100_000,
        open_activities=1_000,
        open_timers=1_000,
        open_children=1_000,
        open_lambda_functions=1_000,
        events=25_000,
        page_size=1_000,
        run_time=YEAR,
        page_token_life=86_400,
    )


LISTS = {
    "tags of an execution": ("StartWorkflowExecution", "tagList", 5),
    "tags of a child": ("StartChildWorkflowExecution", "tagList", 5),
    "tags of a continued run": ("ContinueAsNewWorkflowExecution", "tagList", 5),
}


@pytest.mark.parametrize(("what", "name", "most"), LISTS.values(), ids=LISTS)
def test_how_many_there_may_be(swf, what, name, most):
    def send(count):
        said = {name: [str(number) for number in range(count)]}
        if what == "StartWorkflowExecution":
            return swf.start("other", **said)
        options = {"workflowId": "c", "workflowType": ORDER} if what == "StartChildWorkflowExecution" else {}
        return swf.answer(task, decision(what, **options, **said))

    swf.start()
    task = swf.poll()
    with pytest.raises(InvalidRequest, match=f"Member must have length less than or equal to {most}"):
        send(most + 1)
    send(most)


@pytest.mark.parametrize(("seconds", "fits"), [("0", False), ("1", True), ("900", True), ("901", False)])
def test_a_lambda_function_runs_for_at_most_fifteen_minutes(swf, seconds, fits):
    swf.start()
    task = swf.poll()
    if fits:
        swf.answer(task, function(startToCloseTimeout=seconds))
    else:
        with pytest.raises(InvalidRequest, match="between 1 and 900"):
            swf.answer(task, function(startToCloseTimeout=seconds))


def test_a_full_history_ends_the_run_and_its_worker_is_told(swf):
    swf.engine.world.quotas = Quotas(events=8)
    run_id = swf.start()
    swf.decide(charge())
    task = swf.take()
    swf.signal()
    assert swf.types(run_id)[-2:] == ["DecisionTaskScheduled", "WorkflowExecutionTerminated"]
    with pytest.raises(UnknownResource, match="Unknown execution: WorkflowExecution="):
        swf.complete(task)


def test_a_run_ends_after_a_year_whatever_it_was_given(swf):
    run_id = swf.start(executionStartToCloseTimeout=str(2 * YEAR), taskStartToCloseTimeout="NONE")
    swf.engine.advance(YEAR)
    assert swf.types(run_id)[-1] == "WorkflowExecutionTimedOut"

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flowpy.errors import InvalidRequest, UnknownResource

EVER = {"oldestDate": datetime(2020, 1, 1, tzinfo=UTC)}


@pytest.fixture
def runs(swf, make):
    """Four runs, a minute apart: a and b (tagged) open, c completed, d terminated."""
    swf.call("RegisterWorkflowType", domain="shop", name="order", version="2")
    for workflow_id in "abcd":
        swf.start(workflow_id, tagList=["eu"] if workflow_id in "bd" else [])
        swf.engine.advance(60)
    while (task := swf.poll())["startedEventId"]:
        swf.answer(
            task, *([make("CompleteWorkflowExecution")] if task["workflowExecution"]["workflowId"] == "c" else [])
        )
    swf.engine.advance(60)
    swf.terminate("d")


def at(swf, minute):
    return datetime.fromtimestamp(1_767_268_800 + 60 * minute, UTC)


def listed(swf, state, **options):
    answer = swf.call(f"List{state}WorkflowExecutions", domain="shop", **options)
    counted = {name: value for name, value in options.items() if name.endswith("Filter")}
    if "maximumPageSize" not in options:
        count = swf.call(f"Count{state}WorkflowExecutions", domain="shop", **counted)
        assert count == {"count": len(answer["executionInfos"]), "truncated": False}
    return "".join(info["execution"]["workflowId"] for info in answer["executionInfos"])


FILTERS = {
    "newest first": ("Open", {}, "ba"),
    "oldest first": ("Open", {"reverseOrder": True}, "ab"),
    "closed": ("Closed", {}, "dc"),
    "by id": ("Open", {"executionFilter": {"workflowId": "a"}}, "a"),
    "by type": ("Open", {"typeFilter": {"name": "order"}}, "ba"),
    "by version": ("Open", {"typeFilter": {"name": "order", "version": "2"}}, ""),
    "by any version": ("Open", {"typeFilter": {"name": "order", "version": ""}}, "ba"),
    "by tag": ("Open", {"tagFilter": {"tag": "eu"}}, "b"),
    "by close": ("Closed", {"closeStatusFilter": {"status": "TERMINATED"}}, "d"),
}


@pytest.mark.parametrize(("state", "options", "expected"), FILTERS.values(), ids=FILTERS)
def test_lists_are_filtered(swf, runs, state, options, expected):
    assert listed(swf, state, startTimeFilter=EVER, **options) == expected


def test_dates_are_inclusive(swf, runs):
    assert listed(swf, "Open", startTimeFilter={"oldestDate": at(swf, 1)}) == "b"
    assert listed(swf, "Open", startTimeFilter={"oldestDate": at(swf, 0), "latestDate": at(swf, 0)}) == "a"
    assert listed(swf, "Closed", closeTimeFilter={"oldestDate": at(swf, 5)}) == "d"


def test_a_history_has_pages_both_ways(swf):
    run_id = swf.start()
    swf.signal()
    request = {"domain": "shop", "execution": {"workflowId": "w", "runId": run_id}, "maximumPageSize": 2}

    def ids(**options):
        page = swf.call("GetWorkflowExecutionHistory", **request, **options)
        return [event["eventId"] for event in page["events"]], page.get("nextPageToken")

    first, token = ids()
    assert (first, ids(nextPageToken=token)) == ([1, 2], ([3], None))
    first, token = ids(reverseOrder=True)
    swf.signal("between the pages")
    assert (first, ids(reverseOrder=True, nextPageToken=token)) == ([3, 2], ([1], None))
    with pytest.raises(InvalidRequest, match="Invalid token"):
        ids(nextPageToken="no")


def test_a_description_of_a_run_at_work(swf, make):
    run_id = swf.start(tagList=["eu"], taskPriority="1")
    swf.decide(
        make("ScheduleActivityTask", activityId="a", activityType={"name": "charge", "version": "1"}),
        make("StartTimer", timerId="t", startToFireTimeout="5"),
        make("CancelTimer", timerId="none"),
    )
    assert swf.describe(run_id) == {
        "executionInfo": {
            "execution": {"workflowId": "w", "runId": run_id},
            "workflowType": {"name": "order", "version": "1"},
            "startTimestamp": at(swf, 0),
            "executionStatus": "OPEN",
            "tagList": ["eu"],
            "cancelRequested": False,
        },
        "executionConfiguration": {
            "taskList": {"name": "deciders"},
            "taskPriority": "1",
            "childPolicy": "TERMINATE",
            "executionStartToCloseTimeout": "86400",
            "taskStartToCloseTimeout": "30",
        },
        "openCounts": {
            "openActivityTasks": 1,
            "openDecisionTasks": 1,
            "openTimers": 1,
            "openChildWorkflowExecutions": 0,
            "openLambdaFunctions": 0,
        },
        "latestActivityTaskTimestamp": at(swf, 0),
    }


def test_both_ids_must_fit(swf):
    run_id = swf.start()
    for execution in ({"workflowId": "other", "runId": run_id}, {"workflowId": "w", "runId": "other"}):
        with pytest.raises(UnknownResource, match="Unknown execution: WorkflowExecution="):
            swf.call("DescribeWorkflowExecution", domain="shop", execution=execution)


def test_answers_are_copies(swf):
    run_id = swf.start()
    swf.events(run_id)[0]["workflowExecutionStartedEventAttributes"]["taskList"]["name"] = "changed"
    swf.describe(run_id)["executionConfiguration"]["taskList"]["name"] = "changed"
    assert swf.last("WorkflowExecutionStarted")["taskList"] == {"name": "deciders"}

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from flowpy import errors
from flowpy.client import Client
from flowpy.declare import Signal, activity, workflow
from flowpy.local.engine import Engine
from flowpy.service.faults import fault

approval = Signal("approval", bool)


@dataclass
class Receipt:
    number: str
    cents: int


@workflow(name="order", execution_start_to_close_timeout="1h", task_list="main")
async def order(order_id: str, *, cents: int = 0) -> Receipt:
    return Receipt(order_id, cents)


class Service:
    """The engine, with faults on request."""

    def __init__(self):
        self.engine = Engine()
        self.faults = {}
        self.called = []

    def call(self, operation, request):
        self.called.append((operation, request))
        if self.faults.get(operation) and (error := self.faults[operation].pop(0)):
            raise error
        return self.engine.call(operation, request)


@pytest.fixture
def service():
    made = Service()
    made.engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
    made.engine.call(
        "RegisterWorkflowType", {"domain": "shop", "name": "order", "version": "1.0", **order.registered.defaults()}
    )
    return made


@pytest.fixture
def client(service):
    """A client whose waiting moves the engine's clock."""
    return Client("shop", service, sleep=service.engine.advance, clock=service.engine.clock.now)


def decide(service, *decisions, context=None):
    """Answer the next decision task."""
    task = service.engine.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}})
    request = {"taskToken": task["taskToken"], "decisions": list(decisions)}
    if context is not None:
        request["executionContext"] = context
    service.engine.call("RespondDecisionTaskCompleted", request)


def close(kind, **attributes):
    return {"decisionType": kind, f"{kind[0].lower()}{kind[1:]}DecisionAttributes": attributes}


def complete(result):
    return close("CompleteWorkflowExecution", result=result)


def started(service, run):
    return run.history()[0]["workflowExecutionStartedEventAttributes"]


# --- starting -----------------------------------------------------------------------------------


def test_a_start_carries_the_arguments_and_only_the_options_given(client, service):
    run = client.start(order, "o-7", workflow_id="order-7", tag_list=["eu"], task_start_to_close_timeout="1m")
    (request,) = [request for operation, request in service.called if operation == "StartWorkflowExecution"]
    assert request == {
        "domain": "shop",
        "workflowId": "order-7",
        "workflowType": {"name": "order", "version": "1.0"},
        "input": '["o-7"]',
        "tagList": ["eu"],
        "taskStartToCloseTimeout": "60",
    }
    assert run.workflow_id == "order-7"
    assert started(service, run)["executionStartToCloseTimeout"] == "3600"


def test_keyword_only_arguments(client, service):
    run = client.start(order, "o-7", kwargs={"cents": 4200})
    assert json.loads(started(service, run)["input"]) == {"args": ["o-7"], "kwargs": {"cents": 4200}}


def test_arguments_that_do_not_fit_are_refused_here(client):
    with pytest.raises(TypeError, match="order"):
        client.start(order)


def test_a_workflow_id_is_made_up_if_none_is_given(client):
    first, second = client.start(order, "o-7"), client.start(order, "o-7")
    assert first.workflow_id != second.workflow_id
    assert len(first.workflow_id) == 36


def test_options_of_the_workflow_are_kept(client, service):
    run = client.start(order.options(child_policy="ABANDON", workflow_id="mine"), "o-7", task_list="eu")
    assert run.workflow_id == "mine"
    assert started(service, run)["childPolicy"] == "ABANDON"
    assert started(service, run)["taskList"] == {"name": "eu"}


def test_a_type_may_be_given_by_name(client, service):
    run = client.start("order", "o-7", version="1.0", task_list="eu")
    assert started(service, run)["input"] == '["o-7"]'
    with pytest.raises(errors.UnknownResource):
        client.start("order", version="9.9")


def test_an_unknown_option_is_refused_with_the_right_name(client):
    with pytest.raises(errors.DeclarationError, match="task_list"):
        client.start(order, "o-7", taskList="eu")


def test_arguments_given_as_options_are_told_apart(client):
    with pytest.raises(errors.DeclarationError, match=r"order_id: keywords are options here.*kwargs"):
        client.start(order, order_id="o-7")


def test_what_is_no_workflow_is_refused(client):
    with pytest.raises(errors.DeclarationError, match="give what @workflow made"):
        client.start(order.fn, "o-7")


def test_a_version_beside_a_declared_workflow_is_refused(client):
    with pytest.raises(errors.DeclarationError, match="version"):
        client.start(order, "o-7", version="2.0")


@pytest.mark.parametrize("workflow_id", ["a:b", "a/b", "", "x" * 257])
def test_ids_that_swf_refuses_are_refused_here(client, workflow_id):
    with pytest.raises(errors.DeclarationError):
        client.start(order, "o-7", workflow_id=workflow_id or " ")


def test_arguments_too_large_are_refused_here(client):
    with pytest.raises(errors.PayloadTooLarge):
        client.start(order, "x" * 40_000)


def test_an_open_workflow_id_is_refused_or_attached_to(client):
    run = client.start(order, "o-7", workflow_id="order-7")
    with pytest.raises(errors.AlreadyExists):
        client.start(order, "o-7", workflow_id="order-7")
    assert client.start(order, "o-7", workflow_id="order-7", attach=True).run_id == run.run_id


def test_a_start_that_was_throttled_is_tried_again_one_that_may_have_been_received_is_not(client, service):
    service.faults["StartWorkflowExecution"] = [fault("ThrottlingException", "Rate exceeded", "x")]
    client.start(order, "o-7")
    service.faults["StartWorkflowExecution"] = [fault("ReadTimeoutError", "", "x", status=503)]
    with pytest.raises(errors.ServiceUnavailable, match="not known"):
        client.start(order, "o-7")


# --- telling ------------------------------------------------------------------------------------


def test_signals_carry_json(client):
    run = client.start(order, "o-7")
    run.signal(approval, True)
    run.signal("note")
    signals = [e["workflowExecutionSignaledEventAttributes"] for e in run.history() if "Signaled" in e["eventType"]]
    assert [(s["signalName"], s["input"]) for s in signals] == [("approval", "true"), ("note", "null")]


def test_cancel_and_terminate(client):
    run = client.start(order, "o-7")
    run.cancel()
    assert run.describe().cancel_requested
    run.terminate("wrong order", details={"by": "ada"}, child_policy="ABANDON")
    told = run.history()[-1]["workflowExecutionTerminatedEventAttributes"]
    assert (told["reason"], told["details"], told["childPolicy"]) == ("wrong order", '{"by": "ada"}', "ABANDON")


def test_a_workflow_id_alone_reaches_the_open_run(client):
    client.start(order, "o-7", workflow_id="order-7")
    client.run("order-7").signal(approval, True)
    client.run("order-7").terminate()
    with pytest.raises(errors.UnknownResource):
        client.run("order-7").signal(approval, True)
    assert client.run("order-7").describe().close_status == "TERMINATED"


def test_a_closed_run_is_not_mistaken_for_the_open_one(client):
    first = client.start(order, "o-7", workflow_id="order-7")
    first.terminate()
    client.start(order, "o-7", workflow_id="order-7")
    with pytest.raises(errors.UnknownResource):
        first.signal(approval, True)


def test_a_run_that_continued_as_new_is_still_reached(client, service):
    run = client.start(order, "o-7", workflow_id="order-7")
    decide(service, close("ContinueAsNewWorkflowExecution", input='["o-8"]'))
    run.signal(approval, True)
    assert client.run("order-7").history()[-1]["eventType"] != "WorkflowExecutionContinuedAsNew"
    assert any(e["eventType"] == "WorkflowExecutionSignaled" for e in client.run("order-7").history())


# --- asking -------------------------------------------------------------------------------------


def test_a_description(client, service):
    run = client.start(order, "o-7", workflow_id="order-7", tag_list=["eu"])
    timer = close("StartTimer", timerId="timer-1", startToFireTimeout="60")
    decide(service, timer, context='{"flowpy": 1, "python": "3.12", "state": {"step": "waiting"}}')
    told = run.describe()
    assert (told.workflow_id, told.run_id, told.workflow_type) == ("order-7", run.run_id, ("order", "1.0"))
    assert (told.status, told.close_status, told.close_time) == ("OPEN", None, None)
    assert told.start_time.tzinfo is not None
    assert told.tag_list == ("eu",)
    assert (told.open_counts.timers, told.open_counts.activity_tasks) == (1, 0)
    assert told.task_list == "main"
    assert told.state == {"step": "waiting"}
    assert told.context.python == "3.12"


def test_a_description_without_context(client):
    told = client.start(order, "o-7").describe()
    assert told.state is None
    assert told.open_counts.decision_tasks == 1


def test_an_unknown_run(client):
    with pytest.raises(errors.UnknownResource, match="no run of workflow 'nobody'"):
        client.run("nobody").describe()


def test_lists(client, service):
    first = client.start(order, "o-1", workflow_id="one", tag_list=["eu"])
    client.start(order, "o-2", workflow_id="two")
    assert {run.workflow_id for run in client.list_open()} == {"one", "two"}
    assert [run.workflow_id for run in client.list_open(tag="eu")] == ["one"]
    assert len(list(client.list_open(workflow=order))) == 2
    assert list(client.list_open(workflow="bill")) == []
    first.terminate()
    (closed,) = client.list_closed(status="TERMINATED")
    assert (closed.workflow_id, closed.status) == ("one", "CLOSED")
    assert list(client.list_closed(since=closed.start_time.replace(year=closed.start_time.year + 1))) == []
    assert closed.start_time.astimezone(UTC) == closed.start_time
    with pytest.raises(errors.DeclarationError, match="workflow=5 is no type; give a declared workflow, a name"):
        list(client.list_open(workflow=5))


def test_filters_hold_together_and_swf_applies_the_narrowest(client, service):
    for name, tags in (("one", ["eu", "big"]), ("two", ["eu"]), ("three", ["us", "big"])):
        client.start(order, name, workflow_id=name, tag_list=tags)

    def listed(**filters):
        asked.clear()
        return [one.workflow_id for one in client.list_open(**filters)]

    asked, call = [], service.call
    client.service = type("Asked", (), {"call": lambda _, *given: (asked.append(given[1]), call(*given))[1]})()
    assert listed(tag=["eu", "big"]) == ["one"]
    assert listed(tag="eu", workflow=order, workflow_id="two") == ["two"]
    assert {"executionFilter", "tagFilter", "typeFilter"} & asked[0].keys() == {"executionFilter"}
    assert listed(tag="big", workflow=("order", "2.0")) == []
    assert sorted(listed(tag="big", workflow=("order", "1.0"))) == ["one", "three"]
    client.service = service
    closed = {name: client.run(name) for name in ("one", "two")}
    for run in closed.values():
        run.terminate()
    (told,) = client.list_closed(tag="big", status="TERMINATED", closed_since=datetime(2000, 1, 1, tzinfo=UTC))
    assert told.workflow_id == "one"
    later = told.start_time + timedelta(days=1)
    assert list(client.list_closed(since=later, closed_since=datetime(2000, 1, 1, tzinfo=UTC))) == []
    assert list(client.list_closed(tag="big", status="COMPLETED")) == []


def test_lists_between_two_times(client, service):
    client.start(order, "o-1", workflow_id="one").terminate()
    (closed,) = client.list_closed()
    before, after = closed.start_time - timedelta(days=1), closed.close_time + timedelta(days=1)
    assert [run.workflow_id for run in client.list_closed(since=before, until=after)] == ["one"]
    assert [run.workflow_id for run in client.list_closed(closed_since=before, closed_until=after)] == ["one"]
    assert list(client.list_closed(until=before)) == list(client.list_closed(closed_until=before)) == []
    client.start(order, "o-2", workflow_id="two")
    assert list(client.list_open(until=before)) == []
    assert [run.workflow_id for run in client.list_closed(since=before, closed_since=before)] == ["one"]
    assert list(client.list_closed(until=before, closed_since=before)) == []


def test_a_query_needs_the_code(client):
    client.start(order, "o-7", workflow_id="order-7")
    with pytest.raises(errors.CallError, match=r"client\.run\('order-7', workflow="):
        client.run("order-7").query("status")


# --- results ------------------------------------------------------------------------------------


def test_a_result_has_the_workflows_return_type(client, service):
    run = client.start(order, "o-7")
    decide(service, complete('{"number": "r-1", "cents": 4200}'))
    assert run.result() == Receipt("r-1", 4200)


def test_without_the_code_a_result_is_plain_data(client, service):
    run = client.start("order", "o-7")
    decide(service, complete('{"number": "r-1"}'))
    assert run.result() == {"number": "r-1"}


def test_a_result_that_does_not_fit_says_so(client, service):
    run = client.start(order, "o-7")
    decide(service, complete('{"number": 1}'))
    with pytest.raises(errors.PayloadNotDecodable):
        run.result()


def test_a_result_is_waited_for_with_growing_intervals(service):
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        service.engine.advance(seconds)
        if len(waits) == 20:
            decide(service, complete("null"))

    client = Client("shop", service, sleep=sleep, clock=service.engine.clock.now)
    run = client.start("order", "o-7")
    assert run.result() is None
    assert waits[0] < 0.2
    assert 5.0 <= waits[-1] <= 10.0
    assert all(later > earlier * 0.5 for earlier, later in pairwise(waits))


def test_waiting_may_be_bounded(client):
    run = client.start(order, "o-7")
    before = client.clock()
    with pytest.raises(errors.ResultNotReady, match=r"still open after 300 s$"):
        run.result(timeout="5m")
    assert client.clock() - before == pytest.approx(300)
    with pytest.raises(TimeoutError):
        run.result(timeout=0)


def test_throttling_does_not_end_the_waiting(client, service):
    run = client.start(order, "o-7")
    decide(service, complete('{"number": "r-1", "cents": 1}'))
    service.faults["GetWorkflowExecutionHistory"] = [fault("ThrottlingException", "Rate exceeded", "x")] * 3
    assert run.result().number == "r-1"


def test_a_run_that_continues_as_new_is_followed(client, service):
    run = client.start(order, "o-7")
    decide(service, close("ContinueAsNewWorkflowExecution", input='["o-8"]'))
    decide(service, close("ContinueAsNewWorkflowExecution", input='["o-9"]'))
    decide(service, complete('{"number": "r-3", "cents": 3}'))
    assert run.result().number == "r-3"


def test_a_failure_is_typed_and_carries_its_record(client, service):
    run = client.start(order, "o-7", workflow_id="order-7")
    details = json.dumps(
        {"type": "Declined", "module": "shop", "message": "card", "traceback": "", "cause": None, "data": 7}
    )
    decide(service, close("FailWorkflowExecution", reason="Declined: card", details=details))
    with pytest.raises(errors.WorkflowFailed, match=r"order-7.*failed: Declined: card") as caught:
        run.result()
    assert (caught.value.failure.type, caught.value.failure.data) == ("Declined", 7)
    assert (caught.value.type, caught.value.data) == ("Declined", 7)
    assert (caught.value.reason, caught.value.run_id) == ("Declined: card", run.run_id)


def test_a_cancelled_run(client, service):
    run = client.start(order, "o-7")
    decide(service, close("CancelWorkflowExecution", details='"stopped by ada"'))
    with pytest.raises(errors.WorkflowCanceled) as caught:
        run.result()
    assert caught.value.details == '"stopped by ada"'


def test_a_terminated_run(client):
    run = client.start(order, "o-7")
    run.terminate("wrong order")
    with pytest.raises(errors.WorkflowTerminated, match="was terminated: wrong order"):
        run.result()


def test_a_run_that_timed_out(client):
    run = client.start(order, "o-7")
    with pytest.raises(errors.WorkflowTimedOut, match="START_TO_CLOSE"):
        run.result()


def test_an_id_without_a_run_has_no_result(client):
    with pytest.raises(errors.UnknownResource):
        client.run("nobody").result()


# --- manual activities --------------------------------------------------------------------------


@pytest.fixture
def token(client, service):
    """The token of a task of a manual activity that somebody else took."""
    service.engine.call("RegisterActivityType", {"domain": "shop", "name": "approve", "version": "1.0"})
    client.start(order, "o-7", workflow_id="order-7")
    timeouts = dict.fromkeys(("scheduleToStart", "scheduleToClose", "startToClose", "heartbeat"), "NONE")
    schedule = close(
        "ScheduleActivityTask",
        activityId="approve-1",
        activityType={"name": "approve", "version": "1.0"},
        taskList={"name": "people"},
        **{f"{name}Timeout": value for name, value in timeouts.items()},
    )
    decide(service, schedule)
    taken = service.engine.call("PollForActivityTask", {"domain": "shop", "taskList": {"name": "people"}})
    return taken["taskToken"]


@pytest.fixture
def task(client, token):
    return client.activity(token)


def last(client):
    event = client.run("order-7").history()[-2]
    return event["eventType"], event[event["eventType"][0].lower() + event["eventType"][1:] + "EventAttributes"]


def test_a_manual_activity_is_completed_by_its_token(client, task):
    task.complete({"by": "ada"})
    kind, told = last(client)
    assert (kind, told["result"]) == ("ActivityTaskCompleted", '{"by": "ada"}')
    with pytest.raises(errors.UnknownResource):
        task.complete()


def test_a_manual_activity_is_failed_by_its_token(client, task):
    task.fail(ValueError("no address"))
    kind, told = last(client)
    assert (kind, told["reason"]) == ("ActivityTaskFailed", "ValueError: no address")


def test_a_manual_activity_learns_of_its_cancel_by_heartbeat(client, service, task):
    assert task.heartbeat({"seen": 1}) is False
    client.run("order-7").signal(approval, True)
    decide(service, close("RequestCancelActivityTask", activityId="approve-1"))
    assert task.heartbeat() is True
    task.cancel("stopped")
    kind, told = last(client)
    assert (kind, told["details"]) == ("ActivityTaskCanceled", '"stopped"')


@activity(name="approve", manual=True)
def approve(order_id: str) -> Receipt: ...


def test_a_result_that_is_none_of_the_activitys_is_refused_before_it_is_sent(client, token):
    typed = client.activity(token, approve)
    with pytest.raises(errors.PayloadNotDecodable, match="result of activity 'approve'"):
        typed.complete("yes")
    typed.complete(Receipt("r-1", 4200))
    assert last(client)[1]["result"] == '{"number": "r-1", "cents": 4200}'


@pytest.mark.parametrize("given", ["no address", ValueError, None])
def test_what_is_no_exception_fails_no_activity(client, task, given):
    with pytest.raises(errors.DeclarationError, match="is no exception; give one"):
        task.fail(given)
    assert last(client)[0] != "ActivityTaskFailed"


@pytest.mark.parametrize("given", ["", None, "x" * 1025])
def test_what_is_no_token_is_refused(client, given):
    with pytest.raises(errors.DeclarationError, match="activity: task_token: "):
        client.activity(given)


def test_what_is_no_activity_is_refused(client):
    with pytest.raises(errors.DeclarationError, match="is no activity"):
        client.activity("token-1", order)


@pytest.mark.parametrize("error", ["ThrottlingException", "ReadTimeoutError", "EndpointConnectionError"])
def test_a_completion_is_tried_again_while_the_service_does_not_answer(client, service, task, error):
    service.faults["RespondActivityTaskCompleted"] = [fault(error, "", "x", status=503)] * 3
    service.faults["RespondActivityTaskCompleted"].append(None)
    task.complete("yes")
    assert last(client)[0] == "ActivityTaskCompleted"


def test_a_completion_is_given_up_after_a_minute(client, service, task):
    class Down(list):
        def pop(self, at):
            return self[0]

    service.faults["RespondActivityTaskCompleted"] = Down([fault("ReadTimeoutError", "", "x", status=503)])
    begin = client.clock()
    with pytest.raises(errors.ServiceUnavailable):
        task.complete("yes")
    assert 30 < client.clock() - begin <= 60


def test_a_task_that_an_unanswered_attempt_may_have_closed_is_told_so(client, service, task):
    service.faults["RespondActivityTaskFailed"] = [
        fault("ReadTimeoutError", "", "x", status=503),
        fault("UnknownResourceFault", "Unknown activity", "x"),
    ]
    with pytest.raises(errors.UnknownResource, match="may be what closed it"):
        task.fail(ValueError("no address"))


def test_heartbeat_details_have_their_limit(task):
    with pytest.raises(errors.PayloadTooLarge):
        task.heartbeat("x" * 3000)


# --- making -------------------------------------------------------------------------------------


def test_making_a_client_reaches_nothing():
    made = Client("shop", region_name="eu-west-1", endpoint_url="http://127.0.0.1:9")
    assert repr(made) == "<Client of domain 'shop'>"
    with made:
        pass


def test_a_boto3_client_is_to_be_wrapped():
    with pytest.raises(errors.DeclarationError, match=r"BotoService\(client\)"):
        Client("shop", object())


def test_boto3s_options_beside_a_service_are_refused(service):
    with pytest.raises(errors.DeclarationError, match="region_name"):
        Client("shop", service, region_name="eu-west-1")

"""Interceptors around what a client calls."""

from __future__ import annotations

import pytest
from attrs import evolve

from flowpy.client import Client
from flowpy.declare import workflow
from flowpy.errors import DeclarationError, Throttled, UnknownResource
from flowpy.interceptors import Interceptor


@workflow
async def order(order_id: str) -> str: ...


class Recorder:
    def __init__(self, *replies):
        self.replies = list(replies)
        self.called = []

    def call(self, operation, request):
        self.called.append((operation, request))
        reply = self.replies.pop(0) if self.replies else {}
        if isinstance(reply, Exception):
            raise reply
        return reply


def seen_by(seen):
    def around(call, proceed):
        seen.append((call.operation, call.workflow and call.workflow.name))
        return proceed(call)

    return Interceptor(client=around)


def test_they_see_every_operation_with_its_request():
    seen = []
    service = Recorder({"runId": "r-1"}, *[{}] * 4, {"executionInfos": []})
    client = Client("shop", service, interceptors=[seen_by(seen)])

    run = client.start(order, "o-7", workflow_id="order-7")
    run.signal("approval", True)
    run.cancel()
    run.terminate("enough")
    client.activity("token").complete("done")
    list(client.list_open())

    assert seen == [
        ("StartWorkflowExecution", "order"),
        ("SignalWorkflowExecution", None),
        ("RequestCancelWorkflowExecution", None),
        ("TerminateWorkflowExecution", None),
        ("RespondActivityTaskCompleted", None),
        ("ListOpenWorkflowExecutions", None),
    ]


def test_they_may_send_another_request_and_give_another_reply():
    def tagged(call, proceed):
        reply = proceed(evolve(call, request={**call.request, "tagList": ["audited"]}))
        return {"runId": reply["runId"].upper()}

    service = Recorder({"runId": "r-1"})

    run = Client("shop", service, interceptors=[Interceptor(client=tagged)]).start(order, "o-7")

    assert service.called[0][1]["tagList"] == ["audited"]
    assert run.run_id == "R-1"


def test_they_may_refuse():
    def refuse(call, proceed):
        raise PermissionError(call.operation)

    service = Recorder()

    with pytest.raises(PermissionError, match="StartWorkflowExecution"):
        Client("shop", service, interceptors=[Interceptor(client=refuse)]).start(order, "o-7")
    assert service.called == []


def test_one_that_forgets_the_reply_is_told_so():
    def forget(call, proceed):
        proceed(call)

    service = Recorder({"runId": "R-1"})
    with pytest.raises(DeclarationError, match="around StartWorkflowExecution gave NoneType; give what proceed"):
        Client("shop", service, interceptors=[Interceptor(client=forget)]).start(order, "o-7")


def test_they_stand_around_all_attempts_of_a_call_and_see_how_it_ends():
    seen, failed = [], []

    def watch(call, proceed):
        try:
            return proceed(call)
        except UnknownResource as error:
            failed.append(error.fault)
            raise

    service = Recorder(
        Throttled("slow down", fault="ThrottlingException"), UnknownResource("no", fault="UnknownResourceFault")
    )
    client = Client(
        "shop", service, sleep=lambda seconds: None, interceptors=[seen_by(seen), Interceptor(client=watch)]
    )

    with pytest.raises(UnknownResource):
        client.start(order, "o-7")
    assert (len(service.called), len(seen), failed) == (2, 1, ["UnknownResourceFault"])

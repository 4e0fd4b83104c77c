"""Interceptors in the testing kit: around what a test runs, and around workflows in replays and queries."""

from __future__ import annotations

import pytest

import flowpy
from flowpy.errors import DeclarationError, NonDeterminismError
from flowpy.interceptors import Interceptor, surrounded
from flowpy.testing import Environment


@flowpy.activity
def record(what: str) -> str:
    return what


@flowpy.workflow
class Counter:
    def __init__(self) -> None:
        self.total = 0

    @flowpy.execute
    async def run(self) -> int:
        await flowpy.sleep("1d")
        return self.total

    @flowpy.signal("add")
    def add(self, amount: int) -> None:
        self.total += amount

    @flowpy.query
    def so_far(self) -> int:
        return self.total


async def recorded(call, proceed):
    await record(f"{call.workflow.name} begins")
    made = await proceed(call)
    await record(f"{call.workflow.name} ends")
    return made


RECORDS = Interceptor(workflow=recorded)


def test_all_three_kinds_stand_around_what_a_test_runs():
    said = []

    def activity(call, proceed):
        said.append(call.args)
        return proceed(call)

    def client(call, proceed):
        said.append(call.operation)
        return proceed(call)

    with Environment(interceptors=[RECORDS, Interceptor(activity=activity, client=client)]) as swf:
        run = swf.start(Counter)
        run.signal("add", 3)
        assert run.result() == 3
    assert [each for each in said if not str(each).startswith("Get")] == [
        "StartWorkflowExecution",
        ("Counter begins",),
        "SignalWorkflowExecution",
        ("Counter ends",),
    ]


def test_replays_and_queries_need_those_that_decide():
    with Environment(interceptors=[RECORDS]) as swf:
        run = swf.start(Counter)
        run.signal("add", 3)
        history = run.history()
        known = swf.client.run(run.workflow_id, workflow=surrounded(Counter, [RECORDS]))
        unknown = swf.client.run(run.workflow_id, workflow=Counter)

        assert known.query("so_far") == 3
        with pytest.raises(NonDeterminismError):
            unknown.query("so_far")
    assert flowpy.testing.replay(surrounded(Counter, [RECORDS]), history).ok


def test_a_workflow_without_any_is_itself():
    assert surrounded(Counter, [Interceptor(activity=recorded)]) is Counter
    with pytest.raises(DeclarationError, match=r"surrounded: 3 is no flowpy.interceptors.Interceptor"):
        surrounded(Counter, [3])


def test_stubbed_activities_are_intercepted_too():
    def loud(call, proceed):
        return proceed(call).upper()

    @flowpy.workflow
    async def once() -> str:
        return await record("quiet")

    with Environment(interceptors=[Interceptor(activity=loud)]) as swf:
        swf.stub(record, returns="stubbed")
        assert swf.run(once) == "STUBBED"

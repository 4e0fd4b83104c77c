"""Interceptors around workflows: workflow code like any other, run again in every replay, in the main task."""

from __future__ import annotations

import asyncio
import json

import pytest
from attrs import evolve

import flowpy
from flowpy.errors import NonDeterminismError
from flowpy.interceptors import Interceptor, surrounded
from flowpy.local.engine import Engine, VirtualClock
from flowpy.runtime.decider import Decider, DecisionTask

POLL = {"domain": "shop", "taskList": {"name": "list"}}


@flowpy.activity(name="charge", heartbeat_timeout="NONE")
def charge(cents: int) -> str: ...


@flowpy.activity(name="audit", heartbeat_timeout="NONE")
def audit(text: str) -> None: ...


@flowpy.workflow(name="order")
async def order(cents: int) -> str:
    await flowpy.sleep(60)
    return await charge(cents)


@flowpy.workflow(name="order")
def plain_order(cents: int) -> str:
    flowpy.sleep(60).result()
    return charge(cents).result()


@flowpy.workflow(name="order")
class ClassOrder:
    @flowpy.execute
    async def run(self, cents: int) -> str:
        await flowpy.sleep(60)
        return await charge(cents)


WORKFLOWS = pytest.mark.parametrize("workflow", [order, plain_order, ClassOrder], ids=["async def", "def", "class"])


class Shop:
    """One run; each decision is made by a decider that never saw it and by one that keeps it, which must agree."""

    def __init__(self, workflow, arounds, cents=42):
        self.workflow, self.engine = workflow, Engine(VirtualClock(1_767_268_800.0))
        self.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")
        for each in (workflow, charge, audit):
            kind = "Activity" if each in (charge, audit) else "Workflow"
            named = {"name": each.name, "version": each.version}
            self.call(f"Register{kind}Type", domain="shop", **named, **each.registered.defaults("list"))
        type_ = {"name": "order", "version": workflow.version}
        start = {"workflowId": "w", "workflowType": type_, "input": f"[{cents}]"}
        self.run_id = self.call("StartWorkflowExecution", domain="shop", **start)["runId"]
        self.decider = Decider([surrounded(workflow, [Interceptor(workflow=each) for each in arounds])])
        self.kept = None

    def call(self, operation, **request):
        return self.engine.call(operation, request)

    def decide(self, decider=None):
        task = self.call("PollForDecisionTask", **POLL)
        polled = DecisionTask("w", self.run_id, ("order", self.workflow.version), task["events"], domain="shop")
        answer = (decider or self.decider).decide(polled)
        if self.kept is None:
            self.kept = self.decider.load(polled)
        kept = self.decider.answer(self.kept, task["events"][self.kept.episodes.last_event_id :])
        assert kept == answer
        context = {} if answer.execution_context is None else {"executionContext": answer.execution_context}
        self.call("RespondDecisionTaskCompleted", taskToken=task["taskToken"], decisions=answer.decisions, **context)
        return [told(each) for each in answer.decisions]

    def complete(self, value):
        task = self.call("PollForActivityTask", **POLL)
        self.call("RespondActivityTaskCompleted", taskToken=task["taskToken"], result=json.dumps(value))

    def through(self):
        """The whole run; gives what was decided, each decision a line."""
        made = [self.decide()]
        self.engine.advance(60)
        made.append(self.decide())
        self.complete("r-1")
        return [*made, self.decide()]

    def close(self):
        if self.kept is not None:
            self.kept.evict()


def told(decision):
    kind = decision["decisionType"]
    attributes = decision[f"{kind[0].lower()}{kind[1:]}DecisionAttributes"]
    said = (attributes.get(name) for name in ("activityId", "timerId", "input", "result", "reason"))
    return " ".join([kind, *(each for each in said if each)])


@pytest.fixture
def shop():
    made = []

    def make(workflow, *arounds, **options):
        made.append(Shop(workflow, list(arounds), **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def plain(call, proceed):
    return f"<{proceed(call)}>"


async def awaiting(call, proceed):
    return f"({await proceed(call)})"


USUAL = [["StartTimer timer-1"], ["ScheduleActivityTask charge-1 [42]"]]


@WORKFLOWS
@pytest.mark.parametrize(
    ("arounds", "result"),
    [
        ([plain], '"<r-1>"'),
        ([awaiting], '"(r-1)"'),
        ([plain, awaiting], '"<(r-1)>"'),
        ([awaiting, plain, plain, awaiting], '"(<<(r-1)>>)"'),
    ],
    ids=["plain", "awaiting", "plain awaiting", "four"],
)
def test_every_kind_stands_around_every_kind_and_changes_no_id(workflow, arounds, result, shop):
    assert shop(workflow, *arounds).through() == [*USUAL, [f"CompleteWorkflowExecution {result}"]]


@WORKFLOWS
def test_they_see_the_run_and_may_change_the_arguments(workflow, shop):
    seen = []

    def around(call, proceed):
        seen.append((call.workflow.name, call.args, call.kwargs, flowpy.info().workflow_id, flowpy.is_replaying()))
        return proceed(evolve(call, args=(call.args[0] + 1,)))

    decided = shop(workflow, around).through()

    assert decided[1] == ["ScheduleActivityTask charge-1 [43]"]
    # Each cold replay runs them again; what is kept ran them once.
    told_as = ("order", (42,), {}, "w")
    assert seen == [(*told_as, False)] * 2 + [(*told_as, True)] * 2


@WORKFLOWS
@pytest.mark.parametrize("colour", ["plain", "awaiting"])
def test_they_may_decide_like_other_workflow_code(workflow, colour, shop):
    def auditing(call, proceed):
        audit("begins").result()
        return proceed(call)

    async def async_auditing(call, proceed):
        await audit("begins")
        return await proceed(call)

    run = shop(workflow, auditing if colour == "plain" else async_auditing)

    assert run.decide() == ['ScheduleActivityTask audit-1 ["begins"]']
    run.complete(None)
    assert run.through() == [*USUAL, ['CompleteWorkflowExecution "r-1"']]


@WORKFLOWS
def test_one_that_decides_is_missed_when_it_goes(workflow, shop):
    def auditing(call, proceed):
        audit("begins")
        return proceed(call)

    run = shop(workflow, auditing)
    run.decide()
    run.engine.advance(60)

    with pytest.raises(NonDeterminismError, match="audit"):
        run.decide(Decider([workflow]))


@WORKFLOWS
def test_they_see_how_it_ends_and_may_end_it_otherwise(workflow, shop):
    async def softened(call, proceed):
        try:
            return await proceed(call)
        except flowpy.ActivityFailed as error:
            return f"softened: {error.reason}"

    run = shop(workflow, plain, softened)
    run.decide()
    run.engine.advance(60)
    run.decide()
    task = run.call("PollForActivityTask", **POLL)
    run.call("RespondActivityTaskFailed", taskToken=task["taskToken"], reason="Busy")

    assert run.decide() == ['CompleteWorkflowExecution "<softened: Busy>"']


def test_what_they_raise_fails_the_run(shop):
    def refuse(call, proceed):
        raise PermissionError(f"{call.args[0]} is too much")

    assert shop(order, refuse).decide() == ["FailWorkflowExecution PermissionError: 42 is too much"]


@WORKFLOWS
@pytest.mark.parametrize("around", [plain, awaiting], ids=["plain", "awaiting"])
def test_a_cancel_goes_through_them(workflow, around, shop):
    run = shop(workflow, around)
    run.decide()
    run.call("RequestCancelWorkflowExecution", domain="shop", workflowId="w")

    assert run.decide() == ["CancelTimer timer-1", "CancelWorkflowExecution"]


@pytest.mark.parametrize("around", [plain, awaiting], ids=["plain", "awaiting"])
def test_continuing_as_new_goes_through_them(around, shop):
    @flowpy.workflow(name="order")
    async def again(cents: int) -> str:
        await flowpy.sleep(1)
        flowpy.continue_as_new(cents + 1)

    run = shop(again, around)
    run.decide()
    run.engine.advance(1)

    assert run.decide() == ["ContinueAsNewWorkflowExecution [43]"]


@WORKFLOWS
@pytest.mark.parametrize("around", [plain, awaiting], ids=["plain", "awaiting"])
def test_leaving_memory_closes_them_and_decides_nothing(workflow, around, shop):
    left = []

    def plain_watch(call, proceed):
        try:
            return proceed(call)
        except BaseException as error:
            left.append(type(error).__name__)
            raise

    run = shop(workflow, around, plain_watch, around)
    run.decide()
    left.clear()  # the cold replay has left memory
    run.close()

    assert left in (["GreenletExit"], ["GeneratorExit"])


def test_sleeping_and_tasks_of_their_own_are_workflow_code_too(shop):
    async def slow(call, proceed):
        await asyncio.sleep(5)
        return await asyncio.create_task(proceed(call))

    run = shop(order, slow)
    assert run.decide() == ["StartTimer timer-1"]
    run.engine.advance(5)
    # The task that the interceptor made has a path of its own, as any other has.
    assert run.decide() == ["StartTimer t1.timer-1"]

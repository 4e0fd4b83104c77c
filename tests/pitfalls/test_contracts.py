"""What CONTRACTS promises about ids, payloads and batches, worked out here from its text and not from the code."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
import uuid
from typing import Any

import pytest

import flowpy
from flowpy import activity, asynchronous, execute, signal, workflow
from flowpy.testing import replay

from .build import Run, attributes_of, told

go = flowpy.Signal("go")
item = flowpy.Signal("item", str)


@activity
def step(name: str = "") -> str: ...


@activity
def merge(parts: list) -> str: ...


@workflow
async def ship(order_id: str) -> str: ...


def sha(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def input_of(decision: dict[str, Any]) -> Any:
    return json.loads(attributes_of(decision)["input"])


# --- ids ------------------------------------------------------------------------------------


def test_child_id_is_made_of_the_parents_ids() -> None:
    @workflow
    async def parent() -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(inner())
        return await ship("o")

    async def inner() -> None:
        await ship("o")

    run = Run(parent, workflow_id="order-7")
    digest = hashlib.sha256(b"r-1").hexdigest()[:8]
    assert run.decide() == [f"StartChildWorkflowExecution order-7.t1.ship-1.{digest}"]
    run.child_completes(f"order-7.t1.ship-1.{digest}", "S")
    assert run.decide() == [f"StartChildWorkflowExecution order-7.ship-1.{digest}"]
    run.replays_with(parent)


def test_id_longer_than_swf_takes_is_cut_and_ends_in_a_digest() -> None:
    name = "n" * 255
    long = activity(name=name)(lambda_like)

    @workflow
    async def calling() -> str:
        return await long()

    (decision,) = Run(calling).offered()
    whole = f"{name}-1"
    expected = f"{whole[:200]}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"
    assert attributes_of(decision)["activityId"] == expected


def lambda_like() -> str: ...


def test_spawned_tasks_number_from_their_parent() -> None:
    async def leaf() -> str:
        return await step("leaf")

    async def branch() -> str:
        a, b = asyncio.create_task(leaf()), asyncio.create_task(leaf())
        return await a + await b

    @asynchronous
    async def method() -> str:
        return await step("method")

    @workflow
    async def tree() -> list:
        first = asyncio.create_task(branch())
        return [await asyncio.gather(first, branch(), method()), await asyncio.shield(leaf())]

    run = Run(tree)
    assert sorted(run.decide()) == [
        f"ScheduleActivityTask {path}step-1" for path in ("t1.t1.", "t1.t2.", "t2.", "t3.t1.", "t3.t2.")
    ]
    for path in ("t2.", "t3.t2.", "t1.t1.", "t1.t2.", "t3.t1."):
        run.completes(f"{path}step-1", path)
    assert run.decide() == ["ScheduleActivityTask t4.step-1"]
    run.completes("t4.step-1", "!")
    assert run.decide() == ['CompleteWorkflowExecution [["t1.t1.t1.t2.", "t3.t1.t3.t2.", "t2."], "!"]']
    run.replays()


def test_uuid_and_random_come_from_the_run_and_the_task() -> None:
    @workflow
    async def drawing() -> list:
        async def inner() -> list:
            return [str(flowpy.uuid4()), flowpy.random().random()]

        mine = [str(flowpy.uuid4()), str(flowpy.uuid4()), flowpy.random().randint(1, 6), flowpy.random().random()]
        return mine + await asyncio.create_task(inner())

    def numbered(path: str, n: int) -> str:
        return str(uuid.UUID(bytes=sha(f"r-1/{path}uuid-{n}")[:16], version=4))

    def generator(path: str) -> random.Random:
        return random.Random(int.from_bytes(sha(f"r-1/{path}random"), "big"))

    main = generator("")
    expected = [numbered("", 1), numbered("", 2), main.randint(1, 6), main.random()]
    expected += [numbered("t1.", 1), generator("t1.").random()]
    run = Run(drawing)
    assert run.decide() == [f"CompleteWorkflowExecution {json.dumps(expected)}"]
    run.replays()


def test_back_off_follows_the_formula() -> None:
    @activity(retry=flowpy.Retry(attempts=4, initial=10, coefficient=3, maximum=60, jitter=0.5))
    def fetch() -> str: ...

    @workflow
    async def fetching() -> str:
        return await fetch()

    run = Run(fetching)
    run.decide()
    run.fails("fetch-1")
    for k in (2, 3, 4):
        u = int.from_bytes(sha(f"r-1/fetch-1/{k}")[:8], "big") / 2**64
        seconds = math.ceil(min(60, 10 * 3 ** (k - 2)) * (1 + 0.5 * (2 * u - 1)))
        assert run.decide() == [f"StartTimer fetch-1.w{k} {seconds}"]
        run.fires(f"fetch-1.w{k}")
        run.decide()
        run.fails(f"fetch-1.r{k}")
    run.decide()
    run.replays()


def test_numbers_are_taken_at_the_call_used_or_not() -> None:
    @workflow
    async def unused() -> str:
        await item.receive(timeout=60)
        late = flowpy.sleep(5)
        late.cancel()
        first = step("a")
        first.cancel()
        step.options(activity_id="mine")("b")
        return await step("c")

    run = Run(unused)
    run.signaled("item", "x")
    decided = run.decide()
    assert decided == ["ScheduleActivityTask mine", "ScheduleActivityTask step-3"]
    run.completes("step-3", "C")
    assert run.decide() == []
    run.completes("mine", "B")
    assert run.decide() == ['CompleteWorkflowExecution "C"']
    run.replays()


def test_deferred_call_keeps_the_number_of_its_call() -> None:
    @workflow
    async def deferring() -> str:
        parts = [step("a"), step("b")]
        whole = merge(parts)
        last = merge(["x"])
        return await whole + await last

    run = Run(deferring)
    assert run.decide() == [
        "ScheduleActivityTask step-1",
        "ScheduleActivityTask step-2",
        "ScheduleActivityTask merge-2",
    ]
    run.completes("step-2", "B")
    run.completes("step-1", "A")
    (decision,) = run.offered()
    assert input_of(decision) == [["A", "B"]]
    assert run.decide() == ["ScheduleActivityTask merge-1"]
    run.completes("merge-1", "1")
    run.completes("merge-2", "2")
    assert run.decide() == ['CompleteWorkflowExecution "12"']
    run.replays()


def test_deferred_call_fails_with_its_argument_and_sends_nothing() -> None:
    @workflow
    async def deferring() -> list:
        whole = merge([step("a"), step("b")])
        try:
            await whole
        except flowpy.ActivityFailed as error:
            return [error.id, error.type, await step("c")]
        return []

    run = Run(deferring)
    run.decide()
    run.fails("step-2", "Lost")
    assert run.decide() == ["ScheduleActivityTask step-3"]
    run.completes("step-3", "C")
    run.completes("step-1", "A")
    assert run.decide() == ['CompleteWorkflowExecution ["step-2", "Lost", "C"]']
    run.replays()


@pytest.mark.parametrize("id", ["flowpy.x", "t1.x", "s2.step-1", "a:b", "", "x" * 257])
def test_ids_that_could_be_ours_or_swf_refuses_are_errors_at_the_call(id: str) -> None:
    @workflow
    async def naming() -> str:
        try:
            step.options(activity_id=id)("a")
        except flowpy.FlowpyError:
            return "refused"
        return "taken"

    assert Run(naming).decide() == ['CompleteWorkflowExecution "refused"']


def test_call_outside_a_task_is_refused_and_cancelling_allowed() -> None:
    @workflow
    async def calling_back() -> list:
        said, timer = [], flowpy.sleep(60)

        def callback() -> None:
            try:
                step("a")
            except flowpy.NotInTask:
                said.append("refused")
            timer.cancel()

        asyncio.get_running_loop().call_soon(callback)
        await asyncio.sleep(0)
        return said

    assert Run(calling_back).decide() == ['CompleteWorkflowExecution ["refused"]']


# --- payloads -------------------------------------------------------------------------------


def test_arguments_are_written_by_the_signature() -> None:
    @activity
    def charge(order: str, cents: int = 1, note: str = "", *, dry: bool = False) -> None: ...

    @workflow
    async def calling() -> None:
        await asyncio.gather(
            charge("o"), charge("o", 2), charge(order="o", cents=3), charge("o", note="n"), charge("o", dry=True)
        )

    assert [input_of(d) for d in Run(calling).offered()] == [
        ["o"],
        ["o", 2],
        ["o", 3],
        {"args": ["o"], "kwargs": {"note": "n"}},
        {"args": ["o"], "kwargs": {"dry": True}},
    ]


def test_sets_are_written_in_one_order() -> None:
    @workflow
    async def sets() -> set[str]:
        return {"pear", "apple", "fig"}

    assert Run(sets).decide() == ['CompleteWorkflowExecution ["apple", "fig", "pear"]']


def test_first_decision_tells_the_contract_and_the_python() -> None:
    from flowpy.runtime.decider import Decider, DecisionTask

    @workflow
    async def stating() -> None:
        flowpy.set_state({"at": 1})
        await step("a")

    run = Run(stating)
    begun = run.begin()
    task = DecisionTask(
        workflow_type=(stating.name, stating.version), events=run.events, started_event_id=begun, **run.ids
    )
    context = json.loads(Decider([stating]).decide(task).execution_context or "")
    assert (context["flowpy"], context["state"]) == (1, {"at": 1})
    assert set(context) == {"flowpy", "python", "state"}


# --- markers --------------------------------------------------------------------------------


def test_side_effect_is_recorded_once_and_not_run_again() -> None:
    calls = []

    @workflow
    async def effects() -> list:
        def once() -> int:
            calls.append(1)
            return len(calls)

        def never() -> int:
            raise KeyError("gone")

        value = flowpy.side_effect(once)
        try:
            flowpy.side_effect(never)
        except flowpy.SideEffectFailed as error:
            return [value, error.type, await step("a")]
        return []

    run = Run(effects)
    assert run.decide() == [
        "RecordMarker flowpy.side_effect effect-1",
        "RecordMarker flowpy.side_effect effect-2",
        "ScheduleActivityTask step-1",
    ]
    run.completes("step-1", "A")
    assert run.decide() == ['CompleteWorkflowExecution [1, "KeyError", "A"]']
    assert run.replays_with(effects).result == [1, "KeyError", "A"]
    assert len(calls) == 1


@pytest.mark.parametrize("marker", ["flowpy.side_effect effect-1", "flowpy.patch x"])
def test_lost_marker_fails_the_run_cold_and_warm_alike(marker: str) -> None:
    """The value is lost, so what the code did with it cannot be repeated: a divergence it is not."""

    @workflow
    async def marking() -> str:
        if "patch" in marker:
            flowpy.patched("x")
        else:
            flowpy.side_effect(lambda: 1)
        return await step("a")

    run = Run(marking)
    run.decide(refused={marker: "OPERATION_NOT_PERMITTED"})
    run.begin()
    cold, warm = (replay(marking, run.events, warm=w, **run.ids).episodes[-1].decisions for w in (False, True))
    assert list(map(told, cold)) == list(map(told, warm))
    # Open work may be asked to stop first.
    assert cold[0]["decisionType"] in ("FailWorkflowExecution", "RequestCancelActivityTask")


# --- leaving --------------------------------------------------------------------------------


def test_return_waits_for_what_is_open_but_not_for_timers_and_detached_work() -> None:
    @workflow
    async def leaving() -> str:
        flowpy.sleep(3600)
        step("a")
        step("b").detach()
        asyncio.create_task(later())
        return "left"

    async def later() -> None:
        await flowpy.sleep(5)
        await step("later")

    run = Run(leaving)
    assert run.decide() == [
        "StartTimer timer-1 3600",
        "ScheduleActivityTask step-1",
        "ScheduleActivityTask step-2",
        "StartTimer t1.timer-1 5",
    ]
    run.completes("step-1")
    assert run.decide() == []
    run.fires("t1.timer-1")
    assert run.decide() == ["ScheduleActivityTask t1.step-1"]
    run.completes("t1.step-1")
    assert run.decide() == ['CompleteWorkflowExecution "left"']
    run.replays()


def test_failure_nobody_saw_fails_a_run_about_to_complete() -> None:
    @workflow
    async def careless() -> str:
        step("a")
        return await step("b")

    run = Run(careless)
    run.decide()
    run.fails("step-1", "Lost", "at sea")
    run.completes("step-2", "B")
    (close,) = run.decide()
    assert close.startswith("FailWorkflowExecution")
    assert "Lost" in close or "step-1" in close
    run.replays()


def test_exception_in_a_handler_fails_the_run_at_once() -> None:
    @workflow
    async def handling() -> str:
        @item.handler
        async def on_item(name: str) -> None:
            raise ValueError(name)

        return await step("a")

    run = Run(handling)
    run.decide()
    run.signaled("item", "bad")
    assert run.decide() == ["RequestCancelActivityTask step-1"]
    run.canceled("step-1")
    assert run.decide() == ["FailWorkflowExecution ValueError: bad"]
    run.replays()


def test_continue_as_new_carries_options_and_unreceived_signals() -> None:
    @workflow
    async def chaining(n: int, *, note: str = "") -> None:
        await go.receive()
        flowpy.continue_as_new(n + 1, note="x")

    run = Run(
        chaining,
        1,
        taskList={"name": "special"},
        tagList=["eu"],
        taskPriority="7",
        lambdaRole="arn:role",
        executionStartToCloseTimeout="900",
        childPolicy="ABANDON",
    )
    run.signaled("item", "first")
    run.signaled("stray", input=None)
    run.signaled("go")
    (decision,) = run.offered()
    attributes = attributes_of(decision)
    assert json.loads(attributes.pop("input")) == {
        "args": [2],
        "kwargs": {"note": "x"},
        "signals": [{"name": "item", "input": '"first"'}, {"name": "stray"}],
    }
    attributes.pop("workflowTypeVersion", None)
    assert attributes == {
        "taskList": {"name": "special"},
        "tagList": ["eu"],
        "taskPriority": "7",
        "lambdaRole": "arn:role",
        "executionStartToCloseTimeout": "900",
        "taskStartToCloseTimeout": "30",
        "childPolicy": "ABANDON",
    }
    run.decide()
    run.replays()


def test_carried_signals_come_first_and_count_first() -> None:
    @workflow
    async def continued(n: int) -> list:
        @item.handler
        async def on_item(name: str) -> None:
            await step(name)

        await go.receive()
        return [n]

    text = json.dumps({"args": [2], "signals": [{"name": "item", "input": '"carried"'}, {"name": "stray"}]})
    run = Run(continued, input=text)
    run.signaled("item", "new")
    assert run.decide() == ["ScheduleActivityTask s1.step-1", "ScheduleActivityTask s3.step-1"]
    run.completes("s1.step-1")
    run.completes("s3.step-1")
    run.signaled("go")
    assert run.decide() == ["CompleteWorkflowExecution [2]"]
    run.replays()


# --- other forms of workflow code -----------------------------------------------------------


def test_plain_function_decides_like_an_async_one() -> None:
    @workflow
    def nightly(day: str) -> str:
        first = step(day).result()
        parts = [step(f"{first}{i}") for i in range(2)]
        flowpy.sleep(5).result()
        return merge(parts).result()

    run = Run(nightly, "mon")
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1", "A")
    assert run.decide() == ["ScheduleActivityTask step-2", "ScheduleActivityTask step-3", "StartTimer timer-1 5"]
    run.completes("step-3", "C")
    run.fires("timer-1")
    assert run.decide() == []
    run.completes("step-2", "B")
    assert run.decide() == ["ScheduleActivityTask merge-1"]
    run.completes("merge-1", "M")
    assert run.decide() == ['CompleteWorkflowExecution "M"']
    run.replays()


def test_class_receives_signals_and_executes() -> None:
    @workflow
    class Basket:
        def __init__(self) -> None:
            self.items: list[str] = []

        @execute
        async def run(self, owner: str) -> list:
            await go.receive()
            return [owner, *self.items]

        @signal
        def add(self, name: str) -> None:
            self.items.append(name)

    run = Run(Basket, "me")
    run.signaled("add", "pear")
    assert run.decide() == []
    run.signaled("add", "fig")
    run.signaled("go")
    assert run.decide() == ['CompleteWorkflowExecution ["me", "pear", "fig"]']
    run.replays()


def test_shield_lets_clean_up_finish() -> None:
    @workflow
    async def cleaning() -> None:
        async def clean() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(step_in_task("a"))
                group.create_task(step_in_task("b"))

        try:
            await go.receive()
        except asyncio.CancelledError:
            await flowpy.shield(clean())
            raise

    async def step_in_task(name: str) -> None:
        await step(name)

    run = Run(cleaning)
    run.cancel_requested()
    assert run.decide() == ["ScheduleActivityTask t1.t1.step-1", "ScheduleActivityTask t1.t2.step-1"]
    run.cancel_requested()
    assert run.decide() == []
    run.completes("t1.t1.step-1")
    run.completes("t1.t2.step-1")
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_lambda_function_is_waited_for() -> None:
    @workflow
    async def calling() -> Any:
        return await flowpy.lambda_function("resize")({"width": 7})

    run = Run(calling)
    (decision,) = run.offered()
    assert attributes_of(decision)["input"] == '{"width": 7}'
    assert run.decide() == ["ScheduleLambdaFunction lambda-1"]
    scheduled = run.events[-1]["eventId"]
    started = run._add("LambdaFunctionStarted", scheduledEventId=scheduled)
    run.event("LambdaFunctionCompleted", scheduledEventId=scheduled, startedEventId=started, result="[1]")
    assert run.decide() == ["CompleteWorkflowExecution [1]"]
    run.replays()


def test_task_group_that_aborts_cancels_in_order_of_creation() -> None:
    @workflow
    async def group() -> str:
        try:
            async with asyncio.TaskGroup() as tasks:
                for name in "abcdefgh":
                    tasks.create_task(one(name))
        except* flowpy.ActivityFailed:
            pass
        return "aborted"

    async def one(name: str) -> None:
        await step(name)

    run = Run(group)
    run.decide()
    run.fails("t3.step-1")
    assert run.decide() == [f"RequestCancelActivityTask t{i}.step-1" for i in (1, 2, 4, 5, 6, 7, 8)]
    for i in (8, 7, 6, 5, 4, 2, 1):
        run.canceled(f"t{i}.step-1")
    assert run.decide() == ['CompleteWorkflowExecution "aborted"']
    run.replays()

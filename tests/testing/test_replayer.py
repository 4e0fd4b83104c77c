"""The Replayer: one history or many, the run as it was at any event, and what its code waits for."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flowpy
from flowpy import Client, Signal, activity, asynchronous, workflow
from flowpy.errors import CallError, DeclarationError, HistoryError, NonDeterminismError, ReadOnly, UnknownWorkflowType
from flowpy.testing import HistoryBuilder, Replay, Replayer, replay

approval = Signal("approval", bool)


@activity
def charge(order_id: str) -> str: ...


@activity
def ship(order_id: str, receipt: str) -> str: ...


@workflow
async def parcel(order_id: str) -> str: ...


@workflow(name="order")
class Order:
    def __init__(self) -> None:
        self.step = "begun"

    @flowpy.execute
    async def run(self, order_id: str) -> str:
        self._to("charging")
        receipt = await charge(order_id)
        self._to("waiting")
        if not await approval.receive(timeout="3d"):
            raise flowpy.ApplicationError("declined")
        self._to("shipping")
        return await ship(order_id, receipt)

    @flowpy.query
    def status(self, prefix: str = "") -> str:
        return prefix + self.step

    @flowpy.query
    def meddle(self) -> Any:
        return charge("again")

    def _to(self, step: str) -> None:
        self.step = step
        flowpy.set_state({"step": step})


@workflow(name="order")
async def other_order(order_id: str) -> str:
    return await ship(order_id, "none")


def shipped() -> HistoryBuilder:
    history = HistoryBuilder(Order, "o-7", workflow_id="order-7")
    history.schedule(charge, "o-7").complete("r-1")
    timeout = history.start_timer("3d")
    history.signal(approval, True)
    timeout.cancel()
    history.schedule(ship, "o-7", "r-1").complete("p-1")
    history.complete("p-1")
    return history


# --- at any event -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("up_to", "step", "decided"),
    [
        (1, None, 0),
        (2, None, 0),
        (3, "charging", 1),
        (5, "charging", 1),
        (8, "charging", 1),
        (9, "waiting", 2),
        (13, "waiting", 2),
        (14, "shipping", 3),
        (20, "shipping", 3),
        (21, "shipping", 4),
        (23, "shipping", 4),
        (None, "shipping", 4),
    ],
)
def test_the_run_as_it_was_at_an_event(up_to: int | None, step: str | None, decided: int) -> None:
    shown = Replayer(Order).replay(shipped(), up_to=up_to)

    assert len(shown.episodes) == decided
    assert shown.state == (None if step is None else {"step": step})
    if step is not None:
        assert shown.query("status", "it is ") == f"it is {step}"


def test_at_an_event_before_the_end_the_run_is_not_closed() -> None:
    replayer, history = Replayer(Order), shipped()

    assert replayer.replay(history, up_to=20).closed is None
    assert replayer.replay(history, up_to=21).closed == "WorkflowExecutionCompleted"
    assert replayer.replay(history).result == "p-1"


def test_recorded_answers_after_the_event_are_compared_too() -> None:
    """Event 3 starts the decision task whose answer stands at 5."""
    with pytest.raises(NonDeterminismError):
        Replayer(other_order).replay(shipped(), up_to=3)


def test_decision_tasks_that_never_counted_are_passed_over() -> None:
    history = HistoryBuilder(Order, "o-7")
    charged = history.schedule(charge, "o-7")
    charged.complete("r-1")
    history.time_out_decision()
    timed_out = history.event_id - 1
    history.decide()
    history.start_timer(60, id="flowpy.hold-1").fire()
    held = history.event_id
    history.begin_decision()
    history.terminate()
    replayer = Replayer(Order)

    assert replayer.replay(history, up_to=timed_out).state == {"step": "charging"}
    assert replayer.replay(history, up_to=held - 1).state == {"step": "charging"}
    assert replayer.replay(history, up_to=held).closed is None
    assert replayer.replay(history).closed == "WorkflowExecutionTerminated"


def test_a_decision_that_went_on_in_the_next_task_is_shown_half_sent() -> None:
    @workflow(name="wide")
    async def wide() -> list[str]:
        return await flowpy.all_of([charge(str(n)) for n in range(150)])

    history = HistoryBuilder(wide)
    for n in range(99):
        history.schedule(charge, str(n))
    history.start_timer(0, id="flowpy.again-1").fire()
    for n in range(99, 150):
        history.schedule(charge, str(n))

    def sent(up_to: int) -> list[bool]:
        return [bool(work.event_id) for work in Replayer(wide).replay(history, up_to=up_to).pending.work]

    assert sent(3) == [True] * 99 + [False] * 51
    assert sent(history.event_id) == [True] * 150


def test_values_that_a_decision_recorded_in_the_next_task_are_there_at_once() -> None:
    drawn = iter(range(1_000))

    @workflow(name="drawing")
    async def drawing() -> None:
        flowpy.set_state([flowpy.side_effect(lambda: next(drawn)) for _ in range(150)])
        await approval.receive()

    history = HistoryBuilder(drawing)
    for n in range(99):
        history.record_side_effect(-n)
    history.start_timer(0, id="flowpy.again-1").fire()
    for n in range(99, 150):
        history.record_side_effect(-n)
    history.start_timer(0, id="flowpy.again-2").fire()
    history.decide()

    assert Replayer(drawing).replay(history, up_to=3).state == [-n for n in range(150)]
    assert next(drawn) == 0


@pytest.mark.parametrize("up_to", [0, -3, 24])
def test_an_event_that_is_not_there_is_refused(up_to: int) -> None:
    with pytest.raises(HistoryError, match=f"has no event {up_to}: its events are 1 to 23"):
        Replayer(Order).replay(shipped(), up_to=up_to)


def test_an_open_decision_task_is_decided() -> None:
    history = HistoryBuilder(Order, "o-7")
    history.begin_decision()
    shown = Replayer(Order).replay(history)

    assert [decision["decisionType"] for decision in shown.decisions] == ["ScheduleActivityTask"]
    assert shown.query("status") == "charging"
    assert [str(work).partition(", made at")[0] for work in shown.pending.work] == [
        "activity charge-1 (charge 1.0), not sent yet"
    ]


# --- queries ----------------------------------------------------------------------------------


def test_a_query_only_reads() -> None:
    with pytest.raises(ReadOnly):
        replay(Order, shipped()).query("meddle")


def test_a_query_that_is_not_there_says_which_are() -> None:
    with pytest.raises(CallError, match=r"no query 'stat' \(it has: meddle, status\)"):
        replay(Order, shipped()).query("stat")


def test_a_query_before_the_first_decision_has_nothing_to_look_at() -> None:
    with pytest.raises(CallError, match="no decision task"):
        Replayer(Order).replay(shipped(), up_to=2).query("status")


# --- divergence as data -----------------------------------------------------------------------


def test_a_divergence_raises_where_it_is_not_asked_for_as_data() -> None:
    with pytest.raises(NonDeterminismError):
        Replayer(other_order).replay(shipped())


def test_a_divergence_as_data_comes_with_what_was_before_it() -> None:
    @workflow(name="order")
    async def declined(order_id: str) -> str:
        await charge(order_id)
        return "no"

    shown = Replayer(declined).replay(shipped(), check=False)

    assert not shown.ok
    assert shown.divergence is not None
    assert [one.id for one in shown.divergence.history] == ["timer-1"]
    assert [len(episode.decisions) for episode in shown.episodes] == [1, 1]
    with pytest.raises(NonDeterminismError):
        shown.check()
    with pytest.raises(NonDeterminismError):
        shown.query("status")


def test_what_the_code_waited_for_when_it_diverged() -> None:
    @workflow(name="order")
    async def stuck(order_id: str) -> str:
        await charge(order_id)
        await asyncio.Event().wait()
        return "no"

    (task,) = Replayer(stuck).replay(shipped(), check=False).pending.tasks

    assert task.waits_for == ("asyncio's Event.wait",)
    assert task.stack[-1].function.endswith("stuck")


# --- pending ----------------------------------------------------------------------------------


@asynchronous
async def announce(receipt: str) -> None: ...


@workflow(name="busy")
async def busy(order_id: str) -> str:
    async def pay() -> str:
        return await charge(order_id)

    paying = asyncio.create_task(pay(), name="paying")
    sent = ship(order_id, charge(order_id))  # type: ignore[arg-type]
    await flowpy.all_of(paying, sent, parcel(order_id), flowpy.lambda_function("resize")(1))
    return "done"


def test_pending_says_who_waits_for_what_and_where() -> None:
    history = HistoryBuilder(busy, "o-7", workflow_id="busy-7", run_id="r")
    first = history.schedule(charge, "o-7")
    child = history.start_child(parcel, "o-7")
    function = history.schedule_lambda("resize", 1)
    history.schedule(charge, "o-7", id="t1.charge-1")
    history.signal("nobody", 1)
    history.decide()

    pending = replay(busy, history).pending

    main, paying = pending.tasks
    assert (main.path, main.name) == ("", "busy")
    assert set(main.waits_for) == {
        "task t1. (paying)",
        "activity ship-1",
        f"child workflow {child.id}",
        "Lambda function lambda-1 (resize)",
    }
    assert (paying.path, paying.waits_for) == ("t1.", ("activity t1.charge-1",))
    assert Path(paying.stack[-1].file) == Path(__file__)
    assert "return await charge(order_id)" in str(paying)
    told = {(work.kind, work.id): (work.event_id, work.deferred) for work in pending.work}
    assert told == {
        ("activity", "charge-1"): (first.event_id, False),
        ("child workflow", child.id): (child.event_id, False),
        ("Lambda function", "lambda-1"): (function.event_id, False),
        ("activity", "t1.charge-1"): (8, False),
        ("activity", "ship-1"): (0, True),
    }
    assert pending.signals == ("nobody",)
    assert json.loads(json.dumps(pending.to_json()))["tasks"][1]["path"] == "t1."


@workflow(name="waits")
async def waits(how: str) -> Any:
    match how:
        case "gather":
            return await asyncio.gather(charge("a"), charge("b"))
        case "wait":
            return await asyncio.wait([asyncio.ensure_future(charge("a")), asyncio.ensure_future(charge("b"))])
        case "group":
            async with asyncio.TaskGroup() as group:
                group.create_task(wrapped("a"))
                group.create_task(wrapped("b"))
        case "any_of":
            return await flowpy.any_of(charge("a"), charge("b"))
        case "timeout":
            async with asyncio.timeout(5):
                await charge("a")
        case "queue":
            return await asyncio.Queue[int]().get()
        case "sleep":
            return await asyncio.gather(flowpy.sleep(5), flowpy.sleep(6))
        case "signal":
            return await approval.receive()
        case "external":
            return await flowpy.external("other-1").signal("go")
        case "started":
            return await parcel("a").started
    return None


async def wrapped(order_id: str) -> str:
    return await charge(order_id)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("gather", ("activity charge-1", "activity charge-2")),
        ("wait", ("activity charge-1", "activity charge-2")),
        ("group", ("task t1. (Task-t1.)", "task t2. (Task-t2.)")),
        ("any_of", ("activity charge-1", "activity charge-2")),
        ("timeout", ("activity charge-1",)),
        ("queue", ("asyncio's Queue.get",)),
        ("sleep", ("timer timer-1", "timer timer-2")),
        ("signal", ("signal approval",)),
        ("external", ("SignalExternalWorkflowExecution(signal-1 to other-1: go)",)),
        ("started", ("the start of child workflow workflow-1.parcel-1.4e65d3fb",)),
    ],
)
def test_whatever_is_awaited_has_a_name(how: str, said: tuple[str, ...]) -> None:
    history = HistoryBuilder(waits, how)
    history.begin_decision()

    assert replay(waits, history).pending.tasks[0].waits_for == said


def test_plain_code_is_found_where_it_stands() -> None:
    @workflow(name="plain")
    def plain() -> str:
        return below()

    def below() -> str:
        return charge("a").result()

    history = HistoryBuilder(plain)
    history.begin_decision()
    (task,) = replay(plain, history).pending.tasks

    assert [line.function.rpartition(".")[2] for line in task.stack] == ["plain", "below"]
    assert task.waits_for == ("activity charge-1",)


def test_a_retry_waits_for_its_back_off() -> None:
    @activity(retry=flowpy.Retry(attempts=3, initial="2s"))
    def fragile() -> None: ...

    @workflow(name="retrying")
    async def retrying() -> None:
        await fragile()

    history = HistoryBuilder(retrying)
    history.schedule(fragile).fail(ValueError("no"))
    history.begin_decision()
    (task,) = replay(retrying, history).pending.tasks

    assert task.waits_for == ("back-off timer fragile-1.w2 of activity fragile-1",)


# --- many -------------------------------------------------------------------------------------


class Counted:
    """Sources that say how many of them were asked for."""

    def __init__(self, *sources: Any) -> None:
        self.sources = sources
        self.taken = 0

    def __iter__(self) -> Iterator[Any]:
        for source in self.sources:
            self.taken += 1
            yield source


def test_many_are_replayed_one_by_one_and_a_bad_one_stops_none() -> None:
    unknown = HistoryBuilder("unheard-of")
    sources = Counted(shipped(), {"events": []}, unknown, shipped().history()[:5], shipped())
    results = Replayer([Order]).replay_all(sources)

    assert next(results).ok
    assert sources.taken == 1
    bad = list(results)
    assert [type(each.error).__name__ for each in bad] == [
        "HistoryError",
        "UnknownWorkflowType",
        "NoneType",
        "NoneType",
    ]


def test_only_one_history_is_in_memory_at_a_time() -> None:
    alive: weakref.WeakSet[HistoryBuilder] = weakref.WeakSet()

    def sources() -> Iterator[HistoryBuilder]:
        for n in range(6):
            history = shipped() if n % 2 else HistoryBuilder(other_order, "o-7")
            alive.add(history)
            yield history

    most = 0
    for replayed in Replayer([other_order]).replay_all(sources()):
        gc.collect()
        most = max(most, len(alive))
        assert replayed.source

    assert most <= 1


def test_sources_say_which_they_are() -> None:
    first, second = Replayer([Order]).replay_all([shipped(), "there-is-no-such.json"])

    assert (first.workflow_id, first.run_id, first.workflow_type) == ("order-7", "run-1", ("order", "1.0"))
    assert second.source == "there-is-no-such.json"
    assert isinstance(second.error, HistoryError)


def test_an_unforeseen_error_is_a_result_too() -> None:
    class Broken:
        workflow_id, run_id = "w", "r"

        def history(self) -> list[dict[str, Any]]:
            raise ConnectionError("gone")

    (only,) = Replayer([Order]).replay_all([Broken()])

    assert (only.workflow_id, repr(only.error)) == ("w", "ConnectionError('gone')")


def test_a_folder_of_files(tmp_path: Path) -> None:
    def write(name: str, events: Any) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"events": events}, default=str))

    write("b.json", shipped().history())
    write("a/one.history.json", shipped().history())
    write("c.json", [])
    (tmp_path / "readme.txt").write_text("not one")

    results = list(Replayer([Order]).replay_all(tmp_path))

    assert [(Path(each.source).name, each.ok) for each in results] == [
        ("one.history.json", True),
        ("b.json", True),
        ("c.json", False),
    ]


def test_a_folder_without_histories_is_an_error_not_a_pass(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"has no file ending in \.json"):
        list(Replayer([Order]).replay_all(tmp_path))
    with pytest.raises(HistoryError, match="is no folder"):
        list(Replayer([Order]).replay_all(tmp_path / "nowhere"))


class Twin:
    """A service with one run."""

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "GetWorkflowExecutionHistory":
            return {"events": shipped().history()}
        assert operation == "ListOpenWorkflowExecutions"
        execution = {"workflowId": "order-7", "runId": "run-1"}
        type_ = {"name": "order", "version": "1.0"}
        told = {"execution": execution, "workflowType": type_, "executionStatus": "OPEN", "startTimestamp": 0}
        return {"executionInfos": [told]}


def test_executions_listed_by_a_client() -> None:
    client = Client("shop", Twin())

    (listed,) = Replayer([Order]).replay_all(client.list_open(), client=client)
    (handle,) = Replayer([Order]).replay_all([client.run("order-7", "run-1")])
    (refused,) = Replayer([Order]).replay_all(client.list_open())

    assert listed.result == handle.result == "p-1"
    assert isinstance(refused.error, DeclarationError)
    assert "client=" in str(refused.error)


def test_the_type_in_the_history_chooses_among_workflows() -> None:
    with pytest.raises(UnknownWorkflowType, match=r"known: waits 1\.0"):
        Replayer([waits]).replay(shipped())
    assert Replayer([waits, Order]).replay(shipped()).ok


def test_a_result_in_short() -> None:
    shown = replay(Order, shipped())

    assert isinstance(shown, Replay)
    assert "order-7" in repr(shown)
    assert len(repr(shown)) < 400


@pytest.mark.parametrize("given", [None, 7, "order", charge, parcel.fn])
def test_what_is_no_workflow_replays_nothing(given: Any) -> None:
    with pytest.raises(DeclarationError, match="is no workflow; give what @workflow made of the function"):
        replay(given, HistoryBuilder(Order, "o-7"))

"""Worker, client, decider and twin together: workflows as users write them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from flowpy import errors
from flowpy.client import Client
from flowpy.declare import Signal, activity, execute, query, signal, workflow
from flowpy.worker import Worker, current_activity

from .twin import PATIENCE

approval = Signal("approval", bool)


@activity
def charge(order_id: str, cents: int) -> str:
    return f"{order_id}:{cents}"


@activity
async def ship(receipt: str) -> str:
    await asyncio.sleep(0)
    return f"shipped {receipt}"


@workflow(name="order")
async def order(order_id: str) -> str:
    receipt = charge(order_id, 4200)
    if not await approval.receive():
        raise errors.ApplicationError("declined")
    return await ship(await receipt)


@workflow(name="nightly")
def nightly(count: int) -> list[str]:
    return [promise.result() for promise in [charge(f"o-{n}", n) for n in range(count)]]


@workflow(name="counter")
class Counter:
    def __init__(self) -> None:
        self.total = 0

    @execute
    async def run(self) -> int:
        await approval.receive()
        return self.total

    @signal("add")
    def add(self, amount: int) -> None:
        self.total += amount

    @query
    def so_far(self) -> int:
        return self.total


@pytest.fixture
def client(twin):
    """A client that waits for the twin to change instead of sleeping."""

    def sleep(seconds):
        with twin.changed:
            twin.changed.wait(seconds)

    return Client("shop", twin, sleep=sleep)


@pytest.fixture
def worker(client):
    with Worker(client, workflows=[order, nightly, Counter], activities=[charge, ship], task_list="main") as made:
        yield made


def test_an_order(client, worker):
    run = client.start(order, "o-7")
    run.signal(approval, True)
    assert run.result(timeout=PATIENCE) == "shipped o-7:4200"


def test_a_declined_order(client, worker):
    run = client.start(order, "o-7")
    run.signal(approval, False)
    with pytest.raises(errors.WorkflowFailed, match="declined"):
        run.result(timeout=PATIENCE)


def test_a_plain_workflow_fans_out(client, worker):
    assert client.start(nightly, 20).result(timeout=PATIENCE) == [f"o-{n}:{n}" for n in range(20)]


def test_many_orders_at_once(client, worker):
    runs = [client.start(order, f"o-{n}") for n in range(20)]
    for run in runs:
        run.signal(approval, True)
    assert [run.result(timeout=PATIENCE) for run in runs] == [f"shipped o-{n}:4200" for n in range(20)]


def test_a_query_needs_no_worker(client, twin, worker):
    run = client.start(Counter)
    for amount in (1, 2, 3):
        run.signal("add", amount)
    twin.wait_for("RespondDecisionTaskCompleted")
    twin.until(lambda: run.query("so_far") == 6)
    run.signal(approval, True)
    assert run.result(timeout=PATIENCE) == 6


def test_a_cancel_reaches_the_activity(client, twin):
    begun = threading.Event()

    @activity(name="long", heartbeat_timeout=3)
    def long() -> None:
        begun.set()
        while True:
            current_activity().cancellation.wait(PATIENCE)
            current_activity().heartbeat()

    @workflow(name="patient")
    async def patient() -> None:
        await long()

    with Worker(client, workflows=[patient], activities=[long], task_list="main"):
        run = client.start(patient)
        assert begun.wait(PATIENCE)
        run.cancel()
        with pytest.raises(errors.WorkflowCanceled):
            run.result(timeout=PATIENCE)
        assert "ActivityTaskCanceled" in {event["eventType"] for event in run.history()}


def test_a_run_of_other_code_waits_and_goes_on(client, twin, caplog):
    with Worker(client, workflows=[nightly], activities=[charge, ship], task_list="main") as partial:
        twin.engine.call(
            "RegisterWorkflowType",
            {"domain": "shop", "name": "order", "version": "1.0", **order.registered.defaults("main")},
        )
        run = client.start(order, "o-7")
        assert client.start(nightly, 1).result(timeout=PATIENCE) == ["o-0:0"]
        twin.until(lambda: partial.counts.get("decisions_held"))
    assert "no workflow order 1.0 here" in caplog.text
    twin.engine.advance(31)
    with Worker(client, workflows=[order], activities=[charge, ship], task_list="main"):
        run.signal(approval, True)
        assert run.result(timeout=PATIENCE) == "shipped o-7:4200"

"""Child workflows and other executions (rows C*)."""

from __future__ import annotations

import asyncio
import json

import flowpy
from flowpy import activity, workflow

from .build import Run, attributes_of

stop = flowpy.Signal("stop")


@activity
def step(name: str) -> str: ...


@workflow
async def ship(order_id: str) -> str: ...


ship_as_s = ship.options(workflow_id="s")


def test_c01_failure_of_a_child_keeps_type_and_message() -> None:
    @workflow
    async def shipping() -> list:
        try:
            return [await ship_as_s("o")]
        except flowpy.ChildFailed as error:
            return [error.type, error.failure.message, error.workflow_id]

    run = Run(shipping)
    run.decide()
    record = {"type": "Lost", "module": "app", "message": "at sea", "traceback": "", "cause": None, "data": None}
    run.child_ends("s", "Failed", reason="Lost: at sea", details=json.dumps(record))
    assert run.decide() == ['CompleteWorkflowExecution ["Lost", "at sea", "s"]']
    run.replays()


def test_c04_child_that_runs_already_is_a_typed_error() -> None:
    @workflow
    async def shipping() -> str:
        try:
            return await ship_as_s("o")
        except flowpy.ChildStartFailed as error:
            return error.cause

    run = Run(shipping)
    assert run.decide(refused={"s": "WORKFLOW_ALREADY_RUNNING"}) == ["StartChildWorkflowExecution s"]
    assert run.decide() == ['CompleteWorkflowExecution "WORKFLOW_ALREADY_RUNNING"']
    run.replays()


def test_c05_child_started_and_cancelled_in_one_decision_is_never_sent() -> None:
    @workflow
    async def wavering() -> str:
        ship_as_s("o").cancel()
        return await step("a")

    run = Run(wavering)
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1", "A")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    run.replays()


def test_c06_cancel_of_a_child_goes_to_its_workflow_id_whatever_run_it_is_in() -> None:
    @workflow
    async def canceling() -> str:
        child = ship_as_s("o")
        await stop.receive()
        child.cancel()
        return "asked"

    run = Run(canceling)
    run.decide()
    run.child_starts("s")
    assert run.decide() == []
    run.signaled("stop")
    (request,) = run.offered()
    assert attributes_of(request) == {"workflowId": "s", "control": "ship-1.cancel"}
    assert run.decide() == ["RequestCancelExternalWorkflowExecution ship-1.cancel to s"]
    run.passed_on("ship-1.cancel")
    run._links["child", "s"]["workflowExecution"] = {"workflowId": "s", "runId": "a-later-run"}
    run.child_completes("s", "late")
    assert run.decide() == ['CompleteWorkflowExecution "asked"']
    run.replays()


def test_c08_abandoned_child_is_neither_asked_to_stop_nor_waited_for() -> None:
    @workflow
    async def leaving() -> str:
        return await ship_as_s.options(on_cancel="abandon", child_policy="ABANDON")("o")

    run = Run(leaving)
    assert run.decide() == ["StartChildWorkflowExecution s"]
    run.child_starts("s")
    assert run.decide() == []
    run.cancel_requested()
    assert run.decide() == ["CancelWorkflowExecution"]
    run.replays()


def test_c09_cancel_sent_while_leaving_is_in_the_batch_before_the_close() -> None:
    @workflow
    async def leaving() -> None:
        try:
            await stop.receive()
        except asyncio.CancelledError:
            flowpy.external("other").cancel()
            raise

    run = Run(leaving)
    run.decide()
    run.cancel_requested()
    assert run.decide() == ["RequestCancelExternalWorkflowExecution cancel-1 to other", "CancelWorkflowExecution"]
    run.replays()


def test_c10_child_events_are_found_by_the_event_that_initiated_the_child() -> None:
    @workflow
    async def pair() -> list:
        a, b = ship.options(workflow_id="a")("a"), ship.options(workflow_id="b")("b")
        return await asyncio.gather(a.started, b.started, a, b)

    run = Run(pair)
    run.decide()
    run.child_starts("b")
    run.child_starts("a")
    run.child_completes("b", "B")
    run.child_completes("a", "A")
    assert run.decide() == ['CompleteWorkflowExecution ["run-of-a", "run-of-b", "A", "B"]']
    run.replays()


def test_c10_id_of_a_child_depends_on_the_run() -> None:
    @workflow
    async def shipping() -> str:
        return await ship("o")

    run = Run(shipping, workflow_id="order-7")
    (decision,) = run.offered()
    child = attributes_of(decision)["workflowId"]
    assert child.startswith("order-7.ship-1.")
    run.decide()
    run.child_completes(child, "S")
    assert run.decide() == ['CompleteWorkflowExecution "S"']
    run.replays()

"""docs/migrating.md: inputs have the form that the workers of other frameworks read."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from tests.docs.pages import fences

import flowpy
from flowpy import Signal, activity, workflow
from flowpy.testing import Environment, EnvironmentRun


@activity(external=True, task_list="payments")
def charge_by_botoflow(arguments: dict[str, list[object]], keywords: dict[str, object]) -> str: ...  # type: ignore[empty-body]


@activity(external=True, task_list="payments")
def charge_by_simpleflow(*, order_id: str, cents: int) -> str: ...  # type: ignore[empty-body]


@workflow
async def order(order_id: str) -> list[str]:
    return [
        await charge_by_botoflow({"__tuple": [order_id, 4200]}, {}),
        await charge_by_simpleflow(order_id=order_id, cents=4200),
    ]


def inputs(run: EnvironmentRun[Any]) -> list[Any]:
    scheduled = (event.get("activityTaskScheduledEventAttributes") for event in run.history())
    return [json.loads(attributes["input"]) for attributes in scheduled if attributes]


def test_inputs_have_the_form_that_their_workers_read(swf: Environment) -> None:
    swf.stub(charge_by_botoflow, returns="r-1")
    swf.stub(charge_by_simpleflow, returns="r-2")
    run = swf.start(order, "o-7")

    assert run.result() == ["r-1", "r-2"]
    assert inputs(run) == [
        [{"__tuple": ["o-7", 4200]}, {}],
        {"args": [], "kwargs": {"order_id": "o-7", "cents": 4200}},
    ]


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the page declares for Java's workers and clients."""
    module = ModuleType("page_migrating_java")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    vars(module).update(Signal=Signal, activity=activity, workflow=workflow)
    (code,) = (each.text for each in fences("docs/migrating.md", "python") if "OrderWorkflow.process" in each.text)
    exec(compile(code, "docs/migrating.md", "exec", dont_inherit=True), vars(module))  # noqa: S102 - our own file
    return module


def test_the_form_of_flow_for_java_is_read_and_written(shop: Any, swf: Environment) -> None:
    array = "[Ljava.lang.Object;"
    swf.stub(shop.charge, returns="r-1")
    swf.stub(shop.ship, returns="p-1")
    run = swf.start(shop.process, array, ("o-7", 4200))
    swf.signal(run, "approval", [array, [True]])

    assert run.result() == "p-1"
    assert [json.loads(text) for text in given(run)] == [
        [array, ["o-7", 4200]],
        [array, [True]],
        [array, ["o-7", 4200]],
        [array, ["r-1"]],
    ]


def given(run: EnvironmentRun[Any]) -> list[str]:
    """The inputs in a history: of the run, its signals, its activities, its children."""
    attributes = (value for event in run.history() for name, value in event.items() if name.endswith("Attributes"))
    return [each["input"] for each in attributes if "input" in each]


def test_a_signal_of_plain_json_is_an_array_of_arguments(swf: Environment) -> None:
    bare, array = Signal("approval", bool), Signal("approval", list[bool])

    @workflow
    async def approved(one: bool) -> object:
        return await (bare if one else array).receive()

    run, refusing = swf.start(approved, False), swf.start(approved, True)
    swf.signal(run, "approval", [True])
    swf.signal(refusing, "approval", [True])

    assert run.result() == [True]
    with pytest.raises(flowpy.WorkflowFailed, match=r"expected bool, found \[true\]"):
        refusing.result()

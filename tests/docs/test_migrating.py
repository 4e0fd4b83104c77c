"""docs/migrating.md: inputs have the form that the workers of other frameworks read."""

from __future__ import annotations

import json
from typing import Any

from flowpy import activity, workflow
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

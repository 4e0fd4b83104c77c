"""Malformed histories are a typed error that names the event, whatever is wrong (order "Bad input", R07)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from tests.pitfalls.build import Run

import flowpy
from flowpy import activity, workflow
from flowpy.testing import replay

go = flowpy.Signal("go")


@activity
def step(value: Any = "") -> str: ...


@workflow
async def ship() -> str: ...


@workflow
async def order() -> str:
    await go.receive()
    await flowpy.sleep(5)
    await ship.options(workflow_id="c")()
    return await step()


@pytest.fixture(scope="module")
def recorded() -> Run:
    run = Run(order)
    run.signaled("go")
    run.decide()
    run.fires("timer-1")
    run.decide()
    run.child_completes("c", "shipped")
    run.decide()
    run.completes("step-1")
    run.decide()
    run.replays()
    return run


def attributes(event: dict[str, Any]) -> dict[str, Any]:
    return next(value for key, value in event.items() if key.endswith("EventAttributes"))


def without(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda event: attributes(event).pop(name)


def with_value(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda event: attributes(event).update({name: value})


@pytest.mark.parametrize(
    ("kind", "harm"),
    [
        ("TimerFired", without("timerId")),
        ("WorkflowExecutionSignaled", without("signalName")),
        ("ActivityTaskScheduled", without("activityId")),
        ("ActivityTaskScheduled", with_value("activityType", None)),
        ("ChildWorkflowExecutionStarted", without("workflowExecution")),
        ("WorkflowExecutionStarted", with_value("taskList", "main")),
        ("WorkflowExecutionStarted", with_value("input", 5)),
        ("ActivityTaskCompleted", with_value("result", 5)),
    ],
)
def test_event_with_a_broken_attribute_is_named(
    recorded: Run, kind: str, harm: Callable[[dict[str, Any]], None]
) -> None:
    events = copy.deepcopy(recorded.events)
    harmed = next(event for event in events if event["eventType"] == kind)
    harm(harmed)
    with pytest.raises(flowpy.HistoryError) as raised:
        replay(order, events, **recorded.ids)
    assert str(harmed["eventId"]) in str(raised.value)
    assert kind in str(raised.value)

"""Data that does not fit, as replayed code meets it (rows Z*, Y*)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow

from .build import Run, attributes_of


@activity
def step(name: str) -> int: ...


@activity
def anything() -> Any: ...


@workflow
async def counting(count: int) -> int:
    return await step(str(count))


@pytest.mark.parametrize("input", ["[1, 2]", '["one"]', "[]", '{"args": [], "kwargs": {"number": 1}}'])
def test_z06_input_that_does_not_fit_fails_the_run_with_a_reason(input: str) -> None:
    run = Run(counting, input=input)
    (close,) = run.decide()
    assert close.startswith("FailWorkflowExecution ")
    run.replays()


def test_z06_reason_names_the_argument() -> None:
    (close,) = Run(counting, "one").decide()
    assert "count" in close


def test_z06_text_that_is_not_json_is_one_string() -> None:
    @workflow
    async def naming(name: str) -> str:
        return name

    assert Run(naming, input="plain text").decide() == ['CompleteWorkflowExecution "plain text"']


def test_z07_result_that_does_not_fit_names_the_activity_where_it_is_awaited() -> None:
    @workflow
    async def reading() -> str:
        try:
            await step("a")
        except flowpy.PayloadNotDecodable as error:
            return str(error)
        return "fits"

    run = Run(reading)
    run.decide()
    run.completes("step-1", "many")
    (close,) = run.decide()
    assert "step-1" in close
    run.replays()


@pytest.mark.parametrize("message", ["x" * 100_000, "\N{GRINNING FACE}" * 1000], ids=["long", "wide"])
def test_z09_z10_failure_of_any_size_fits_and_stays_json(message: str) -> None:
    @workflow
    async def failing() -> None:
        raise ValueError(message)

    (decision,) = Run(failing).offered()
    attributes = attributes_of(decision)
    assert len(attributes["reason"]) <= 256
    assert attributes["reason"].startswith(f"ValueError: {message[:50]}")
    assert len(attributes["details"]) <= 32768
    assert json.loads(attributes["details"])["type"] == "ValueError"


def test_z13_side_effect_too_large_for_a_marker_is_an_error_at_the_call() -> None:
    @workflow
    async def recording() -> str:
        try:
            flowpy.side_effect(lambda: "x" * 40_000)
        except flowpy.PayloadTooLarge as error:
            return str(error)
        return "recorded"

    (close,) = Run(recording).decide()
    assert "effect-1" in close


def test_y01_payload_that_names_a_class_stays_a_dict() -> None:
    @workflow
    async def reading() -> Any:
        return await anything()

    run = Run(reading)
    run.decide()
    run.completes("anything-1", {"__obj": ["subprocess:Popen", {}]})
    assert run.decide() == ['CompleteWorkflowExecution {"__obj": ["subprocess:Popen", {}]}']
    run.replays()


def test_z18_failures_of_other_frameworks_are_read_and_nothing_is_imported() -> None:
    @workflow
    async def four() -> list:
        out = await asyncio.gather(*(step(n) for n in "abcd"), return_exceptions=True)
        return [[type(e).__name__, e.reason, e.details] for e in out]

    run = Run(four)
    run.decide()
    fields = [
        {},
        {"details": "plain"},
        {"reason": "r", "details": '{"type": "Cut'},
        {"details": '{"__type": "os:system"}'},
    ]
    for i, given in enumerate(fields, 1):
        run._activity_ends(f"step-{i}", "Failed", **given)
    (close,) = run.decide()
    expected = [["ActivityFailed", f.get("reason", ""), f.get("details")] for f in fields]
    assert json.loads(close.removeprefix("CompleteWorkflowExecution ")) == expected
    run.replays()

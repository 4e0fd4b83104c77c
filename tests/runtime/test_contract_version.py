"""CONTRACTS §2: a run keeps to the contract version of its first decision for its whole life."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import flowpy
from flowpy.data import CONTRACT
from flowpy.testing import replay

HISTORY = Path(__file__).parent.parent / "cases" / "histories" / "activity_cancel_unstarted.json"

abort = flowpy.Signal("abort")


@flowpy.activity
def long_job(job: str) -> int: ...


@flowpy.workflow
async def abortable(job: str) -> str:
    working = long_job(job)
    await abort.receive()
    working.cancel()
    return "canceled"


def begun_under(context: str | None) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(HISTORY.read_text())["events"]
    first = next(event for event in events if event["eventType"] == "DecisionTaskCompleted")
    attributes = first["decisionTaskCompletedEventAttributes"]
    attributes.pop("executionContext", None)
    if context is not None:
        attributes["executionContext"] = context
    return events


@pytest.mark.parametrize(
    "context",
    [None, "", "not JSON", '{"flowpy": 1, "python": "3.11", "state": null}', '{"taskVersions": {"a": 2}}'],
    ids=["none", "empty", "text", "ours", "another framework's"],
)
def test_run_of_this_contract_or_of_none_replays(context: str | None) -> None:
    assert replay(abortable, begun_under(context)).closed == "WorkflowExecutionCompleted"


def test_run_of_a_newer_contract_is_held() -> None:
    newer = json.dumps({"flowpy": CONTRACT + 1, "python": "3.14", "state": None})
    with pytest.raises(flowpy.RunHeld, match=f"contract version {CONTRACT + 1}"):
        replay(abortable, begun_under(newer))

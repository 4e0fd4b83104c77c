"""What is sealed where nothing is set up to open it: the run is held, and code never sees that it is so."""

from __future__ import annotations

import json

import pytest
from tests.fixtures.cards import charge, parcel

import flowpy
from flowpy.data import Encryption, Payloads
from flowpy.data.sealing import EVENT_FIELDS, seal_fields
from flowpy.errors import PayloadCodecUnknown
from flowpy.testing import Environment, Replayer

SEALING = Payloads([Encryption({"k": bytes(32)}, current="k")])
said = flowpy.Signal("said", str)
told = flowpy.Signal("told", str)


def broken() -> None:
    raise ValueError("no")


@flowpy.workflow
async def tolerant(card: str) -> list[str]:
    """Takes every error for an answer, as code must never do with one that says that a key is missing."""
    seen = []
    told.handler(seen.append)
    for step in (
        lambda: charge(card),
        lambda: charge("blocked"),
        lambda: parcel(card),
        lambda: parcel("blocked"),
        said.receive,
    ):
        try:
            seen.append(await step())
        except Exception as error:
            seen.append(type(error).__name__)
    for function in (lambda: card, broken):
        try:
            seen.append(flowpy.side_effect(function))
        except Exception as error:
            seen.append(type(error).__name__)
    await flowpy.sleep(1)
    return seen


@pytest.fixture(scope="module")
def recorded():
    with Environment() as swf:
        run = swf.start(tolerant, "4242")
        run.signal(said, "a")
        run.signal(told, "b")
        run.result()
        return run.workflow_id, run.run_id, run.history()


def sealed(event):
    kind = event["eventType"]
    key = f"{kind[0].lower()}{kind[1:]}EventAttributes"
    kind = "RecordMarker" if kind == "MarkerRecorded" else kind
    return {**event, key: seal_fields(kind, event[key], SEALING)}


READ = sorted(set(EVENT_FIELDS) & {
    "WorkflowExecutionStarted",
    "WorkflowExecutionSignaled",
    "ActivityTaskScheduled",
    "ActivityTaskCompleted",
    "ActivityTaskFailed",
    "MarkerRecorded",
    "ChildWorkflowExecutionCompleted",
    "ChildWorkflowExecutionFailed",
    "StartChildWorkflowExecutionInitiated",
})  # fmt: skip


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", READ)
def test_one_sealed_payload_holds_the_run(recorded, kind, warm):
    workflow_id, run_id, events = recorded
    places = [at for at, event in enumerate(events) if event["eventType"] == kind]
    assert places

    for at in places:
        changed = [*events[:at], sealed(events[at]), *events[at + 1 :]]
        assert changed != events
        with pytest.raises(PayloadCodecUnknown, match=r"cannot be opened: it is encoded by xaes-256-gcm"):
            Replayer([tolerant, parcel]).replay(changed, workflow_id=workflow_id, run_id=run_id, warm=warm)


def test_a_sealed_signal_that_is_carried_over_holds_the_run(recorded):
    workflow_id, run_id, events = recorded
    carried = {"args": ["4242"], "signals": [{"name": "other", "input": SEALING.seal('"a"', 32_768, "a")}]}
    started = {**events[0]["workflowExecutionStartedEventAttributes"], "input": json.dumps(carried)}
    changed = [{**events[0], "workflowExecutionStartedEventAttributes": started}, *events[1:]]
    with pytest.raises(PayloadCodecUnknown, match="the carried signal other cannot be opened"):
        Replayer([tolerant, parcel]).replay(changed, workflow_id=workflow_id, run_id=run_id)

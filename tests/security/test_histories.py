"""Whatever stands in a history: a decider answers, or says what is wrong in an error of its own."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.cards import charge, parcel

import flowpy
from flowpy.data import Compression, Converter, Encryption, MemoryStore, Payloads, decode_context, open_events
from flowpy.data.sealing import EVENT_FIELDS
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.testing import Environment

from .texts import plain, texts
from .watching import watched

said = flowpy.Signal("said", dict[str, int])
told = flowpy.Signal("told", str)


@flowpy.workflow
async def order(card: str) -> list[str]:
    seen = [flowpy.side_effect(lambda: card)]

    def keep(value: str) -> None:
        seen.append(value)

    told.handler(keep)
    flowpy.set_state({"card": card})
    seen.append(await charge(card))
    for step in (lambda: charge("blocked"), lambda: parcel(card), lambda: parcel("blocked")):
        with suppress(flowpy.FlowpyError):
            seen.append(await step())
    await said.receive()
    await flowpy.sleep(60)
    return seen


PAYLOADS = Payloads(
    [Compression(), Encryption({"k": bytes(32)}, current="k")], [MemoryStore()], offload_over=200, largest=2**20
)


Recorded = tuple[Converter, str, list[dict[str, Any]]]
"""Reads and writes the payloads; runId; events."""


def recording(converter: Converter) -> tuple[str, list[dict[str, Any]]]:
    with Environment(converter=converter) as swf:
        run = swf.start(order, "4242", workflow_id="w")
        run.signal(told, "b")
        run.signal(said, {"a": 1})
        run.result()
        return run.run_id, run.history()


@pytest.fixture(scope="module", params=["plain", "sealed"])
def recorded(request: pytest.FixtureRequest) -> Recorded:
    converter = Converter() if request.param == "plain" else Converter(payloads=PAYLOADS)
    return converter, *recording(converter)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def attributes(event: dict[str, Any]) -> dict[str, Any]:
    kind = event["eventType"]
    told: dict[str, Any] = event[f"{kind[0].lower()}{kind[1:]}EventAttributes"]
    return told


def decide(events: list[dict[str, Any]], converter: Converter, run_id: str) -> None:
    """Do with a history what workers and clients do."""
    with suppress(flowpy.FlowpyError):
        Decider([order], converter=converter).decide(DecisionTask("w", run_id, ("order", "1.0"), events))
    with suppress(flowpy.FlowpyError):
        open_events(events, PAYLOADS)
    for event in events:
        if event["eventType"] == "DecisionTaskCompleted":
            decode_context(attributes(event).get("executionContext"))


def test_what_was_recorded_is_decided(recorded: Recorded) -> None:
    """And imports what it needs late, before anybody watches."""
    converter, run_id, events = recorded
    ends = [at + 1 for at, event in enumerate(events) if event["eventType"] == "DecisionTaskStarted"]
    Decider([order], converter=converter).decide(DecisionTask("w", run_id, ("order", "1.0"), events[: ends[-1]]))
    decide(events[: ends[0]], Converter(), run_id)
    for at in range(len(events)):
        decide(
            [*events[:at], {**events[at], "eventType": "ActivityTaskCompleted"}, *events[at + 1 :]], converter, run_id
        )


@given(at=st.lists(st.tuples(st.integers(0, 200), texts), min_size=1, max_size=3), end=st.integers(0, 20))
def test_no_payload_of_a_history_does_anything(at: list[tuple[int, str]], end: int, recorded: Recorded) -> None:
    converter, run_id, events = recorded
    ends = [at + 1 for at, event in enumerate(events) if event["eventType"] == "DecisionTaskStarted"]
    changed = copy.deepcopy(events[: ends[end % len(ends)]])
    places = [event for event in changed if event["eventType"] in EVENT_FIELDS]
    for place, text in at:
        event = places[place % len(places)]
        attributes(event)[EVENT_FIELDS[event["eventType"]]] = text
    with watched():
        decide(changed, converter, run_id)


@given(place=st.integers(0, 2_000), value=plain | texts, end=st.integers(0, 20))
def test_nor_does_any_other_member(place: int, value: Any, end: int, recorded: Recorded) -> None:
    converter, run_id, events = recorded
    ends = [at + 1 for at, event in enumerate(events) if event["eventType"] == "DecisionTaskStarted"]
    changed = copy.deepcopy(events[: ends[end % len(ends)]])
    members = [(attributes(event), name) for event in changed for name in attributes(event)]
    holder, name = members[place % len(members)]
    holder[name] = value
    with watched():
        decide(changed, converter, run_id)

"""Sealed histories decide what plain ones decide, from event 1 and in memory alike."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from flowpy.data import Compression, Converter, Encryption, MemoryStore, Payloads
from flowpy.data.sealing import EVENT_FIELDS, open_context, open_decision, seal_context, seal_fields
from flowpy.runtime.decider import Answer, Decider, DecisionTask
from flowpy.runtime.sticky import StickyDecider

from . import interpreter, seeded
from .corpus import played
from .programs import PROGRAMS
from .shop import WORKFLOWS, Sent, Shop, marker_lost
from .test_runs import STEPS

SEALINGS = {
    "compressed": lambda: Payloads([Compression(over=0)]),
    "encrypted": lambda: Payloads([Compression(), Encryption({"k": bytes(32)}, current="k")]),
    "kept elsewhere": lambda: Payloads([Encryption({"k": bytes(32)}, current="k")], [MemoryStore()], offload_over=0),
}


def sealed(event: dict[str, Any], payloads: Payloads) -> dict[str, Any]:
    """The event as it would stand in a history whose payloads are sealed."""
    kind = event["eventType"]
    key = f"{kind[0].lower()}{kind[1:]}EventAttributes"
    told = event.get(key, {})
    if kind == "DecisionTaskCompleted":
        text = told.get("executionContext")
        return event if text is None else {**event, key: {**told, "executionContext": seal_context(text, payloads)}}
    if kind not in EVENT_FIELDS:
        return event
    return {**event, key: seal_fields("RecordMarker" if kind == "MarkerRecorded" else kind, told, payloads)}


def opened(answer: Answer, payloads: Payloads) -> list[Any]:
    """What was decided, whatever it is sealed to and however its JSON is spaced."""
    decisions = [open_decision(decision, payloads) for decision in answer.decisions]
    context = open_context(answer.execution_context, payloads)
    return [normal(decisions), None if context is None else json.loads(context)]


def normal(value: Any) -> Any:
    """A reason that is cut to its type is given back as what it says; texts that are JSON as what they hold."""
    if isinstance(value, dict):
        return {key: normal(each) for key, each in value.items()}
    if isinstance(value, list):
        return [normal(each) for each in value]
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


class SealedShop(Shop):
    """A shop whose decisions are made again where all payloads are sealed, cold and with runs that are kept."""

    def __init__(self, payloads: Payloads, chance: random.Random) -> None:
        super().__init__(between=False)
        self.payloads, self.chance = payloads, chance
        self.sealer = Decider(WORKFLOWS, converter=Converter(payloads=payloads))
        self.sticky = StickyDecider(self.sealer, runs=3)
        self.hits = self.sealings = 0

    def _decide(self, task: DecisionTask) -> Sent:
        sent = super()._decide(task)
        events = [sealed(event, self.payloads) for event in task.events]
        self.sealings += sum(a is not b for a, b in zip(events, task.events, strict=True))
        whole = evolve(task, events=events)
        first = max(0, task.previous_started_event_id - 1)
        interpreter.ran.clear()
        interpreter.sink = []
        cold = self.sealer.decide(whole)
        interpreter.ran.clear()
        kept = task.run_id in self.sticky
        warm = self.sticky.decide(evolve(task, events=events[first:])) or self.sticky.decide(whole)
        interpreter.sink = None
        self.hits += kept
        if not marker_lost(task.events):
            plain = opened(sent.answer, self.payloads)
            assert opened(cold, self.payloads) == plain
            assert opened(warm, self.payloads) == plain
        return sent

    def respond(self, choice: int = 0) -> None:
        """As in every shop, and heard; now and then the reply is lost."""
        if self.begun:
            task, sent = self.begun[choice % len(self.begun)]
            super().respond(choice)
            if self.chance.random() < 0.9:
                self.sticky.accepted(task.run_id, sent.started_event_id)

    def forget(self) -> None:
        super().forget()
        self.sticky.evict_all("drained")


@settings(max_examples=settings().max_examples // 4)
@given(program=PROGRAMS, steps=STEPS, chance=st.integers(0, 99), name=st.sampled_from(sorted(SEALINGS)))
def test_sealed_and_plain_histories_decide_the_same(
    program: list[Any], steps: list[Any], chance: int, name: str
) -> None:
    shop = SealedShop(SEALINGS[name](), random.Random(chance))
    played(program, steps, between=False, workflow=interpreter.walk, shop=shop)


@pytest.mark.parametrize("name", SEALINGS)
def test_stories_seal_and_go_on_in_memory(name: str) -> None:
    """What the test above shows would be nothing if nothing were sealed, or no run were ever kept."""
    hits = sealings = 0
    for seed in range(4):
        rng = random.Random(seed)
        shop = SealedShop(SEALINGS[name](), rng)
        program, steps = seeded.program(rng), seeded.story(rng)
        played(program, steps, between=False, workflow=interpreter.walk, shop=shop)
        hits, sealings = hits + shop.hits, sealings + shop.sealings
    assert hits > 10
    assert sealings > 10

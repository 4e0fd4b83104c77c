"""Runs kept in memory decide what a replay from event 1 decides, whatever becomes of their answers."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from flowpy.runtime.decider import Answer, Decider, DecisionTask
from flowpy.runtime.sticky import StickyDecider

from . import interpreter, seeded
from .corpus import played
from .programs import PLAIN_PROGRAMS, PROGRAMS
from .shop import WORKFLOWS, Sent, Shop, marker_lost
from .test_runs import STEPS


class StickyShop(Shop):
    """A shop that decides once more with a decider that keeps runs, and is given only what is new.

    Args:
        chance: Which events are given twice, and what the decider hears of its answers.
        runs: How many runs are kept.
    """

    def __init__(self, chance: random.Random, *, between: bool, runs: int) -> None:
        super().__init__(between=between)
        self.chance = chance
        self.counts: Counter[str] = Counter()
        self.sticky = StickyDecider(Decider(WORKFLOWS), runs=runs, count=lambda what: self.counts.update([what]))

    def _decide(self, task: DecisionTask) -> Sent:
        sent = super()._decide(task)
        again = self.chance.choice([0, 0, 1, 4])
        first = max(0, task.previous_started_event_id - 1 - again)
        interpreter.ran.clear()
        interpreter.sink = []
        answer = self.sticky.decide(evolve(task, events=task.events[first:]))
        if answer is None:
            self.counts["read"] += 1
            answer = self.sticky.decide(task)
        interpreter.sink = None
        if not marker_lost(task.events):
            assert answer == sent.answer, "a kept run decides what a cold one decides"
            assert task.run_id in self.sticky or closes(sent.answer)
        return sent

    def respond(self, choice: int = 0) -> None:
        """As in every shop; now and then the reply is lost, or it is heard late that the answer came too late."""
        if not self.begun:
            return
        task, sent = self.begun[choice % len(self.begun)]
        before = len(self.runs[task.run_id].accepted)
        super().respond(choice)
        accepted = len(self.runs[task.run_id].accepted) > before
        if self.chance.random() < 0.1:
            accepted = False
        if accepted:
            self.sticky.accepted(task.run_id, sent.started_event_id)
        elif self.chance.random() < 0.5:
            self.sticky.evict(task.run_id, "unanswered")

    def forget(self) -> None:
        super().forget()
        self.sticky.evict_all("drained")
        assert len(self.sticky) == self.sticky._bytes == 0


def closes(answer: Answer) -> bool:
    kinds = [decision["decisionType"] for decision in answer.decisions]
    return bool(kinds) and kinds[-1].endswith("WorkflowExecution") and not kinds[-1].startswith(("Start", "Request"))


def play(program: list[Any], steps: list[Any], chance: int, *, between: bool, runs: int, workflow: Any) -> StickyShop:
    shop = StickyShop(random.Random(chance), between=between, runs=runs)
    played(program, steps, between=between, workflow=workflow, shop=shop)
    assert not shop.counts["cache_evictions_differed"], "what is believed only after a replay never happens"
    assert not shop.counts["cache_evictions_failed"]
    return shop


@given(program=PROGRAMS, steps=STEPS, chance=st.integers(0, 99), between=st.booleans(), runs=st.integers(1, 9))
def test_kept_and_cold_runs_decide_the_same(
    program: list[Any], steps: list[Any], chance: int, between: bool, runs: int
) -> None:
    play(program, steps, chance, between=between, runs=runs, workflow=interpreter.walk)


@given(program=PLAIN_PROGRAMS, steps=STEPS, chance=st.integers(0, 99), runs=st.integers(1, 9))
def test_kept_and_cold_plain_runs_decide_the_same(program: list[Any], steps: list[Any], chance: int, runs: int) -> None:
    play(program, steps, chance, between=False, runs=runs, workflow=interpreter.walk_plain)


@given(seed=st.integers(0, 2**32), between=st.booleans(), runs=st.integers(1, 9), plain=st.booleans())
def test_in_long_stories_too(seed: int, between: bool, runs: int, plain: bool) -> None:
    rng = random.Random(seed)
    workflow = interpreter.walk_plain if plain else interpreter.walk
    play(seeded.program(rng, plain=plain), seeded.story(rng), seed, between=between, runs=runs, workflow=workflow)


def test_stories_go_through_hits_and_misses() -> None:
    """What the tests above show would be nothing if no run were ever kept, or none ever left."""
    total: Counter[str] = Counter()
    for seed in range(12):
        rng = random.Random(seed)
        program, steps = seeded.program(rng), seeded.story(rng)
        total += play(program, steps, seed, between=False, runs=1 + seed % 3, workflow=interpreter.walk).counts
    assert total["cache_hits"] > total["cache_misses"] >= total["read"] > 0
    assert {"cache_evictions_unanswered", "cache_evictions_full", "cache_evictions_closed"} <= set(total)


def test_a_decider_that_hears_nothing_of_its_answers_goes_on_with_none() -> None:
    class Deaf(StickyShop):
        def respond(self, choice: int = 0) -> None:
            Shop.respond(self, choice)

    shop = Deaf(random.Random(1), between=False, runs=9)
    rng = random.Random(3)
    played(seeded.program(rng), seeded.story(rng), between=False, workflow=interpreter.walk, shop=shop)
    assert shop.counts["cache_misses"]
    assert not shop.counts["cache_hits"]

"""Law L2: what code sees depends on the sequence of events, not on how decision tasks batched them."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flowpy.errors import UnknownResource

from . import interpreter, seeded
from .shop import Shop

POLLS = st.lists(st.sampled_from(["", "", "begin", "decide"]), max_size=12)


@given(seed=st.integers(0, 2**32), polls=POLLS, plain=st.booleans())
def test_code_sees_the_same_however_events_are_batched(seed: int, polls: list[str], plain: bool) -> None:
    # Side effects differ by decision task on purpose, and a cancel in the mode "wait" is at once only if it is unsent.
    program = seeded.program(random.Random(seed), plain=plain, waits=False, effects=False)

    at_once, _ = seen(program, [], seed, plain)
    in_parts, closed = seen(program, polls, seed, plain)

    assert in_parts == (at_once[: len(in_parts)] if closed else at_once)


def seen(program: list[Any], polls: list[str], seed: int, plain: bool) -> tuple[list[Any], bool]:
    """What code has seen after the work of its first decisions has ended in some order.

    Args:
        program: The program.
        polls: When decision tasks are begun and answered on the way.
        seed: Decides what happens, and in which order.
        plain: Whether a plain ``def`` workflow runs it.

    Returns:
        What the code has seen, and whether the run had closed before everything had happened.
    """
    shop = Shop()
    try:
        run_id = shop.start(program, workflow=interpreter.walk_plain if plain else interpreter.walk)
        decide(shop, run_id)
        shop.settle()
        shop.engine.hold_effects = True
        for _ in range(20):
            shop.take()
        happen(shop, run_id, random.Random(seed), iter(polls))
        closed = not shop.engine.world.runs[run_id].is_open
        for _ in range(9):
            decide(shop, run_id)
        return shop.runs[run_id].accepted[-1].trace, closed
    finally:
        interpreter.sink = None
        shop.forget()


def happen(shop: Shop, run_id: str, rng: random.Random, polls: Any) -> None:
    events = ["complete"] * len(shop.taken) + ["finish_lambda"] * 2 + ["signal"] * rng.randrange(4)
    rng.shuffle(events)
    for event in events:
        what, choice = rng.choice([event, event, "fail" if event == "complete" else event]), rng.randrange(12)
        if event == "signal":
            run = {"domain": "shop", "workflowId": "main", "runId": run_id}
            with suppress(UnknownResource):
                shop.call("SignalWorkflowExecution", **run, signalName="ab"[choice % 2], input="1")
        else:
            getattr(shop, what)(choice)
        poll = next(polls, "")
        if poll == "begin":
            begin(shop, run_id)
        elif poll == "decide":
            decide(shop, run_id)


def begin(shop: Shop, run_id: str) -> None:
    for _ in range(9):
        if any(task.run_id == run_id for task, _ in shop.begun):
            return
        shop.poll()


def decide(shop: Shop, run_id: str) -> None:
    begin(shop, run_id)
    for index, (task, _) in enumerate(shop.begun):
        if task.run_id == run_id:
            shop.respond(index)
            return

"""Any program in an environment: it ends, no replay of it differs, and chance changes no outcome of the kit itself."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import flowpy
from flowpy.local.engine import check_history
from flowpy.testing import Environment

from . import interpreter, seeded
from .programs import PLAIN_PROGRAMS, PROGRAMS
from .shop import OTHER

SEEDS = st.integers(0, 2**32)


@given(program=PROGRAMS, seed=SEEDS, strict=st.booleans())
def test_any_program_replays(program: list[Any], seed: int, strict: bool) -> None:
    play(interpreter.walk, program, seed, strict=strict)


@given(program=PLAIN_PROGRAMS, seed=SEEDS)
def test_any_plain_program_replays(program: list[Any], seed: int) -> None:
    play(interpreter.walk_plain, program, seed, strict=True)


@given(seed=SEEDS)
def test_any_large_program_replays(seed: int) -> None:
    play(interpreter.walk, seeded.program(random.Random(seed)), seed, strict=True)


@given(program=PROGRAMS, seed=SEEDS)
def test_a_test_is_the_same_each_time(program: list[Any], seed: int) -> None:
    first, second = (play(interpreter.walk, program, seed, strict=True) for _ in range(2))
    assert first == second


def play(declared: Any, program: list[Any], seed: int, *, strict: bool) -> list[dict[str, Any]]:
    """Run a program beside another execution, with all that may go wrong; gives the histories."""
    chance = random.Random(seed)
    interpreter.ran.clear()
    with Environment(strict=strict, seed=seed) as swf:
        for stubbed in (interpreter.work, interpreter.retried, interpreter.expiring):
            tell(swf, stubbed, chance)
        swf.stub("resize", returns=1, delay=chance.randrange(40))
        swf.start(declared, OTHER, workflow_id="other")
        run = swf.start(declared, program, workflow_id="main")
        for _ in range(chance.randrange(6)):
            disturb(swf, run, chance)
        with suppress(flowpy.ExecutionError):
            run.result()
        swf.advance("1h")
        swf.check()
        for history in swf.histories():
            check_history(history["events"])
        return swf.histories()


def tell(swf: Environment, target: Any, chance: random.Random) -> None:
    """A stub that ends in one way after another."""
    ends: list[dict[str, Any]] = [
        {"returns": 1},
        {"returns": 2, "delay": 3},
        {"raises": ValueError("no")},
        {"raises": flowpy.ApplicationError("no", type="Fatal"), "delay": 1},
        {"returns": 3, "delay": 100, "heartbeats": [1, 2]},
        {"times_out": "HEARTBEAT"},
    ]
    stub = swf.stub(target, **chance.choice(ends))
    for _ in range(3):
        stub.then(**chance.choice(ends))
    stub.then(returns=0)


def disturb(swf: Environment, run: Any, chance: random.Random) -> None:
    """Something happens to the run, or goes wrong."""
    faults = swf.faults
    something = chance.choice(
        [
            lambda: run.signal(chance.choice("ab"), 1),
            lambda: swf.advance(chance.randrange(60)),
            run.cancel,
            faults.kill_worker,
            faults.time_out_decision_task,
            lambda: faults.lose_response("RespondDecisionTaskCompleted"),
            lambda: faults.throttle("PollForDecisionTask"),
            lambda: faults.throttle("PollForActivityTask"),
            lambda: faults.page(chance.choice([1, 3])),
        ]
    )
    # The run may have ended before.
    with suppress(flowpy.UnknownResource):
        something()

"""Larger programs and longer stories than hypothesis builds by itself, each from one number."""

from __future__ import annotations

import random
from typing import Any

Block = list[Any]

ACTIONS = {
    "poll": 14, "respond": 14, "take": 8, "complete": 6, "fail": 3, "garble": 1, "cancel": 2, "lose": 1, "hold": 0.7,
    "finish_lambda": 2, "signal": 5, "request_cancel": 0.5, "terminate": 0.2, "pass_time": 3, "fall_due": 4,
    "hold_effects": 1, "run_effect": 3, "settle": 1, "refuse": 1,
}  # fmt: skip


def story(rng: random.Random, steps: int = 120) -> list[tuple[str, int]]:
    """What happens to the runs, step by step."""
    refusing = rng.random() < 0.3
    names = [name for name in ACTIONS if refusing or name != "refuse"]
    chosen = rng.choices(names, [ACTIONS[name] for name in names], k=rng.randrange(steps))
    return [(name, rng.randrange(15)) for name in chosen]


def program(rng: random.Random, *, plain: bool = False, waits: bool = True, effects: bool = True) -> Block:
    """A program of some twenty statements.

    Args:
        rng: Where the choices come from.
        plain: Only what plain ``def`` code can do.
        waits: Whether activities and children may be cancelled in the mode ``"wait"``.
        effects: Whether it may have side effects.
    """
    return _Maker(rng, waits=waits, effects=effects).block(rng.choice([1, 2, 2, 3]), plain=plain)


class _Maker:
    def __init__(self, rng: random.Random, *, waits: bool, effects: bool) -> None:
        self.rng = rng
        self.common = {name: weight for name, weight in COMMON.items() if effects or name != "effect"}
        self.cancels = ["try", "try", "abandon", *(["wait"] if waits else [])]
        waiting = ["wait", "retry_wait"] if waits else []
        self.activities = ["try", "try", "try", "abandon", "retry", "expiring", *waiting]

    def block(self, depth: int, *, plain: bool) -> Block:
        made: Block = []
        for _ in range(self.rng.randrange(2, 9)):
            one = self.statement(depth, plain=plain)
            if one[0] in RISKY and depth and self.rng.random() < 0.8:
                one = ["try", [one], [], self.rng.random() < 0.3]
            made.append(one)
        return made

    def statement(self, depth: int, *, plain: bool) -> Block:
        names = dict(self.common)
        if not plain:
            names |= ASYNC
        if depth:
            names |= NESTED if plain else NESTED | NESTED_ASYNC
        name = self.rng.choices(list(names), list(names.values()))[0]
        return [name, *self.arguments(name, depth, plain=plain)]

    def arguments(self, name: str, depth: int, *, plain: bool) -> Block:
        rng = self.rng
        slot, small = rng.randrange(9), rng.randrange(4)
        slots = rng.sample(range(9), rng.randrange(1, 4))
        dependency = rng.choice([None, None, None, rng.randrange(9)])
        seconds, limit = rng.choice([1, 2, 5, 30]), rng.choice([None, 1, 3, 20])

        def inner() -> Block:
            return self.block(depth - 1, plain=plain)

        def free() -> Block:
            return self.block(depth - 1, plain=False)

        made: dict[str, Any] = {
            "act": lambda: [rng.choice(self.activities), small, dependency],
            "sleep": lambda: [seconds],
            "send": lambda: [rng.choice(["other", "nobody", "parent", "self"]), rng.choice("ab"), small, dependency],
            "kill": lambda: [rng.choice(["other", "nobody", "parent", "self"])],
            "lambda": lambda: [small, dependency],
            "recv": lambda: [rng.choice("ab"), limit],
            "await": lambda: [slot], "cancel": lambda: [slot], "detach": lambda: [slot],
            "all": lambda: [slots], "any": lambda: [slots],
            "effect": lambda: [rng.random() < 0.3], "patch": lambda: [rng.choice("pq")], "state": lambda: [small],
            "many": lambda: [rng.randrange(5)],
            "aio_sleep": lambda: [rng.choice([0, 0, 1, 3])], "locked": lambda: [rng.choice([0, 1])],
            "wait": lambda: [slots, rng.random() < 0.5, limit], "completed": lambda: [slots, limit],
            "wait_for": lambda: [rng.choice([0, 1, 5]), slot],
            "try": lambda: [inner(), inner() if rng.random() < 0.3 else [], rng.random() < 0.4],
            "finally": lambda: [inner(), inner()],
            "async": lambda: [free(), dependency],
            "async_plain": lambda: [self.block(depth - 1, plain=True), dependency],
            "handler": lambda: [rng.choice("ab"), free()],
            "handler_plain": lambda: [rng.choice("ab"), self.block(depth - 1, plain=True)],
            "child": lambda: [rng.choice(self.cancels), free(), dependency],
            "spawn": lambda: [inner()], "shield": lambda: [inner()],
            "gather": lambda: [[inner() for _ in range(rng.randrange(1, 4))], rng.random() < 0.5],
            "group": lambda: [[inner() for _ in range(rng.randrange(1, 4))]],
            "timeout": lambda: [seconds, inner()], "wait_for_task": lambda: [seconds, inner()],
        }  # fmt: skip
        return made[name]() if name in made else []  # type: ignore[no-any-return]


COMMON = {
    "act": 14, "sleep": 4, "send": 2, "kill": 1, "lambda": 2, "recv": 3, "await": 12, "cancel": 5, "detach": 1,
    "all": 2, "any": 2, "effect": 2, "patch": 2, "state": 2, "many": 1, "facts": 2, "raise": 0.7, "continue": 0.5,
}  # fmt: skip
ASYNC = {"aio_sleep": 4, "locked": 2, "wait": 4, "completed": 2, "wait_for": 4}
NESTED = {"try": 6, "finally": 2, "async": 3, "async_plain": 2, "handler": 2, "handler_plain": 1, "child": 3}
NESTED_ASYNC = {"spawn": 4, "shield": 2, "gather": 3, "group": 3, "timeout": 3, "wait_for_task": 2}
RISKY = {"await", "wait_for", "timeout", "wait_for_task", "gather", "group", "many", "aio_sleep", "wait", "raise"}

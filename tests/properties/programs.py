"""Strategies: programs for the interpreter."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SMALL = st.integers(0, 3)
SLOT = st.integers(0, 6)
SLOTS = st.lists(SLOT, min_size=1, max_size=3, unique=True)
SECONDS = st.sampled_from([1, 2, 5, 30])
OPTIONAL_SECONDS = st.none() | SECONDS
DEPENDENCY = st.none() | st.none() | SLOT
CANCELS = st.sampled_from(["try", "wait", "abandon"])
ACTIVITY = st.sampled_from(["try", "try", "wait", "abandon", "retry", "retry_wait", "expiring"])
TARGET = st.sampled_from(["other", "nobody", "parent", "self"])
NAME = st.sampled_from(["a", "b"])


def statement(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.tuples(st.just(name), *arguments).map(list)


AWAIT = statement("await", SLOT)
CALLS = [
    statement("act", ACTIVITY, SMALL, DEPENDENCY),
    statement("act", ACTIVITY, SMALL, DEPENDENCY),
    statement("sleep", SECONDS),
    statement("send", TARGET, NAME, SMALL, DEPENDENCY),
    statement("kill", TARGET),
    statement("lambda", SMALL, DEPENDENCY),
    statement("recv", NAME, OPTIONAL_SECONDS),
]
ATOMS = [
    *CALLS,
    AWAIT,
    AWAIT,
    AWAIT,
    statement("all", SLOTS),
    statement("any", SLOTS),
    statement("cancel", SLOT),
    statement("cancel", SLOT),
    statement("detach", SLOT),
    statement("effect", st.booleans()),
    statement("patch", st.sampled_from(["p", "q"])),
    statement("state", SMALL),
    statement("facts"),
    statement("raise"),
    statement("continue"),
    statement("many", st.integers(0, 12)),
]
ASYNC_ATOMS = [
    statement("aio_sleep", st.sampled_from([0, 0, 1, 3])),
    statement("wait", SLOTS, st.booleans(), OPTIONAL_SECONDS),
    statement("wait_for", st.sampled_from([0, 1, 5]), SLOT),
    statement("completed", SLOTS, OPTIONAL_SECONDS),
    statement("locked", st.sampled_from([0, 1])),
]


def blocks(depth: int, *, plain: bool = False) -> st.SearchStrategy[list[Any]]:
    """Programs.

    Args:
        depth: How deep blocks nest in blocks.
        plain: Only what plain ``def`` code can do; async functions that it calls may do everything.
    """
    one_of = [*ATOMS] if plain else [*ATOMS, *ASYNC_ATOMS]
    if depth > 0:
        inner = blocks(depth - 1, plain=plain)
        anything = blocks(depth - 1)
        one_of += [
            statement("try", inner, inner, st.booleans()),
            statement("try", inner, inner, st.booleans()),
            statement("finally", inner, inner),
            statement("async", anything, DEPENDENCY),
            statement("async_plain", blocks(depth - 1, plain=True), DEPENDENCY),
            statement("handler", NAME, anything),
            statement("handler_plain", NAME, blocks(depth - 1, plain=True)),
            statement("child", CANCELS, anything, DEPENDENCY),
        ]
        if not plain:
            several = st.lists(inner, min_size=1, max_size=3)
            one_of += [
                statement("spawn", inner),
                statement("shield", inner),
                statement("gather", several, st.booleans()),
                statement("group", several),
                statement("timeout", SECONDS, inner),
                statement("wait_for_task", SECONDS, inner),
            ]
    return st.lists(st.one_of(one_of), min_size=1, max_size=6 if depth > 1 else 4)


PROGRAMS = blocks(2)
PLAIN_PROGRAMS = blocks(2, plain=True)

"""Chaos on a virtual clock: ``FLOWPY_CHAOS_SEEDS=100:1100 pytest tests/chaos/test_simulated.py`` searches for more.

``FLOWPY_CHAOS_RATE`` is the share of calls that something happens to. Unlike the chaos among processes, a seed does the
same wherever it runs.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

import pytest

from .judging import judged
from .simulation import World

FIRST, LAST = (int(part) for part in os.environ.get("FLOWPY_CHAOS_SEEDS", "0:12").split(":"))
RATE = float(os.environ.get("FLOWPY_CHAOS_RATE", "0.1"))


@cache
def lived(seed):
    """A world after its end; one in three has deciders that keep nothing, one in three such as well."""
    world = World(seed, rate=RATE, sticky=("mixed", "on", "off")[seed % 3])
    world.live()
    return world


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_all_runs_end_as_they_should(seed):
    again = f"again: FLOWPY_CHAOS_SEEDS={seed}:{seed + 1} FLOWPY_CHAOS_RATE={RATE} pytest {__file__}"
    world = lived(seed)
    found = judged(world.recorded(), world.started)
    assert not found, "\n".join([f"{len(found)} things are wrong; {again}", *found])
    assert not world.counts["decisions_held"], again


def test_worlds_are_eventful():
    """Were they not, nothing would be shown."""
    counts = sum((lived(seed).counts for seed in range(FIRST, FIRST + 3)), Counter())
    assert counts["cache_hits"] > 50
    assert counts["cache_misses"] > 10
    assert counts["cache_evictions_unanswered"]
    assert counts["results_dropped"]


def test_a_seed_does_the_same_again():
    first, second = World(FIRST, count=8), World(FIRST, count=8)
    first.live()
    second.live()
    assert [run.events for run in first.recorded()] == [run.events for run in second.recorded()]
    assert first.counts == second.counts

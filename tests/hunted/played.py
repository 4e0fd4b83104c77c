"""Plays cases written as text: what happens line by line, and after ``>`` what the code must then decide.

::

    > StartTimer timer-1 10 | ScheduleActivityTask step-1
    fires timer-1
    begin
    signaled item 5
    > CancelTimer timer-1 !! timer-1 TIMER_ID_UNKNOWN

A line is a method of ``Run`` and its arguments: JSON, or plain text. ``!!`` gives the decisions that SWF refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.cases.harness import pages
from tests.pitfalls.build import Run, told

from flowpy.history import episodes as cutting
from flowpy.history.episodes import Episodes
from flowpy.runtime.run import Run as LiveRun
from flowpy.testing import replay

Case = tuple[Any, str]


def table(*cases: Case) -> Callable[[Any], Any]:
    """Parametrizes a test by cases, each named after its workflow and its place."""
    return pytest.mark.parametrize("case", [pytest.param(c, id=f"{n}-{c[0].name}") for n, c in enumerate(cases, 1)])


def play(case: Case, **started: Any) -> Run:
    """Plays a case, then replays its whole history in every way a worker may come by it."""
    run = Run(case[0], **started)
    for line in filter(None, map(str.strip, case[1].splitlines())):
        if line.startswith(">"):
            wanted, _, refused = line[1:].partition("!!")
            causes = dict(pair.split() for pair in refused.split(",") if pair.strip())
            assert run.decide(refused=causes) == [one.strip() for one in wanted.split(" | ") if one.strip()]
        else:
            name, *arguments = line.split()
            getattr(run, name)(*map(_read, arguments))
    replays_in_every_way(run)
    return run


def replays_in_every_way(run: Run) -> None:
    """From one page and from pages of seven; cold at each decision task and kept; cut whole and in small blocks."""
    run.replays()
    paged = replay(run.workflow, pages(run.events, 7), **run.ids)
    assert [list(map(told, episode.decisions)) for episode in paged.episodes] == run.decided
    started = [episode.started_event_id for episode in Episodes().feed(run.events)]
    for few, block in ((cutting.FEW, cutting.BLOCK), (0, 3)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cutting, "FEW", few)
            patch.setattr(cutting, "BLOCK", block)
            _decides_cold_and_kept(run, started)


def _decides_cold_and_kept(run: Run, started: list[int]) -> None:
    kept, seen = LiveRun(run.workflow, **run.ids), 0
    for event_id, decided in zip(started, run.decided, strict=False):
        cold = LiveRun(run.workflow, **run.ids)
        for live, events in ((cold, run.events[:event_id]), (kept, run.events[seen:event_id])):
            live.feed(events)
            assert list(map(told, live.answer()[0])) == decided
        cold.evict()
        seen = event_id
    kept.feed(run.events[seen:])
    kept.evict()


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text

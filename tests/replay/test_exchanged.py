"""Inputs that stand at other calls of a name: harmless one by one, and told as what they are together."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import flowpy
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.testing import HistoryBuilder


@flowpy.activity
def appraise(item: str) -> int: ...


ITEMS = ("box", "lamp", "rug")


def estate(*items: str) -> Any:
    @flowpy.workflow(name="estate")
    async def valued() -> int:
        sums = [appraise(item) for item in items]
        await flowpy.sleep(60)
        sums += [appraise(item) for item in items]
        return sum(await asyncio.gather(*sums))

    return valued


def decided(workflow: Any) -> None:
    """A worker decides a run whose history has box, lamp and rug, twice."""
    history = HistoryBuilder("estate")
    for item in ITEMS:
        history.schedule(appraise, item)
    history.start_timer("60s").fire()
    for item in ITEMS:
        history.schedule(appraise, item)
    history.signal("wake")
    history.begin_decision()
    events = history.history()
    task = DecisionTask("workflow-1", "run-1", ("estate", "1.0"), events, domain="shop")
    Decider([workflow]).decide(task)


@pytest.mark.parametrize(
    ("items", "warnings", "errors"),
    [
        (ITEMS, 0, 0),
        (("rug", "lamp", "box"), 4, 2),
        (("lamp", "rug", "box"), 6, 2),
        (("box", "lamp", "vase"), 2, 0),
        (("lamp", "box", "vase"), 6, 0),
    ],
)
def test_an_exchange_is_told_once_for_each_decision_task(caplog, items, warnings, errors):
    with caplog.at_level(logging.WARNING, "flowpy.decider"):
        decided(estate(*items))

    said = {level: [each for each in caplog.records if each.levelname == level] for level in ("WARNING", "ERROR")}
    assert (len(said["WARNING"]), len(said["ERROR"])) == (warnings, errors)
    for each in said["ERROR"]:
        assert "another order" in each.getMessage()
        assert "results recorded for one call reach the code of another: restore the order" in each.getMessage()

"""R07: whatever is wrong with a history, the decider says so in an error of its own, and sends nothing."""

from __future__ import annotations

import copy
import gc
import logging
import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import pytest
from tests.cases.harness import load

import flowpy
from flowpy.history import read_history
from flowpy.runtime import Decider, DecisionTask

NAMES = ["two_activities_then_signal", "child_cancel_before_started", "activity_retry_backoff", "wait_for_coroutine"]
WRONG: list[Any] = [None, 5, "x", True, [], {}]
MUTATIONS = 150


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything in an event list."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield (*path, key)
        yield from places(member, (*path, key))


def mutated(events: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    changed: Any = copy.deepcopy(events)
    *way, last = chance.choice(list(places(changed)))
    holder = changed
    for key in way:
        holder = holder[key]
    if chance.random() < 1 / 4:
        del holder[last]
    else:
        holder[last] = chance.choice(WRONG)
    return list(changed)


# Coroutines given to a call that fails are never awaited; that is asyncio's own warning.
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", NAMES)
def test_one_wrong_member_anywhere_is_an_error_of_ours_or_none(name: str) -> None:
    case = load(name)
    events = read_history(case.path).events
    chance = random.Random(name)
    type_ = (case.workflow.name, case.workflow.version)
    logging.disable(logging.CRITICAL)
    try:
        for _ in range(MUTATIONS):
            task = DecisionTask("w", "r", type_, mutated(events, chance))
            with suppress(flowpy.FlowpyError):
                Decider([case.workflow]).decide(task)
    finally:
        logging.disable(logging.NOTSET)
        # What was never awaited is to be found here, where it is expected, and not in the middle of another test.
        gc.collect()


class Nowhere(tzinfo):
    """A time zone that does not know where it is."""

    def utcoffset(self, _stamp: datetime | None) -> timedelta | None:
        return None


@flowpy.workflow(name="clock")
async def clock() -> str:
    return flowpy.now().isoformat()


@pytest.mark.parametrize("wrong", [datetime(2026, 1, 1, tzinfo=Nowhere()), "soon", None])
def test_code_that_asks_for_the_time_never_sees_one_that_cannot_be_read(wrong: Any) -> None:
    begun = {"WorkflowExecutionStarted": {"input": "[]"}, "DecisionTaskScheduled": {}, "DecisionTaskStarted": {}}
    events = [
        {"eventId": id, "eventType": kind, f"{kind[0].lower()}{kind[1:]}EventAttributes": attributes}
        for id, (kind, attributes) in enumerate(begun.items(), 1)
    ]

    def decide(stamp: Any) -> list[dict[str, Any]]:
        stamped = [{**event, "eventTimestamp": stamp} for event in events]
        return Decider([clock]).decide(DecisionTask("w", "r", ("clock", "1.0"), stamped)).decisions

    assert decide(datetime(2026, 1, 1, tzinfo=UTC))[0]["decisionType"] == "CompleteWorkflowExecution"
    with pytest.raises(flowpy.HistoryError, match="event 3"):
        decide(wrong)

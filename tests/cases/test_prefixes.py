"""A history may be read at any moment: every prefix replays, and decides what the live run decided."""

from __future__ import annotations

from typing import Any

import pytest

import flowpy

from .harness import NAMES, Case, load, matches, told

# Every event of the long histories would repeat the same step many times over.
LONG = 60


def lengths(case: Case) -> list[int]:
    """Numbers of events at which to cut, every one of a short history."""
    total = len(case.events)
    step = 1 if total <= LONG else 7
    return sorted({*range(1, total + 1, step), total})


def cuts_a_transaction(case: Case, length: int) -> bool:
    """True if the prefix has a DecisionTaskCompleted but not all events that its decisions became.

    SWF never hands out such a history: it writes these events together.
    """
    completed = [e["eventId"] for e in case.events[:length] if e["eventType"] == "DecisionTaskCompleted"]
    return bool(completed) and any(owner(e) == completed[-1] for e in case.events[length:])


def owner(event: dict[str, Any]) -> int | None:
    """Id of the DecisionTaskCompleted an event belongs to."""
    attributes: dict[str, Any] = next((v for k, v in event.items() if k.endswith("EventAttributes")), {})
    return attributes.get("decisionTaskCompletedEventId")


@pytest.mark.parametrize("name", NAMES)
def test_every_prefix_decides_like_the_live_run(name: str) -> None:
    case = load(name)
    for length in (n for n in lengths(case) if not cuts_a_transaction(case, n)):
        replayed = told(case.replay(case.until(length)))
        matches(known(case, replayed), expected(case, replayed))
        assert [e["open"] for e in replayed[:-1]] == [False] * (len(replayed) - 1), length


@pytest.mark.parametrize("name", NAMES)
def test_a_prefix_that_cuts_a_transaction_is_reported_or_decides_alike(name: str) -> None:
    """Whether decisions are missing in the file or surplus in the code cannot be told: it may be reported."""
    case = load(name)
    for length in (n for n in lengths(case) if cuts_a_transaction(case, n)):
        try:
            replayed = told(case.replay(case.until(length)))
        except (flowpy.NonDeterminismError, flowpy.HistoryError):
            continue
        # What a batch that is cut off would have shown, such as a patch marker, cannot be known.
        matches(replayed[:-1], expected(case, replayed)[: len(replayed) - 1])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_during_a_decision_does_not_change_it(name: str) -> None:
    case = load(name)
    for start in starts(case):
        at_start = told(case.replay(case.until(start)))
        for length in range(start + 1, answered(case, start)):
            assert told(case.replay(case.until(length))) == at_start, (start, length)


def starts(case: Case) -> list[int]:
    """Ids of the DecisionTaskStarted events, a few of them in a long history."""
    ids = [e["eventId"] for e in case.events if e["eventType"] == "DecisionTaskStarted"]
    return ids if len(ids) <= 12 else ids[::4]


def answered(case: Case, start: int) -> int:
    """Id of the event that ends the decision task begun with ``start``, or one past the history's end."""
    for event in case.events[start:]:
        if event["eventType"] in ("DecisionTaskCompleted", "DecisionTaskTimedOut"):
            return int(event["eventId"])
    return len(case.events) + 1


def known(case: Case, replayed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The episodes that the case says something about.

    A prefix that ends inside a decision task which later timed out or was held, or was decided by older
    code, ends in an episode that the whole history does not have.
    """
    if not replayed:
        return replayed
    wanted = {e["started_event_id"]: e for e in case.expected["episodes"]}.get(replayed[-1]["started_event_id"])
    return replayed[:-1] if wanted is None or wanted.get("older_code") else replayed


def expected(case: Case, replayed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the case says about the episodes of ``known``."""
    wanted = case.episodes[: len(known(case, replayed))]
    return [{**e, "open": r["open"]} for e, r in zip(wanted, replayed, strict=False)]

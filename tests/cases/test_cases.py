"""Every case decides what its table says, however its history arrives."""

from __future__ import annotations

import json

import pytest

from .harness import HISTORIES, NAMES, load, matches, pages, told
from .registry import cases

EPISODES = [(name, count) for name in NAMES for count in range(1, len(load(name).expected["episodes"]) + 1)]


def test_every_history_has_its_workflow() -> None:
    assert sorted(cases()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_type_is_registered_under_the_name_in_history(name: str) -> None:
    case = load(name)
    assert (case.workflow.name, case.workflow.version) == (case.expected["workflow"], case.expected["version"])


@pytest.mark.parametrize("name", NAMES)
def test_whole_history_in_one_page(name: str) -> None:
    case = load(name)
    replayed = case.replay()
    matches(told(replayed), case.episodes)
    assert bool(replayed.closed) == (case.expected["closed_by"] is not None)


@pytest.mark.parametrize("name", NAMES)
def test_pages_of_seven_events(name: str) -> None:
    case = load(name)
    matches(told(case.replay(pages(case.events, 7))), case.episodes)


def test_recorded_pages_of_a_long_history() -> None:
    case = load("multi_page")
    files = [json.loads((HISTORIES / "pages" / f"multi_page.page{n}.json").read_text()) for n in (1, 2, 3)]
    matches(told(case.replay(files)), case.episodes)


@pytest.mark.parametrize(("name", "count"), EPISODES)
def test_cold_at_each_episode(name: str, count: int) -> None:
    """A decider that has never seen the run is offered the ``count``-th decision task."""
    case = load(name)
    expected = case.cold(count)
    if expected is None:
        pytest.skip("decided by older code than the one shown")
    offered = case.until(expected[-1]["started_event_id"])
    matches(told(case.replay(offered)), expected)


@pytest.mark.parametrize("name", NAMES)
def test_kept_warm_through_all_episodes(name: str) -> None:
    """One live run is fed only what is new with each decision task."""
    case = load(name)
    if any(e.get("older_code") for e in case.expected["episodes"]):
        pytest.skip("no decider with the code shown took this run from its first decision")
    matches(told(case.replay(warm=True)), case.episodes)


@pytest.mark.parametrize("name", NAMES)
def test_whole_history_gives_the_recorded_result(name: str) -> None:
    case = load(name)
    last = case.expected["episodes"][-1]["decisions"][-1:]
    results = [d["result"] for d in last if d["decisionType"] == "CompleteWorkflowExecution"]
    assert [case.replay().result] == (results or [None])

"""Cutting plain stretches at once gives what cutting event by event gives, for whatever comes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from attrs import asdict
from hypothesis import given
from hypothesis import strategies as st
from tests.cases.harness import HISTORIES

from flowpy.errors import HistoryError
from flowpy.history import episodes
from flowpy.history.episodes import Episodes
from flowpy.history.events import Event
from flowpy.history.reader import read_history
from flowpy.history.stretches import places

KINDS = {
    "A": "ActivityTaskScheduled",
    "a": "ActivityTaskStarted",
    "C": "ActivityTaskCompleted",
    "T": "TimerStarted",
    "F": "TimerFired",
    "f": "ScheduleActivityTaskFailed",
    "M": "MarkerRecorded",
    "S": "DecisionTaskScheduled",
    "s": "DecisionTaskStarted",
    "c": "DecisionTaskCompleted",
    "t": "DecisionTaskTimedOut",
    "!": "WorkflowExecutionSignaled",
    "?": "SomethingNew",
}


def written(text: str, broken: int | None = None) -> list[Event]:
    """Events for letters: decisions answer the last one completed, completions the last one started."""
    events: list[Event] = []
    started = completed = 0
    for id, letter in enumerate(text, 1):
        kind = KINDS[letter]
        attributes: dict[str, Any] = {"timerId": "t", "signalName": "go"}
        if letter in "ATfM":
            attributes["decisionTaskCompletedEventId"] = completed
        if letter in "ct":
            attributes["startedEventId"] = started
        if letter == "c" and id % 3 == 0:
            attributes["executionContext"] = "v1" if id % 2 else "v2"
        if id == broken:
            attributes = {"decisionTaskCompletedEventId": -1, "startedEventId": -1}
        started, completed = (id if letter == "s" else started), (id if letter == "c" else completed)
        events.append({"eventId": id, "eventType": kind, f"{kind[0].lower()}{kind[1:]}EventAttributes": attributes})
    return events


def state(cutter: Episodes, cut: list[Any]) -> dict[str, Any]:
    """All there is to see of a cut history."""
    found = asdict(cutter, recurse=False) | {"cut": cut}
    if found["_started"] is None:
        del found["_mark"]  # where a decision task begins means nothing while none is open
    return found


class OneByOne(Episodes):
    """Cuts event by event."""

    def _skim(self, events: list[Event], done: list[Any]) -> Any:
        self._cut(events, done)
        return ()

    def _step(self, _events: list[Event], _done: list[Any]) -> bool:
        return False


def outcome(kind: type[Episodes], parts: list[list[Event]]) -> Any:
    """What cutting gives, or how it fails."""
    cutter, cut = kind(brief=True), []
    try:
        for part in parts:
            cut += cutter.feed(part)
    except HistoryError as error:
        return str(error)
    return state(cutter, cut)


CASES = sorted(path.name for path in HISTORIES.glob("*.json") if ".expected." not in path.name)


@pytest.mark.parametrize("case", CASES)
def test_every_case(case: str) -> None:
    events = list(read_history(HISTORIES / case).events)
    assert outcome(Episodes, [events]) == outcome(OneByOne, [events])


@given(
    st.lists(st.sampled_from([*KINDS, "cAaCSs", "caCSs", "cAAASs", "cSs", "cCSs", "cAaCSsC"])).map("".join),
    st.integers(1, 60),
    st.integers(0, 60),
    st.integers(2, 30),
)
def test_any_order(text: str, broken: int, border: int, block: int) -> None:
    events = written(f"CSs{text}", broken)
    for parts in ([events], [events[:border], events[border:]]):
        with mock.patch.object(episodes, "BLOCK", block):
            assert outcome(Episodes, parts) == outcome(OneByOne, parts)


def test_long_and_scattered_stretches_are_cut_alike() -> None:
    events = written("CSs" + "cAAaAaCaCCSs" * 3 + "c" + "A" * 40 + "aC" * 40 + "Ssc")
    assert outcome(Episodes, [events]) == outcome(OneByOne, [events])


@given(
    st.sampled_from(["cAaCSs", "caCASs", "cACSs", "cAaAaCCSs", "cSs"]),
    st.integers(3, 12),
    st.sampled_from(["c", "cA", "cAaCSs", "c!", "cAaFSsc"]),
    st.integers(0, 90),
    st.integers(0, 60),
    st.integers(2, 40),
)
def test_rounds_of_one_kind(stretch: str, rounds: int, end: str, broken: int, border: int, block: int) -> None:
    events = written(f"CSs{stretch * rounds}{end}", broken)
    for parts in ([events], [events[:border], events[border:]]):
        for size in (block, episodes.BLOCK):
            with mock.patch.object(episodes, "BLOCK", size):
                assert outcome(Episodes, parts) == outcome(OneByOne, parts)


@given(
    st.lists(
        st.sampled_from(["cAaCSs", "caCASs", "cACSs", "cAaAaCCSs", "cSs", "cTFSs", "c!Ss", "cMASs", "St"]), max_size=9
    ),
    st.integers(0, 60),
)
def test_a_decision_task_at_a_time(stretches: list[str], broken: int) -> None:
    events = written(f"CSs{''.join(stretches)}", broken)
    borders = [0, *(at + 1 for at, event in enumerate(events) if event["eventType"] == KINDS["s"]), len(events)]
    parts = [events[begin:end] for begin, end in pairwise(borders)]
    assert outcome(Episodes, parts) == outcome(OneByOne, parts)


@pytest.mark.parametrize("wrong", ["activityTaskScheduled", "decisionTaskCompleted", "activityTaskCompleted"])
@pytest.mark.parametrize("how", [None, {}, {"executionContext": "new", "startedEventId": 21}])
def test_an_event_of_many_alike_is_wrong(wrong: str, how: Any) -> None:
    events = written("CSs" + "cAaCSs" * 8 + "c")
    key = f"{wrong}EventAttributes"
    at = [index for index, event in enumerate(events) if key in event][3]
    events[at][key] = how
    assert outcome(Episodes, [events]) == outcome(OneByOne, [events])


@pytest.mark.parametrize("end", ["", "A", "AaCSs", "!"])
def test_the_last_decision_of_many_alike_has_no_id(end: str) -> None:
    events = written("CSs" + "cAaCSs" * 8 + "c" + end)
    del events[51]["eventId"]
    with pytest.raises(HistoryError, match="malformed"):
        Episodes(brief=True).feed([*events, {"eventId": 99, "eventType": "Something"}])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"AuCu", (1, 2, 3, 4)),
        (b"AACCCu", (1, 3, 3, 6)),
        (b"", (0, 0, 0, 0)),
        (b"uu", (0, 0, 0, 0)),
    ],
)
def test_places_count_from_the_completed_decision_task(text: bytes, found: tuple[int, ...]) -> None:
    assert places(text) == found


@pytest.mark.parametrize("text", [b"Au?Cu", b"AuACu", b"ACuC", b"AsC", b"ACE"])
def test_what_is_not_plain_or_scattered_is_left_alone(text: bytes) -> None:
    assert min(places(text)) < 0

"""Bad histories: each error names the event, the place and what to do."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.errors import HistoryError
from flowpy.history import read_history

Events = list[dict[str, Any]]


def drop(position: int) -> Callable[[Events], Any]:
    return lambda wire: [event for event in wire if event["eventId"] != position]


def put(position: int, **members: Any) -> Callable[[Events], Any]:
    """Change members of the event with this id; ``attributes`` are merged into its attributes."""

    def change(wire: Events) -> Events:
        event = wire[position - 1]
        changed = members.pop("attributes", {})
        if changed:
            kind = event["eventType"]
            event[kind[0].lower() + kind[1:] + "EventAttributes"] |= changed
        event |= members
        return wire

    return change


def without(position: int, member: str) -> Callable[[Events], Any]:
    def change(wire: Events) -> Events:
        del wire[position - 1][member]
        return wire

    return change


def page(**members: Any) -> Callable[[Events], Any]:
    return lambda wire: {"events": wire, **members}


CASES: dict[str, tuple[Callable[[Events], Any], int | None, str]] = {
    "gap": (drop(5), 5, "event 5 is missing: after 4 comes 6"),
    "beginning missing": (drop(1), 1, "event 1 is missing: the first is 2"),
    "duplicate": (lambda w: [*w, {**w[4], "eventTimestamp": 5}], 5, "event 5 is there twice with different content"),
    "not started": (put(1, eventType="MarkerRecorded", markerRecordedEventAttributes={}), 1, "first event is"),
    "no type": (without(4, "eventType"), 4, "event 4 has no eventType"),
    "type a number": (put(4, eventType=17), 4, "event 4 has the eventType 17"),
    "no id": (without(4, "eventId"), None, "entry 4 of the events has no eventId"),
    "id a word": (put(4, eventId="four"), None, "entry 4 of the events has the eventId 'four'"),
    "id zero": (put(4, eventId=0), None, "entry 4 of the events has the eventId 0"),
    "id a bool": (put(1, eventId=True), None, "entry 1 of the events has the eventId True"),
    "no time": (without(4, "eventTimestamp"), 4, "event 4 (DecisionTaskCompleted) has no readable eventTimestamp"),
    "time a word": (put(4, eventTimestamp="noon"), 4, "'noon' is neither ISO 8601 nor"),
    "time not finite": (put(4, eventTimestamp=float("nan")), 4, "outside the range of times"),
    "time too far": (put(4, eventTimestamp=1e300), 4, "outside the range of times"),
    "time a bool": (put(4, eventTimestamp=True), 4, "a bool is no time"),
    "no attributes": (without(6, "timerFiredEventAttributes"), 6, "event 6 (TimerFired) has no timerFiredEvent"),
    "attributes a list": (put(6, timerFiredEventAttributes=[]), 6, "event 6 (TimerFired) has a list as timerFired"),
    "attributes null": (put(6, timerFiredEventAttributes=None), 6, "has no timerFiredEventAttributes"),
    "forward reference": (put(6, attributes={"startedEventId": 7}), 6, "its startedEventId is 7, no earlier event"),
    "wrong kind": (put(6, attributes={"startedEventId": 4}), 6, "is 4, which is a DecisionTaskCompleted"),
    "reference a word": (put(6, attributes={"startedEventId": "5"}), 6, "is '5', no event id"),
    "reference absent": (put(6, attributes={"startedEventId": None}), 6, "its startedEventId is absent"),
    "reference zero": (put(4, attributes={"startedEventId": 0}), 4, "it must be a DecisionTaskStarted"),
    "other timer": (put(6, attributes={"timerId": "timer-2"}), 6, "event 5, its startedEventId, has 'timer-1'"),
    "no workflow type": (put(1, attributes={"workflowType": {"name": "order"}}), 1, "must have a name and a version"),
    "more pages": (page(nextPageToken="AAAA"), 7, "truncated after event 7: its last page has a token"),
    "aws-cli --max-items": (page(NextToken="AAAA"), 7, "truncated after event 7"),
    "poll cut short": (page(startedEventId=9), 7, "the decision task started with event 9"),
    "two runs": (
        lambda w: [{"events": w, "workflowExecution": {"workflowId": i, "runId": "r"}} for i in "ab"],
        None,
        "mixes two runs",
    ),
    "an event a number": (lambda w: [{"events": [*w, 8]}], None, "entry 8 of the events is an int"),
    "a list of numbers": (lambda _: [1, 2], None, "holds an int (1) where a page or an event should be"),
    "lists in lists in lists": (lambda w: [[[w]]], None, "holds a list"),
    "no events": (lambda _: {"events": []}, None, "has no events"),
    "an empty list": (lambda _: [], None, "has no events"),
    "an empty object": (lambda _: {}, None, "has the members none"),
    "an empty poll": (lambda _: {"startedEventId": 0, "previousStartedEventId": 0}, None, "no decision task"),
    "a describe answer": (lambda _: {"executionInfo": {}, "openCounts": {}}, None, "an answer of DescribeWorkflow"),
    "another object": (lambda _: {"Resources": {}, "Outputs": {}}, None, "has the members Resources, Outputs"),
    "events an object": (lambda _: {"events": {"1": {}}}, None, "not the events of a run"),
    "a number": (lambda _: 7, None, "an int is no history"),
    "nothing": (lambda _: None, None, "a NoneType is no history"),
}


@pytest.mark.parametrize(("change", "event_id", "says"), CASES.values(), ids=CASES.keys())
def test_contradictions(wire: Events, change: Callable[[Events], Any], event_id: int | None, says: str) -> None:
    with pytest.raises(HistoryError) as raised:
        read_history(change(wire))

    assert says in str(raised.value)
    assert raised.value.event_id == event_id


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "neither a path nor JSON text"),
        (b"", "is empty"),
        (b"  \n", "is empty"),
        ("no/such/file.json", "no/such/file.json: cannot be read"),
        ("one\ntwo", "neither a path nor JSON text"),
        ("nul\0", "neither a path nor JSON text"),
        ("[1, 2", "was cut off"),
        ('{"events": [}', "is not JSON at line 1, column 13"),
        (b"<html>503</html>", "is not JSON at line 1, column 1"),
        ("{'events': []}", "is a printed Python object, not JSON"),
        (b'"events"', "holds a str ('events')"),
        (b"17", "holds an int (17)"),
        (b"null", "holds a NoneType"),
        (b"\xff\xfa\x80", "is not utf-8 text: byte 0xff at offset 0"),
        ("[" * 200_000, "nested too deeply"),
        ('{"events":' * 200_000, "nested too deeply"),
        ('[{"EventId":' + '{"A":' * 50 + "1" + "}" * 51 + "]", "objects nested over 16 deep"),
        ("[" + "1" * 5_000 + "]", "is not JSON: Exceeds the limit"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_unreadable_sources(source: str | bytes, says: str) -> None:
    with pytest.raises(HistoryError) as raised:
        read_history(source)

    assert says in str(raised.value)


@pytest.mark.parametrize("depth", [100, 900, 990, 5_000])
def test_nesting_of_any_depth_is_one_kind_of_error(wire: Events, depth: int) -> None:
    nested: Any = "x"
    for _ in range(depth):
        nested = [nested]
    wire[0]["workflowExecutionStartedEventAttributes"]["workflowType"] = nested

    with pytest.raises(HistoryError):
        read_history(wire)


def test_a_truncated_file_names_itself_and_the_last_event(wire: Events, tmp_path: Path) -> None:
    text = json.dumps({"events": wire}, indent=1)
    path = tmp_path / "run.json"
    path.write_text(text[: text.index('"TimerFired"') + 5], encoding="utf-8")

    with pytest.raises(HistoryError, match=r"run\.json: ends in the middle .* after event 6: it was cut off") as raised:
        read_history(path)

    assert raised.value.event_id == 6


@pytest.mark.parametrize("kept", range(1, 200, 7))
def test_no_prefix_of_a_file_reads(wire: Events, kept: int) -> None:
    text = json.dumps({"events": wire})

    with pytest.raises(HistoryError):
        read_history(text[:-kept].encode())


def test_bad_bytes_name_the_event_before_them(wire: Events) -> None:
    content = json.dumps(wire).encode().replace(b'"timer-1"', b'"timer-\xe9"', 1)

    with pytest.raises(HistoryError, match=r"byte 0xe9 at offset \d+, in or after event 5\. Convert"):
        read_history(content)


def test_bad_bytes_in_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b'[{"eventId": 1, "x": "\xe9"}]')

    with path.open(encoding="utf-8") as file, pytest.raises(HistoryError, match=r"run\.json: is not utf-8 text"):
        read_history(file)


def test_a_folder_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="cannot be read"):
        read_history(tmp_path)


def test_the_file_is_named_also_among_several(wire: Events, tmp_path: Path) -> None:
    good, bad = tmp_path / "page1.json", tmp_path / "page2.json"
    good.write_text(json.dumps({"events": wire[:4]}), encoding="utf-8")
    bad.write_text("{", encoding="utf-8")

    with pytest.raises(HistoryError, match=r"page2\.json: "):
        read_history([good, bad])


def test_text_inside_a_document_never_names_a_file(wire: Events, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(wire), encoding="utf-8")

    with pytest.raises(HistoryError, match="holds a str"):
        read_history(io.StringIO(json.dumps([str(path)])))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["events", "eventId", "eventType", "eventTimestamp", "EventId", "Events", "nextPageToken"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_refused_with_one_kind_of_error(value: Any) -> None:
    with pytest.raises(HistoryError):
        read_history(json.dumps(value).encode())


@given(st.binary(max_size=64))
def test_any_bytes_are_refused_with_one_kind_of_error(content: bytes) -> None:
    with pytest.raises(HistoryError):
        read_history(content)

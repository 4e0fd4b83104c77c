"""Every shape in which histories are recorded reads as the same history."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from flowpy.history import History, read_history

Events = list[dict[str, Any]]
EAST = timezone(timedelta(hours=5, minutes=30))


def restamped(wire: Events, form: Callable[[float], Any]) -> Events:
    return [{**event, "eventTimestamp": form(event["eventTimestamp"])} for event in wire]


def utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def titled(value: Any) -> Any:
    """Member names as .NET writes them."""
    if isinstance(value, dict):
        return {key[0].upper() + key[1:]: titled(member) for key, member in value.items()}
    return value


@pytest.fixture
def expected(wire: Events) -> Events:
    return restamped(wire, utc)


TIMES: dict[str, Callable[[float], Any]] = {
    "aws-cli v1, epoch float": float,
    "aws-cli v2, ISO with UTC offset": lambda t: utc(t).isoformat(),
    "aws-cli v2, ISO with local offset": lambda t: utc(t).astimezone(EAST).isoformat(),
    "ISO with Z": lambda t: utc(t).isoformat().replace("+00:00", "Z"),
    "ISO without offset is UTC": lambda t: utc(t).replace(tzinfo=None).isoformat(),
    "python, default=str": lambda t: str(utc(t).astimezone(EAST)),
    "boto3, aware datetime": utc,
    "datetime in another zone": lambda t: utc(t).astimezone(EAST),
    "naive datetime is UTC": lambda t: utc(t).replace(tzinfo=None),
    "java Date, epoch milliseconds": lambda t: round(t * 1000),
    "exponent text": lambda t: f"{t:.13E}",
    ".net Date": lambda t: f"/Date({round(t * 1000)})/",
}


@pytest.mark.parametrize("form", TIMES.values(), ids=TIMES.keys())
def test_every_form_of_time(wire: Events, expected: Events, form: Callable[[float], Any]) -> None:
    events = read_history(restamped(wire, form)).events

    assert events == expected
    assert all(event["eventTimestamp"].tzinfo is not None for event in events)


def test_exponent_floats_as_the_service_writes_them(wire: Events, expected: Events) -> None:
    text = json.dumps(wire).replace("1796026084.332", "1.796026084332E9")

    assert "E9" in text
    assert read_history(text).events == expected


def sources(wire: Events, folder: Path) -> Iterator[tuple[str, Any]]:
    page = {"events": wire}
    text = json.dumps(page, indent=1)
    file = folder / "run.history.json"
    file.write_text(text, encoding="utf-8")
    yield "an object with events", page
    yield "a bare list", wire
    yield "a tuple", tuple(wire)
    yield "an iterator of events", iter(wire)
    yield "a reversed list", wire[::-1]
    yield "a boto3 reply", {**page, "ResponseMetadata": {"HTTPStatusCode": 200}}
    yield "a path", file
    yield "the text of a path", str(file)
    yield "JSON text", text
    yield "JSON text after blanks", "\n\n  " + text
    yield "JSON text of a list", json.dumps(wire)
    yield "UTF-8 bytes", text.encode()
    yield "a bytearray", bytearray(text.encode())
    yield "UTF-8 with a byte order mark", text.encode("utf-8-sig")
    yield "UTF-16, as PowerShell redirects", text.encode("utf-16")
    yield "a text file", io.StringIO(text)
    yield "a binary file", io.BytesIO(text.encode())
    yield "two pages", [{"events": wire[:4], "nextPageToken": "t"}, {"events": wire[4:]}]
    yield "two pages, last first", [{"events": wire[4:]}, {"events": wire[:4], "nextPageToken": "t"}]
    yield "an iterator of pages", iter([{"events": wire[:4], "nextPageToken": "t"}, {"events": wire[4:]}])
    yield "overlapping pages", [{"events": wire[:5]}, {"events": wire[3:]}]
    yield "lists as pages", [wire[:4], wire[4:]]
    yield "concatenated documents", json.dumps({"events": wire[:4]}) + json.dumps({"events": wire[4:]}, indent=2)
    yield "JSON lines of pages", "\n".join(json.dumps({"events": part}) for part in (wire[:2], wire[2:])) + "\n"
    yield "JSON lines of events", "\n".join(json.dumps(event) for event in wire)
    yield "paths of pages", [file]
    yield "lines of an open file", [json.dumps(event).encode() for event in wire]
    yield "one JSON array of pages", json.dumps([{"events": wire[:3]}, {"events": wire[3:]}])


def test_every_kind_of_source(wire: Events, expected: Events, tmp_path: Path) -> None:
    read = {kind: read_history(source).events == expected for kind, source in sources(wire, tmp_path)}

    assert [kind for kind, same in read.items() if not same] == []


def test_a_real_open_file(wire: Events, expected: Events, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(wire), encoding="utf-8")

    with path.open(encoding="utf-8") as file:
        assert read_history(file).events == expected


def test_a_poll_reply_names_its_run(wire: Events) -> None:
    history = read_history(
        {
            "taskToken": "AAAA",
            "startedEventId": 3,
            "previousStartedEventId": 0,
            "workflowExecution": {"workflowId": "order-o-7", "runId": "22abc="},
            "workflowType": {"name": "order", "version": "1.0"},
            "events": wire[:3],
        }
    )

    assert history.workflow_type == ("order", "1.0")
    assert (history.workflow_id, history.run_id) == ("order-o-7", "22abc=")
    assert history.close_event is None


def test_ids_given_win_over_ids_read(wire: Events) -> None:
    page = {"events": wire, "workflowExecution": {"workflowId": "a", "runId": "b"}}

    history = read_history(page, run_id="mine")

    assert (history.workflow_id, history.run_id) == ("a", "mine")


def test_a_history_is_given_back_with_other_ids(wire: Events) -> None:
    history = read_history(wire)

    again = read_history(history, workflow_id="order-o-7")

    assert again.events is history.events
    assert again.workflow_id == "order-o-7"


def test_java_dumps_have_nulls_for_all_other_attributes(wire: Events, expected: Events) -> None:
    others = {"markerRecordedEventAttributes": None, "workflowExecutionSignaledEventAttributes": None}
    dumped = [{**others, **event} for event in wire]
    key = "workflowExecutionStartedEventAttributes"
    dumped[0][key] = {**dumped[0][key], "tagList": None, "lambdaRole": None}

    assert read_history(json.dumps(dumped)).events == expected


def test_dotnet_dumps_have_capital_names_and_enumeration_objects(wire: Events, expected: Events) -> None:
    dumped = [titled(event) for event in wire]
    for event in dumped:
        event["EventType"] = {"Value": event["EventType"]}
    dumped[0]["WorkflowExecutionStartedEventAttributes"]["ChildPolicy"] = {"Value": "TERMINATE"}
    pages = {"Events": dumped, "WorkflowExecution": {"WorkflowId": "w", "RunId": "r"}, "NextPageToken": None}

    history = read_history(json.dumps(pages))

    assert history.events == expected
    assert (history.workflow_id, history.run_id) == ("w", "r")
    assert read_history(dumped).events == expected


def test_ids_as_text_or_float_are_numbers(wire: Events, expected: Events) -> None:
    assert read_history([{**event, "eventId": str(event["eventId"])} for event in wire]).events == expected
    assert read_history([{**event, "eventId": float(event["eventId"])} for event in wire]).events == expected


def test_events_of_boto3_are_not_copied(expected: Events) -> None:
    read = read_history({"events": expected}).events

    assert all(mine is theirs for mine, theirs in zip(read, expected, strict=True))
    assert read is not expected


def test_what_the_caller_gave_is_not_changed(wire: Events) -> None:
    before = json.dumps(wire)

    read_history(wire)

    assert json.dumps(wire) == before


def test_unknown_event_types_are_kept(wire: Events) -> None:
    wire.append({"eventId": 8, "eventTimestamp": 1796026146, "eventType": "MoonLanded"})

    assert read_history(wire).events[-1]["eventType"] == "MoonLanded"


def test_the_close_event(wire: Events) -> None:
    wire.append(
        {
            "eventId": 8,
            "eventTimestamp": 1796026146,
            "eventType": "WorkflowExecutionTerminated",
            "workflowExecutionTerminatedEventAttributes": {"childPolicy": "TERMINATE", "cause": "OPERATOR_INITIATED"},
        }
    )

    closed = read_history(wire).close_event

    assert closed is not None
    assert closed["eventId"] == 8


def test_the_events_are_counted_not_printed(wire: Events) -> None:
    assert repr(read_history(wire)).startswith("History(events=<7>, workflow_type=('order', '1.0')")


def test_a_history_is_a_plain_value(wire: Events) -> None:
    assert read_history(wire) == read_history(wire)
    assert isinstance(read_history(wire), History)

"""Failures written by others, by older code, or cut off: read as far as they go, never looked up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowpy.data import Failure, decode_failure

CUT = json.dumps({"type": "ValueError", "module": "builtins", "message": 'the "name" is é', "traceback": "x" * 99})
CAUSED = '{"type": "A", "message": "outer", "cause": {"type": "B", "message": "inn'


@pytest.mark.parametrize(
    ("reason", "details", "failure"),
    [
        (None, None, Failure()),
        ("", "", Failure()),
        ("ValueError: no", None, Failure("ValueError", message="no")),
        ("com.example.NoSuchError", None, Failure("com.example.NoSuchError")),
        ("task_failed", "wffaildetails", Failure(message="task_failed", traceback="wffaildetails")),
        (
            "plain words, not JSON",
            "Traceback: not JSON either",
            Failure("", "", "plain words, not JSON", "Traceback: not JSON either"),
        ),
        ("", "only details", Failure(message="only details")),
        ("ValueError: a\nb", None, Failure("ValueError", message="a\nb")),
        ("r", '"text"', Failure(message="text")),
        ("r", "5", Failure(message="r", traceback="5")),
        ("r", "{}", Failure(message="r", traceback="{}")),
        ("E: r", '{"message": "m"}', Failure("E", message="m")),
        ("r" * 256, CUT[:70], Failure("ValueError", "builtins", 'the "name" ')),
        ("r", CUT[: CUT.index("u00e9") + 3], Failure("ValueError", "builtins", 'the "name" is ')),
        ("r", CUT[:-20], Failure("ValueError", "builtins", 'the "name" is é', "x" * 81)),
        ("r", CAUSED, Failure("A", message="outer")),
        ("r", '{"ty', Failure(message="r", traceback='{"ty')),
        (
            "T: m",
            '{"type": 5, "message": ["x"], "cause": "because", "data": [1]}',
            Failure("T", message="m", traceback='{"type": 5, "message": ["x"], "cause": "because", "data": [1]}'),
        ),
        (
            "r",
            '{"type": "T", "cause": "because", "retry": false}',
            Failure("T", cause=Failure(message="because")),
        ),
        (
            "UnhandledError",
            '{"errorMessage": "bad", "errorType": "KeyError", "stackTrace": ["a\\n", "b"]}',
            Failure("KeyError", message="bad", traceback="a\nb\n"),
        ),
        (
            "x",
            '{"error": "TaskFailed", "message": "m", "traceback": "tb"}',
            Failure("TaskFailed", message="m", traceback="tb"),
        ),
        (
            "x",
            '["java.lang.Error", {"message": "m", "cause": ["B", {"message": "n"}], "stackTrace": ["c"]}]',
            Failure("java.lang.Error", message="m", traceback="c\n", cause=Failure("B", message="n")),
        ),
    ],
    ids=lambda part: ascii(part)[:30],
)
def test_what_can_be_told_is_told(reason: str | None, details: str | None, failure: Failure) -> None:
    assert decode_failure(reason, details) == failure


@pytest.mark.parametrize(
    "details",
    [
        '{"__obj": ["subprocess:Popen", {"args": ["touch", "/tmp/pwned"]}]}',
        '[{"__obj": ["subprocess:Popen", "boom"]}, ["tb"]]',
        '{"__obj": []}',
        '{"__obj": 5}',
        '{"__obj": [5, 6]}',
    ],
)
def test_y01_named_classes_stay_text(details: str) -> None:
    failure = decode_failure("boom", details)
    assert failure.type in {"Popen", ""}


def test_z16_pointer_to_a_store_is_not_shown_as_the_message() -> None:
    pointer = f'{{"$flowpy": "offload", "uri": "s3://b/k", "sha256": "{"0" * 64}", "size": 1}}'
    failure = decode_failure("ValueError: no", pointer)
    assert (failure.type, failure.message) == ("ValueError", "no")
    assert "s3://b/k and this process has the stores: none" in failure.traceback


def test_nesting_without_end_is_read_as_far_as_it_is_bounded() -> None:
    details = '{"type": "A", "cause": ' * 140 + "null" + "}" * 140
    assert 10 < len(list(decode_failure("r", details).chain())) < 50
    assert decode_failure("A: m", '{"type": "B", "cause": ' * 5_000).message == "m"


CASES = Path(__file__).parents[1] / "cases" / "histories"


@pytest.mark.parametrize("path", sorted(CASES.glob("activity_failed_odd_payloads.json")), ids=lambda path: path.stem)
def test_z18_recorded_odd_failures_are_read(path: Path) -> None:
    events = json.loads(path.read_text(encoding="utf-8"))["events"]
    failed = [
        event["activityTaskFailedEventAttributes"] for event in events if event["eventType"] == "ActivityTaskFailed"
    ]
    read = [decode_failure(each.get("reason"), each.get("details")) for each in failed]
    assert [(failure.type, failure.message) for failure in read] == [
        ("", ""),
        ("", "plain words, not JSON"),
        ("ValueError", "cut off he"),
        ("com.example.NoSuchError", "from another SDK"),
    ]

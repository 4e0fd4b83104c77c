"""Redaction: nothing of the values is left, and what is left still replays."""

from __future__ import annotations

import base64
import datetime as dt
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases.harness import NAMES, load, told

import flowpy
from flowpy import Retry, Signal, activity, workflow
from flowpy.errors import DeclarationError
from flowpy.history import read_history
from flowpy.testing import HistoryBuilder, redact, replay
from flowpy.testing.replacing import KeyedReplacement

from .recordings import FILES

SECRET = b"secret"


# --- values -----------------------------------------------------------------------------------


def replaced(value: Any) -> Any:
    return KeyedReplacement(SECRET)(value, ())


@given(st.one_of(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_value_becomes_one_of_its_type_and_always_the_same(value: Any) -> None:
    made = replaced(value)

    assert type(made) is type(value)
    assert replaced(value) == made
    if isinstance(value, str):
        assert len(made) == len(value)
    if isinstance(value, int):
        assert (len(str(made)), made < 0, made == 0) == (len(str(value)), value < 0, value == 0)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_no_two_values_become_the_same(length: int) -> None:
    numbers = range(10 ** (length - 1), 10**length)

    assert {replaced(number) for number in numbers} == set(numbers)
    assert len({replaced(str(number)) for number in numbers}) == len(numbers)


@given(st.text("abcXYZ0189-_.", max_size=12), st.text("abcXYZ0189-_.", max_size=12))
def test_different_texts_stay_different(one: str, other: str) -> None:
    assert (replaced(one) == replaced(other)) == (one == other)


def test_what_code_puts_together_still_fits() -> None:
    assert replaced("order-17/eu") == f"{replaced('order')}-{replaced(17)}/{replaced('eu')}"


def test_words_in_a_sentence_are_no_key_to_words_elsewhere() -> None:
    sentence = replaced("please call Johnson at noon")

    assert [len(word) for word in sentence.split()] == [6, 4, 7, 2, 4]
    assert replaced("Johnson") not in sentence


def test_formats_that_code_reads_stay_formats() -> None:
    assert uuid.UUID(replaced("f47ac10b-58cc-4372-a567-0e02b2c3d479")).version == 4
    assert dt.date.fromisoformat(replaced("2025-02-28"))
    moment = dt.datetime.fromisoformat(replaced("2025-12-31T23:59:59.123456+00:00"))
    assert moment.utcoffset() == dt.timedelta()
    assert dt.time.fromisoformat(replaced("23:59:59"))
    assert flowpy.declare.durations.seconds(replaced("90s"), "x")
    assert bytes.fromhex(replaced("00ff00ff00ff00ff00ff"))
    assert base64.b64decode(replaced(base64.b64encode(b"some bytes!").decode()), validate=True)
    assert float(replaced("-12.50")) < 0


def test_another_key_gives_other_values() -> None:
    assert KeyedReplacement(b"other")("order-o-7", ()) != replaced("order-o-7")


# --- histories --------------------------------------------------------------------------------

approval = Signal("approval", dict[str, Any])


@activity(retry=Retry(attempts=3, initial="2s", never_on=["Fatal"]))
def charge(order: dict[str, Any], cents: int) -> str: ...


@workflow
async def parcel(order_id: str) -> str: ...


@workflow(name="order")
async def order(order: dict[str, Any]) -> str:
    flowpy.set_state({"customer": order["customer"]})
    try:
        receipt = await charge(order, order["cents"])
    except flowpy.ActivityFailed:
        await flowpy.external("audit").signal("refused", order["customer"])
        raise
    secret = flowpy.side_effect(lambda: "token-of-ann")
    answer = await approval.receive()
    if answer["ok"]:
        await parcel(order["id"])
        return f"{receipt} {secret}"
    return "no"


ORDER = {"id": "o-7", "customer": "Ann Example", "cents": 4200, "gift": False, "ann@example.com": 1}
SENSITIVE = ("Ann", "4200", "o-7", "token-of-ann", "host-of-ann", "r-1", "example.com", "card 4711", "eu-ann")


def shop(**ids: str) -> HistoryBuilder:
    history = HistoryBuilder(order, ORDER, tagList=["eu-ann"], **ids)
    history.begin_decision()
    history.decide(state={"customer": "Ann Example"})
    history.schedule(charge, ORDER, 4200).fail(ValueError("card 4711 of Ann refused"))
    history.start_timer(2, id="charge-1.w2").fire()
    again = history.schedule(charge, ORDER, 4200, id="charge-1.r2")
    again.start("host-of-ann")
    again.complete("r-1")
    history.record_side_effect("token-of-ann")
    # A batch of markers only wakes nobody, so flowpy ends it with a timer.
    history.start_timer(0, id="flowpy.again-1")
    history.signal(approval, {"ok": True, "by": "Ann Example", "ann@example.com": "Ann"})
    history.start_child(parcel, "o-7").complete("p-1")
    history.complete("r-1 token-of-ann")
    return history


def test_nothing_sensitive_is_left_and_it_still_replays() -> None:
    stored = redact(shop(), key="k")

    text = json.dumps(stored)
    assert [word for word in SENSITIVE if word in text] == []
    replayed = replay(order, json.loads(text))
    assert replayed.closed == "WorkflowExecutionCompleted"
    assert [len(each.decisions) for each in replayed.episodes] == [
        len(each.decisions) for each in replay(order, shop()).episodes
    ]
    assert replayed.warnings == []


def test_equal_values_stay_equal_throughout() -> None:
    first, *_ = events = redact(shop(), key="k")["events"]

    started = json.loads(first["workflowExecutionStartedEventAttributes"]["input"])[0]
    scheduled = [
        json.loads(event["activityTaskScheduledEventAttributes"]["input"])
        for event in events
        if "activityTaskScheduledEventAttributes" in event
    ]
    assert [given for given, _ in scheduled] == [started, started]
    assert [cents for _, cents in scheduled] == [started["cents"]] * 2
    assert started["gift"] is False
    assert list(started)[:4] == ["id", "customer", "cents", "gift"]


def test_one_key_redacts_many_histories_alike_and_none_redacts_each_anew() -> None:
    assert redact(shop(), key="k") == redact(shop(), key=b"k")
    assert redact(shop()) != redact(shop())


def test_types_of_errors_stay() -> None:
    failed = next(each for each in redact(shop(), key="k")["events"] if each["eventType"] == "ActivityTaskFailed")
    told = failed["activityTaskFailedEventAttributes"]
    details = json.loads(told["details"])

    assert told["reason"].startswith("ValueError: ")
    assert "refused" not in told["reason"]
    assert (details["type"], details["module"]) == ("ValueError", "builtins")
    assert "refused" not in told["details"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("customer", '"customer": "Ann Example"'),
        ("approval", '"by": "Ann Example"'),
        ("charge", "r-1"),
        ("tagList", "eu-ann"),
        ("identity", "host-of-ann"),
        ("order", '[{"id": "o-7"'),
    ],
)
def test_names_whose_values_stay(name: str, shown: str) -> None:
    text = json.dumps(redact(shop(), key="k", keep={name})).replace('\\"', '"')

    assert shown in text
    assert "token-of-ann" not in text or name == "order"


def test_a_function_of_ones_own() -> None:
    seen = []

    def replace(value: Any, names: tuple[str, ...]) -> Any:
        seen.append(names)
        return "x" if isinstance(value, str) else value

    stored = redact(shop(), replace=replace)

    assert ("charge", "input", "customer") in seen
    assert ("approval", "input", "by") in seen
    assert json.loads(stored["events"][0]["workflowExecutionStartedEventAttributes"]["input"])[0]["cents"] == 4200


def test_a_function_that_changes_the_type_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"gave a str for an int .*order → input → cents"):
        redact(shop(), replace=lambda _value, _names: "x")
    with pytest.raises(DeclarationError, match="leave it out"):
        redact(shop(), key="k", replace=lambda value, _names: value)


def test_the_workflow_id_can_be_another_one_and_children_follow() -> None:
    history = shop(workflow_id="order-of-ann", run_id="r-of-it")
    stored = redact(history, key="k", workflow_id="order-1")

    # SWF's own runIds say nothing; those that the builder makes up do.
    assert "of-ann" not in json.dumps(stored).replace("run-of-order-of-ann.", "")
    assert stored["workflowExecution"] == {"workflowId": "order-1", "runId": "r-of-it"}
    assert replay(order, stored).ok


def test_what_is_flowpys_own_stays() -> None:
    history = HistoryBuilder("w", input='{"args": ["Ann"], "signals": [{"name": "go", "input": "\\"Ann\\""}]}')
    history.record_patch("audit")
    history.schedule("a", control='{"retry": {"attempts": 3, "first": 1}}')
    history.schedule("b", control="plain of Ann")
    history.signal_external("other", "go", id="t1.signal-4")
    history.cancel_external("other", id="ship-1.cancel")
    history.record_side_effect({"$flowpy": "value", "value": "Ann"})
    events = redact(history, key="k")["events"]
    told = [next(value for name, value in event.items() if name.endswith("Attributes")) for event in events]

    started = json.loads(told[0]["input"])
    assert started["signals"][0]["name"] == "go"
    assert "Ann" not in told[0]["input"]
    assert told[4]["details"] == '{"id": "audit"}'
    assert told[5]["control"] == '{"retry": {"attempts": 3, "first": 1}}'
    assert "Ann" not in told[6]["control"]
    assert [told[7]["control"], told[8]["control"]] == ["t1.signal-4", "ship-1.cancel"]
    effect = json.loads(told[9]["details"])
    assert (effect["id"], effect["value"]["$flowpy"]) == ("effect-1", "value")
    assert effect["value"]["value"] != "Ann"


@pytest.mark.parametrize(
    "text", ["[1e400]", "plain words of Ann", "[" * 200, '{"a": ', "\ud800 Ann", '"12"', "-0.0", "12e5"]
)
def test_payloads_of_any_kind_are_taken(text: str) -> None:
    history = HistoryBuilder("w", input=text)
    told = redact(history, key="k")["events"][0]["workflowExecutionStartedEventAttributes"]

    assert "Ann" not in told["input"]


KEPT = {
    "fan_out_forty": {"survey", "probe"},
    "multi_page": {"forty_five_steps"},
    "patch_absent_then_present": {"imports"},
    "signal_before_first_decision": {"inbox"},
}
"""Names to keep in cases whose code goes by values."""


@pytest.mark.parametrize("name", NAMES)
def test_every_case_decides_the_same_after_redaction(name: str) -> None:
    case = load(name)
    stored = json.loads(json.dumps(redact(case.path, key="k", keep=KEPT.get(name, ()))))

    replayed = case.replay(stored)

    def ids(episodes: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
        return [[(each["decisionType"], each.get("id")) for each in episode["decisions"]] for episode in episodes]

    assert ids(told(replayed)) == ids(case.episodes)
    # Prefixes too: each begins with the same redacted events.
    for episode in case.episodes:
        assert case.replay(stored["events"][: episode["started_event_id"]]).ok


@pytest.mark.skipif(not FILES, reason="no recorded histories: set FLOWPY_RECORDED_HISTORIES to a folder of them")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_other_frameworks_recorded_is_redacted(path: Path) -> None:
    stored = redact(path, key="k")

    again = read_history(json.loads(json.dumps(stored)))
    history = read_history(path)
    assert [event["eventType"] for event in again.events] == [event["eventType"] for event in history.events]
    assert [event["eventTimestamp"] for event in again.events] == [event["eventTimestamp"] for event in history.events]


@pytest.mark.parametrize("reason", ["AnnExample", "Ann: asked for it by phone", "ann asked"])
def test_why_a_run_was_terminated_is_no_type_of_an_error(reason: str) -> None:
    history = HistoryBuilder(order, {"id": "o-7"})
    history.terminate(reason)

    assert "ann" not in json.dumps(redact(history, key="k")).lower()


def test_a_single_name_to_keep_is_given_in_a_set() -> None:
    with pytest.raises(DeclarationError, match=r"keep=\{'id'\}"):
        redact(shop(), keep="id")

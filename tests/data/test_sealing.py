"""The border: which fields are payloads, and that all else stays readable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.session import get_session

from flowpy.data import (
    DATA,
    DETAILS,
    PLAIN,
    Compression,
    Converter,
    Encryption,
    MemoryStore,
    Payloads,
    decode_context,
    decode_failure,
    encode_context,
    encode_failure,
)
from flowpy.data.sealing import (
    EVENT_FIELDS,
    SEALED,
    open_context,
    open_decision,
    open_events,
    seal_context,
    seal_decision,
    seal_fields,
)
from flowpy.errors import PayloadCorrupt, PayloadKeyUnknown, PayloadTooLarge

KEY = bytes(range(32))
SECRET = "4242-4242"


@pytest.fixture
def payloads() -> Payloads:
    return Payloads([Compression(), Encryption({"k": KEY}, current="k")])


def event(kind: str, **attributes: Any) -> dict[str, Any]:
    return {"eventId": 7, "eventType": kind, f"{kind[0].lower()}{kind[1:]}EventAttributes": attributes}


def decision(kind: str, **attributes: Any) -> dict[str, Any]:
    return {"decisionType": kind, f"{kind[0].lower()}{kind[1:]}DecisionAttributes": attributes}


def own(told: dict[str, Any]) -> dict[str, Any]:
    return next(value for key, value in told.items() if key.endswith("Attributes"))


def test_every_field_of_every_event_that_holds_a_payload_is_known() -> None:
    members = get_session().get_service_model("swf").shape_for("HistoryEvent").members
    found = {
        f"{name[0].upper()}{name[1:]}".removesuffix("EventAttributes"): field
        for name, shape in members.items()
        if shape.type_name == "structure"
        for field in shape.members
        if field in ("input", "result", "details", "executionContext")
    }

    assert found == EVENT_FIELDS


ACTIVITY = {"name": "charge", "version": "1.0"}
DECISIONS = [
    decision("ScheduleActivityTask", activityId="charge-1", activityType=ACTIVITY, input=f'["{SECRET}"]', control="{}"),
    decision("StartChildWorkflowExecution", workflowId="w", workflowType=ACTIVITY, input=f'["{SECRET}"]'),
    decision(
        "SignalExternalWorkflowExecution", workflowId="w", signalName="go", input=f'"{SECRET}"', control="signal-1"
    ),
    decision("ScheduleLambdaFunction", id="lambda-1", name="resize", input=f'"{SECRET}"'),
    decision("RecordMarker", markerName="flowpy.side_effect", details=f'{{"id": "effect-1", "value": "{SECRET}"}}'),
    decision(
        "RecordMarker",
        markerName="flowpy.side_effect",
        details=f'{{"id": "effect-1", "failure": {{"type": "{SECRET}"}}}}',
    ),
    decision("CompleteWorkflowExecution", result=f'"{SECRET}"'),
    decision("CancelWorkflowExecution", details=f'"{SECRET}"'),
    decision("ContinueAsNewWorkflowExecution", input=f'["{SECRET}"]', tagList=["eu"]),
]


@pytest.mark.parametrize("made", DECISIONS, ids=lambda made: made["decisionType"])
def test_the_payload_of_a_decision_is_sealed_and_nothing_else(made: dict[str, Any], payloads: Payloads) -> None:
    sealed = seal_decision(made, payloads)

    assert SECRET not in json.dumps(sealed)
    changed = {key for key, value in own(sealed).items() if value != own(made)[key]}
    assert changed <= {"input", "result", "details"}
    assert open_decision(sealed, payloads) == made


@pytest.mark.parametrize("made", [decision("StartTimer", timerId="t", startToFireTimeout="1"), DECISIONS[0]])
def test_without_codecs_and_stores_a_decision_is_the_same(made: dict[str, Any]) -> None:
    assert seal_decision(made, Payloads()) == made


def test_patches_and_the_ids_of_side_effects_stay_readable(payloads: Payloads) -> None:
    patch = decision("RecordMarker", markerName="flowpy.patch", details='{"id": "new-price"}')

    assert seal_decision(patch, payloads) == patch
    sealed = own(seal_decision(DECISIONS[4], payloads))["details"]
    assert json.loads(sealed)["id"] == "effect-1"
    assert list(json.loads(sealed)["value"]) == ["$flowpy", "name", "data"]


def test_decisions_without_attributes_are_left_alone(payloads: Payloads) -> None:
    made = {"decisionType": "CompleteWorkflowExecution"}

    assert seal_decision(made, payloads) == made
    assert open_decision(made, payloads) == made


# --- who reads plain JSON -----------------------------------------------------------------------


def test_those_named_are_sent_plain_json() -> None:
    payloads = Payloads([Encryption({"k": KEY}, current="k")], clear=["resize", "go", "charge"])

    sealed = [made["decisionType"] for made in DECISIONS if seal_decision(made, payloads) != made]

    assert sealed == [made["decisionType"] for made in DECISIONS[4:]]
    start = {"workflowType": ACTIVITY, "input": "[1]"}
    assert seal_fields("StartWorkflowExecution", start, payloads) == start
    assert seal_fields("SignalWorkflowExecution", {"signalName": "stop", "input": "1"}, payloads)["input"] != "1"
    with pytest.raises(PayloadTooLarge, match="input of StartWorkflowExecution, which is sent in clear, is 40,000"):
        seal_fields("StartWorkflowExecution", {**start, "input": "1" * 40_000}, payloads)


# --- failures -----------------------------------------------------------------------------------


def failed() -> dict[str, Any]:
    reason, details = encode_failure(ValueError(f"card {SECRET} is blocked"))
    return {"reason": reason, "details": details}


def test_a_secret_failure_tells_only_its_type(payloads: Payloads) -> None:
    sealed = seal_fields("RespondActivityTaskFailed", failed(), payloads)

    assert sealed["reason"] == "ValueError"
    assert SECRET not in json.dumps(sealed)
    (opened,) = open_events([event("ActivityTaskFailed", **sealed)], payloads)
    assert {**own(opened)} == failed()


def test_a_failure_that_is_only_compressed_tells_all() -> None:
    payloads = Payloads([Compression(over=0)])
    sealed = seal_fields("RespondActivityTaskFailed", failed(), payloads)

    assert sealed["reason"] == failed()["reason"]
    assert own(open_events([event("ActivityTaskFailed", **sealed)], payloads)[0]) == failed()


def test_a_reason_without_a_type_tells_nothing(payloads: Payloads) -> None:
    sealed = seal_fields("FailWorkflowExecution", {"reason": SECRET.replace("-", " ") + " is blocked"}, payloads)

    assert sealed == {"reason": "failure"}


@pytest.mark.parametrize("letter", ["x", "é", "\N{GRINNING FACE}"])
def test_a_failure_is_shortened_until_it_fits_encrypted(letter: str) -> None:
    payloads = Payloads([Encryption({"k": KEY}, current="k")])
    reason, details = encode_failure(ValueError(letter * 40_000))

    sealed = seal_fields("FailWorkflowExecution", {"reason": reason, "details": details}, payloads)

    assert len(sealed["details"]) <= DETAILS
    failure = decode_failure(None, payloads.open(sealed["details"]))
    assert failure.type == "ValueError"
    assert failure.message.startswith(letter * 1_000)


def test_a_failure_with_a_store_is_kept_whole() -> None:
    payloads = Payloads(stores=[MemoryStore()], offload_over=1_000)
    reason, details = encode_failure(ValueError("x" * 20_000))

    sealed = seal_fields("FailWorkflowExecution", {"reason": reason, "details": details}, payloads)

    assert payloads.open(sealed["details"]) == details


def test_the_reason_of_a_termination_is_what_the_operator_says(payloads: Payloads) -> None:
    request = {"reason": "by hand: on call", "details": f'"{SECRET}"'}

    sealed = seal_fields("TerminateWorkflowExecution", request, payloads)

    assert sealed["reason"] == "by hand: on call"
    assert SECRET not in sealed["details"]


# --- events -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [kind for kind in EVENT_FIELDS if kind not in ("DecisionTaskCompleted", "MarkerRecorded")]
)
def test_every_payload_of_a_history_is_opened(kind: str, payloads: Payloads) -> None:
    field = EVENT_FIELDS[kind]
    recorded = event(kind, **{field: payloads.seal(f'"{SECRET}"', 32_768, "value"), "other": 1})

    (opened,) = open_events([recorded], payloads)

    assert own(opened)[field] == f'"{SECRET}"'
    assert own(opened)["other"] == 1
    assert opened[SEALED] is recorded
    assert SECRET not in json.dumps(recorded)


def test_what_is_plain_is_not_copied(payloads: Payloads) -> None:
    plain = [
        event("ActivityTaskCompleted", result='{"a": 1}'),
        event("ActivityTaskCompleted"),
        event("TimerFired", timerId="t"),
        event("MarkerRecorded", markerName="other", details='no JSON with "$flowpy"'),
        event("MarkerRecorded", markerName="other", details='["$flowpy"]'),
        {"eventType": "ActivityTaskCompleted"},
        {"eventId": 1},
    ]

    assert all(a is b for a, b in zip(open_events(plain, payloads), plain, strict=True))


def test_what_cannot_be_opened_names_the_event_and_the_key(payloads: Payloads) -> None:
    recorded = event("ActivityTaskCompleted", result=payloads.seal('"x"', 32_768, "value"))

    with pytest.raises(
        PayloadKeyUnknown, match=r"result of event 7 cannot be opened: .* the key 'k', which is not here"
    ):
        open_events([recorded], Payloads([Compression(), Encryption({"j": KEY}, current="j")]))


# --- the state ----------------------------------------------------------------------------------


def test_the_state_is_sealed_and_versions_stay_readable(payloads: Payloads) -> None:
    text = encode_context({"card": SECRET}, "3.12")

    sealed = seal_context(text, payloads)

    assert SECRET not in sealed
    assert json.loads(sealed)["flowpy"] == 1
    assert json.loads(sealed)["python"] == "3.12"
    assert open_context(sealed, payloads) == text
    (opened,) = open_events([event("DecisionTaskCompleted", executionContext=sealed)], payloads)
    assert own(opened)["executionContext"] == text


def test_without_the_key_the_rest_of_the_context_can_be_read(payloads: Payloads) -> None:
    context = decode_context(seal_context(encode_context({"card": SECRET}, "3.12"), payloads))

    assert (context.flowpy, context.python) == (1, "3.12")
    assert context.state["$flowpy"] == "codec"


@pytest.mark.parametrize(
    "state",
    [
        {"$flowpy": "codec", "name": "x", "data": ""},
        {"$flowpy": "value", "value": 1},
        {"$flowpy": 1},
        {"value": 1, "$flowpy": "value"},
        None,
        [1],
    ],
)
def test_states_that_look_sealed_come_back(state: Any, payloads: Payloads) -> None:
    sealed = seal_context(encode_context(state, "3.12", Converter(payloads=payloads)), payloads)

    assert decode_context(open_context(sealed, payloads)).state == state


def test_without_codecs_and_stores_a_state_stands_as_it_always_has() -> None:
    text = encode_context({"$flowpy": "value", "value": 1}, "3.12")

    assert (
        seal_context(text, PLAIN)
        == text
        == '{"flowpy": 1, "python": "3.12", "state": {"$flowpy": "value", "value": 1}}'
    )
    assert decode_context(open_context(text, PLAIN)).state == {"$flowpy": "value", "value": 1}


def test_many_payloads_that_are_small_in_a_history_cannot_fill_the_memory() -> None:
    """Each of them is allowed; whoever may send signals could send thousands."""
    small = Payloads([Compression()], largest_history=10_000)
    text = small.seal(f'"{"0" * 3_000}"', DATA, "input")
    signals = [event("WorkflowExecutionSignaled", signalName="s", input=text) for _ in range(4)]

    assert len(open_events(signals[:3], small)) == 3
    with pytest.raises(PayloadCorrupt, match="cannot be opened beside those before it: together they are larger"):
        open_events(signals, small)

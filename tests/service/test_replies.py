"""What flowpy reads is what botocore reads: every operation, every event, every deviation."""

from __future__ import annotations

import json
import logging
import math
import time
from datetime import UTC, datetime
from functools import cache

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.model import ServiceModel
from hypothesis import given
from hypothesis import strategies as st

from flowpy import errors
from flowpy.service import BotoService, read_replies
from flowpy.service.replies import _Replies


class Answer:
    """What every request gets, in place of the network."""

    status, headers, body = 200, {"x-amzn-RequestId": "r-1"}, b""

    def stream(self, *args, **options):
        yield self.body

    def send(self, request, **_other):
        return AWSResponse(request.url, self.status, self.headers, self)


def session():
    return boto3.Session(aws_access_key_id="k", aws_secret_access_key="s", region_name="eu-west-1")


def answered(answer, made):
    config = Config(parameter_validation=False, retries={"total_max_attempts": 1})
    client = made.client("swf", config=config)
    client.meta.events.register("before-send.swf", answer.send)
    return client


@cache
def clients():
    """botocore's own, one that flowpy reads for, and what they are answered."""
    answer = Answer()
    plain, ours = answered(answer, session()), answered(answer, session())
    read_replies(ours)
    return plain, ours, answer


MODEL = clients()[0].meta.service_model
OPERATIONS = sorted(MODEL.operation_names)
EVENT = MODEL.shape_for("HistoryEvent")


def outcome(client, operation):
    """A reply, or what was raised."""
    try:
        return client._make_api_call(operation, {})
    except Exception as error:
        # Each client has fault classes of its own: alike by name.
        return [cls.__name__ for cls in type(error).__mro__], str(error), getattr(error, "response", None)


def comparable(value):
    """Times as instants, and every number with its type, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {name: comparable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, datetime):
        return "time", value.astimezone(UTC), value.utcoffset() is not None
    return type(value).__name__, value


def both(operation, body, status=200):
    """What botocore and flowpy make of one answer."""
    plain, ours, answer = clients()
    answer.body = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer.status = status
    return comparable(outcome(plain, operation)), comparable(outcome(ours, operation))


# --- by the model ---------------------------------------------------------------------------------

TIMES = st.one_of(
    st.integers(0, 4_000_000_000),
    st.floats(0, 4e9, allow_nan=False),
    st.integers(0, 4_000_000_000_000).map(lambda ms: ms / 1000),
)
ODD_TIMES = st.sampled_from(["1700000000.25", "2024-03-10T02:30:00Z", "Wed, 01 May 2024 10:00:00 GMT", True, -1.5, "x"])
SCALARS = {
    "string": st.text(max_size=8) | st.sampled_from(["null", '{"a":null}', "\ud800", "é\u2028", ""]),
    "integer": st.integers(-(2**31), 2**31) | st.just(2**70),
    "long": st.integers(0, 2**63) | st.just(10**30),
    "boolean": st.booleans(),
}
ANYTHING = st.sampled_from([None, 0, 1.5, True, "text", [], {}, [None], [1, None], {"name": None}, math.inf])


@cache
def values(shape, *, odd):
    """JSON of a shape; ``odd`` adds nulls, members nobody knows, and what does not fit the model at all."""
    kind = shape.type_name
    if kind == "structure":
        made = structures(shape, odd=odd)
    elif kind == "list":
        made = st.lists(values(shape.member, odd=odd), max_size=4)
    elif kind == "timestamp":
        made = TIMES | ODD_TIMES if odd else TIMES
    else:
        made = SCALARS[kind]
    return st.one_of(*[made] * 8, ANYTHING) if odd else made


def structures(shape, *, odd):
    members = {name: values(member, odd=odd) for name, member in shape.members.items()}
    if len(members) > 20:  # events: those three, and some of the attributes
        required = {name: members.pop(name) for name in shape.required_members}
        some = st.sampled_from(sorted(members)).flatmap(lambda name: members[name].map(lambda value: {name: value}))
        made = st.builds(lambda common, one: named({**common, **one}), st.fixed_dictionaries(required), some)
    else:
        made = st.fixed_dictionaries({}, optional=members)
    strange = st.dictionaries(st.sampled_from(["new", "__type", "Events"]), ANYTHING, max_size=2)
    return st.builds(lambda known, new: {**known, **new}, made, strange) if odd else made


def named(event):
    """An event whose type fits its attributes."""
    name = next(name for name in event if name not in EVENT.required_members)
    return {**event, "eventType": name[0].upper() + name[1:].removesuffix("EventAttributes")}


def reply_of(operation, *, odd):
    shape = MODEL.operation_model(operation).output_shape
    return values(shape, odd=odd) if shape is not None else st.just({})


HOT = ["PollForDecisionTask", "GetWorkflowExecutionHistory", "PollForActivityTask"]


@given(data=st.data(), operation=st.sampled_from(OPERATIONS) | st.sampled_from(HOT))
def test_valid_replies_of_every_operation(data, operation):
    plain, ours = both(operation, data.draw(reply_of(operation, odd=False)))
    assert ours == plain


@given(data=st.data(), operation=st.sampled_from(OPERATIONS) | st.sampled_from(HOT))
def test_nulls_unknown_members_and_what_does_not_fit(data, operation):
    plain, ours = both(operation, data.draw(reply_of(operation, odd=True)))
    assert ours == plain


@pytest.mark.parametrize("name", sorted(set(EVENT.members) - set(EVENT.required_members)))
@pytest.mark.parametrize("form", ["as SWF sends it", "with more", "with nulls", "of a type nobody knows"])
def test_every_event_type(name, form):
    attributes = complete(EVENT.members[name])
    event = named({"eventId": 7, "eventTimestamp": 1420142603.121, "eventType": "", name: attributes})
    if form == "with more":
        event["new"] = attributes["newer"] = {"name": 1}
    if form == "with nulls":
        attributes[next(iter(attributes))] = event["timerFiredEventAttributes"] = None
    if form == "of a type nobody knows":
        event["eventType"] = "SomethingNew"
    plain, ours = both("GetWorkflowExecutionHistory", {"events": [event, {**event, "eventId": 8}]})
    assert ours == plain
    assert len(ours["events"]) == 2


def complete(shape):
    """Every member there is."""
    if shape.type_name == "structure":
        return {name: complete(member) for name, member in shape.members.items()}
    if shape.type_name == "list":
        return [complete(shape.member)]
    return {"string": "text", "integer": 3, "long": 2**40, "boolean": True, "timestamp": 1700000000}[shape.type_name]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_reply_that_the_model_has_is_read_here(operation, caplog):
    shape = MODEL.operation_model(operation).output_shape
    if shape is None:
        return
    with caplog.at_level(logging.DEBUG, "flowpy.service.replies"):
        plain, ours = both(operation, complete(shape))
    assert ours == plain
    assert [record.message.partition("\n")[0] for record in caplog.records] == [f"{operation} answered:"]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"eventId": 1, "eventType": "WorkflowExecutionSignaled", "eventTimestamp": 1},
        {"eventId": None, "eventType": "TimerFired", "eventTimestamp": 1, "timerFiredEventAttributes": {}},
        {"eventId": 1, "eventType": "TimerFired", "eventTimestamp": None, "timerFiredEventAttributes": {}},
        {"eventId": 1, "eventType": "TimerFired", "eventTimestamp": 1, "timerFiredEventAttributes": None},
        {"eventId": 1, "eventType": ["TimerFired"], "eventTimestamp": 1, "timerFiredEventAttributes": {}},
        {"eventId": 1, "eventType": "TimerFired", "eventTimestamp": 1e300, "timerFiredEventAttributes": {}},
        {"eventId": 1, "eventType": "TimerFired", "eventTimestamp": True, "timerFiredEventAttributes": {"timerId": 1}},
        None,
        [],
        "TimerFired",
    ],
)
def test_events_of_other_forms(event):
    fine = {"eventId": 1, "eventType": "TimerFired", "eventTimestamp": 1, "timerFiredEventAttributes": {"timerId": "t"}}
    plain, ours = both("PollForDecisionTask", {"taskToken": "t", "events": [fine, event, fine]})
    assert ours == plain


@pytest.mark.parametrize("operation", HOT)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{}",
        b"null",
        b"[]",
        b"0",
        b'"text"',
        b"{",
        b"<html>",
        b"\xff{}",
        b"\xef\xbb\xbf{}",
        '{"taskToken": "t"}'.encode("utf-16"),
        b'{"taskToken": NaN}',
        b'{"taskToken": "a", "taskToken": "b"}',
        b'{"startedEventId": ' + b"9" * 5000 + b"}",
        b'{"taskToken": ' + b"[" * 200_000,
        b'{"events": "text"}',
        b'{"events": {"eventId": 1}}',
        b'{"events": null}',
        b'{"events": {}}',
        b'{"events": ""}',
        b'{"events": [{"workflowExecutionStartedEventAttributes": {"tagList": "ab"}}]}',
        b'{"events": [{"workflowExecutionStartedEventAttributes": {"tagList": {"a": 1}}}]}',
        b'{"events": [{"workflowExecutionStartedEventAttributes": {"tagList": [null, "a"]}}]}',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_bodies_that_are_no_reply(operation, body):
    plain, ours = both(operation, body)
    assert ours == plain


@pytest.mark.parametrize("status", [300, 400, 413, 500, 503])
@pytest.mark.parametrize(
    "body",
    [
        {"__type": "com.amazonaws.swf.base.model#UnknownResourceFault", "message": "no"},
        {"__type": "UnknownResourceFault", "Message": "no"},
        {"__type": "UnknownResourceFault:http://x", "message": None},
        {"message": "no type"},
        {"__type": "com.amazon.coral.availability#ThrottlingException", "message": "Rate exceeded"},
        b"",
        b"<html>busy</html>",
        b"{",
    ],
    ids=str,
)
def test_faults_are_botocores(body, status):
    plain, ours = both("PollForDecisionTask", body, status)
    assert ours == plain


# --- time ------------------------------------------------------------------------------------------


@pytest.fixture(params=["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca"])
def zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_times_are_the_same_instants_in_every_zone_and_at_every_change_of_the_clock(zone):
    spring, autumn = 1710054000, 1730613600  # New York 2024; two weeks around each cover the other zones
    stamps = [at + 900 * n + 0.123 for at in (spring, autumn) for n in range(-2 * 672, 2 * 672)]
    fired = {"eventId": 1, "eventType": "TimerFired", "timerFiredEventAttributes": {"timerId": "t"}}
    new = {"eventId": 1, "eventType": "New"}
    body = {"events": [{**(new if stamp % 7 < 1 else fired), "eventTimestamp": stamp} for stamp in stamps]}
    plain, ours = both("GetWorkflowExecutionHistory", body)
    assert ours == plain
    assert [event["eventTimestamp"][1].timestamp() for event in ours["events"]] == stamps


def test_times_are_in_utc(zone):
    both("PollForDecisionTask", {"events": [{"eventTimestamp": 1700000000.5}]})
    [event] = outcome(clients()[1], "PollForDecisionTask")["events"]
    assert event["eventTimestamp"] == datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)
    assert event["eventTimestamp"].tzinfo is UTC


# --- where it stands -------------------------------------------------------------------------------


def zones(client):
    answer = Answer()
    answer.body = b'{"domainInfos": [], "events": [{"eventTimestamp": 0}]}'
    client.meta.events.register("before-send.swf", answer.send)
    request = {"domain": "d", "execution": {"workflowId": "w", "runId": "r"}}
    return client.get_workflow_execution_history(**request)["events"][0]["eventTimestamp"].tzinfo


@pytest.mark.parametrize("operation", HOT)
def test_flowpys_own_clients_have_it(operation):
    assert zones(BotoService(session=session())._client(operation)) is UTC


def test_other_clients_of_the_same_session_do_not():
    shared = session()
    before = shared.client("swf")
    assert zones(BotoService(session=shared)._client("PollForDecisionTask")) is UTC
    assert zones(before) is not UTC
    assert zones(shared.client("swf")) is not UTC


def test_a_client_that_was_given_is_left_alone_unless_asked():
    given_client = session().client("swf")
    assert zones(BotoService(given_client)._client("PollForDecisionTask")) is not UTC
    read_replies(given_client)
    assert zones(given_client) is UTC


def test_handlers_of_the_user_see_the_body_and_have_the_last_word():
    answer = Answer()
    answer.body, seen = b'{"taskToken": "t", "startedEventId": 3}', []

    def mine(response_dict, customized_response_dict, **_other):
        seen.append(response_dict["body"])
        customized_response_dict["taskToken"] = "mine"

    client = answered(answer, session())
    read_replies(client)
    client.meta.events.register("before-parse.swf.PollForDecisionTask", mine)
    client.meta.events.register("before-parse.swf", mine)
    reply = outcome(client, "PollForDecisionTask")
    assert seen == [answer.body] * 2
    assert (reply["taskToken"], reply["startedEventId"]) == ("mine", 3)


def test_the_debug_log_shows_the_body_and_botocores_says_where(caplog):
    with caplog.at_level(logging.DEBUG):
        both("PollForDecisionTask", {"taskToken": "token-1"})
    told = {record.name: record.getMessage() for record in caplog.records if "body" in record.getMessage().lower()}
    assert "read by flowpy, whose logger flowpy.service.replies" in told["botocore.parsers"]
    assert [r.name for r in caplog.records if "answered" in r.getMessage()] == ["flowpy.service.replies"]


@pytest.mark.parametrize(
    "shapes",
    [
        {"Out": {"type": "structure", "members": {"a": {"shape": "Blob"}}}, "Blob": {"type": "blob"}},
        {"Out": {"type": "structure", "members": {"a": {"shape": "Out"}}}},
        {"Out": {"type": "structure", "members": {"a": {"shape": "Text", "locationName": "b"}}}},
        {"Out": {"type": "structure", "members": {"a": {"shape": "Text"}}, "union": True}},
        {
            "Out": {"type": "structure", "members": {"a": {"shape": "Times"}}},
            "Times": {"type": "list", "member": {"shape": "Time"}},
        },
    ],
)
def test_what_a_later_model_may_bring_is_left_to_botocore(shapes):
    shapes = {**shapes, "Text": {"type": "string"}, "Time": {"type": "timestamp"}}
    operation = {"name": "New", "http": {}, "output": {"shape": "Out"}}
    model = ServiceModel({"metadata": {"protocol": "json"}, "operations": {"New": operation}, "shapes": shapes})
    response, more = {"status_code": 200, "headers": {}, "body": b'{"a": {}}'}, {}
    _Replies().read(operation_model=model.operation_model("New"), response_dict=response, customized_response_dict=more)
    assert (response["body"], more) == (b'{"a": {}}', {})


def test_faults_reach_the_caller_as_client_errors():
    _, ours = both("PollForDecisionTask", {"__type": "x#UnknownResourceFault", "message": "no"}, 400)
    kinds, text, response = ours[1]
    assert "ClientError" in kinds
    assert "no" in text
    assert response["Error"]["Code"] == "UnknownResourceFault"


@pytest.mark.parametrize(
    "operation", ["PollForDecisionTask", "ListOpenWorkflowExecutions", "RespondDecisionTaskCompleted"]
)
@pytest.mark.parametrize("status", [200, 400])
def test_half_a_reply_is_an_outage_and_not_an_empty_one(operation, status):
    answer = Answer()
    answer.status, answer.body = status, b'{"taskToken": "t'
    answer.headers = {"Content-Length": "40"}
    client = answered(answer, session())
    read_replies(client)
    with pytest.raises(errors.ServiceUnavailable, match="IncompleteReadError: 16 read, but total bytes expected is 40"):
        BotoService(client).call(operation, {})

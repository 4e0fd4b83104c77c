"""Trimmed requests are the requests that botocore makes, refused alike, with less work."""

from __future__ import annotations

from types import SimpleNamespace

import boto3
import pytest
from botocore.auth import SigV4Auth, _host_from_url
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ParamValidationError

from flowpy import errors
from flowpy.service import BotoService
from flowpy.service.requests import host_of, trim_requests

TYPE = {"name": "order", "version": "1.0"}
DECISIONS = [
    {
        "decisionType": "ScheduleActivityTask",
        "scheduleActivityTaskDecisionAttributes": {
            "activityType": TYPE,
            "activityId": "ä-1",
            "input": '["ß", "\u2028"]',
        },
    },
    {
        "decisionType": "StartChildWorkflowExecution",
        "startChildWorkflowExecutionDecisionAttributes": {
            "workflowType": TYPE,
            "workflowId": "w",
            "tagList": ["a", "b"],
        },
    },
]
CALLS = [
    (
        "PollForDecisionTask",
        {"domain": "shop", "taskList": {"name": "main"}, "identity": "me", "maximumPageSize": 1000},
    ),
    ("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "own"}, "startAtPreviousStartedEvent": True}),
    ("RespondDecisionTaskCompleted", {"taskToken": "t", "decisions": DECISIONS, "executionContext": "{}"}),
    ("RespondDecisionTaskCompleted", {"taskToken": "t", "decisions": []}),
    ("RespondActivityTaskCompleted", {"taskToken": "t", "result": "1"}),
    ("GetWorkflowExecutionHistory", {"domain": "shop", "execution": {"workflowId": "w", "runId": "r"}}),
    ("CountOpenWorkflowExecutions", {"domain": "shop", "startTimeFilter": {"oldestDate": 1_700_000_000}}),
]
REFUSED = [
    ("PollForDecisionTask", {"domain": "shop"}),
    ("PollForDecisionTask", {"domain": "", "taskList": {"name": "main"}}),
    ("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main", "size": 1}}),
    ("PollForDecisionTask", {"domain": "shop", "taskList": {"name": 7}}),
    ("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}, "maximumPageSize": "10"}),
    ("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}, "maximumPageSize": -1}),
    ("PollForDecisionTask", {"domain": "shop", "taskList": None}),
    ("RespondDecisionTaskCompleted", {"taskToken": "t", "decisions": [{"type": "StartTimer"}]}),
    ("RespondDecisionTaskCompleted", {"taskToken": "t", "decisions": {"decisionType": "StartTimer"}}),
    ("CountOpenWorkflowExecutions", {"domain": "shop", "startTimeFilter": {"oldestDate": "soon"}}),
]


class Wire:
    """What botocore would send, and an empty answer to it."""

    def __init__(self):
        self.sent = []
        self.last = None
        self.hosts = []
        self.host = None
        self.session = boto3.Session("key", "secret", region_name="eu-west-1")
        self.session.events.register_first("before-send.swf", self.answer)

    def answer(self, request, **_other):
        # A Host that is not set is written by the HTTP client.
        host = request.headers.get("Host", b"").decode()
        assert host in ("", self.host or _host_from_url(request.url))
        self.hosts.append(host)
        kept = ("Authorization", "Host", "X-Amz-Date", "amz-sdk-invocation-id", "amz-sdk-request")
        headers = {name: value for name, value in request.headers.items() if name not in kept}
        agent = headers.pop("User-Agent").decode()
        assert b"Signature=" in request.headers["Authorization"]
        self.last = request
        self.sent.append((request.method, request.url, request.body, headers, agent.split()[0]))
        return AWSResponse(request.url, 200, {}, Empty())


class Empty:
    def stream(self):
        yield b"{}"


def own():
    """A service of flowpy's on a wire of its own."""
    wire = Wire()
    return BotoService(session=wire.session), wire


def theirs():
    """A client as boto3 makes it, with the same number of attempts."""
    wire = Wire()
    return wire.session.client("swf", config=Config(retries={"mode": "standard", "total_max_attempts": 1})), wire


@pytest.fixture(scope="module")
def both():
    """The two of them."""
    return own(), theirs()


def snake(operation):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in operation)[1:]


@pytest.mark.parametrize(("operation", "request_"), CALLS)
def test_what_is_sent_is_what_botocore_sends(operation, request_, both):
    (service, ours), (client, plain) = both
    for wire in (ours, plain):
        wire.sent.clear()
    for _ in range(2):
        service.call(operation, request_)
        getattr(client, snake(operation))(**request_)
    assert ours.sent == plain.sent


@pytest.mark.parametrize(("operation", "request_"), CALLS)
def test_what_is_sent_is_what_was_signed(operation, request_, both):
    (service, ours), _ = both
    service.call(operation, request_)
    sent = {name: value.decode() if type(value) is bytes else value for name, value in ours.last.headers.items()}
    told = dict(part.split("=", 1) for part in sent["Authorization"].partition(" ")[2].split(", "))
    signed = {name: value for name, value in sent.items() if name.lower() in told["SignedHeaders"].split(";")}
    assert {name.lower() for name in signed} == {"content-type", "host", "x-amz-date", "x-amz-target"}

    plain = AWSRequest(ours.last.method, ours.last.url, signed, ours.last.body)
    plain.context["timestamp"] = sent["X-Amz-Date"]
    signer = SigV4Auth(Credentials("key", "secret"), "swf", "eu-west-1")
    assert signer.signature(signer.string_to_sign(plain, signer.canonical_request(plain)), plain) == told["Signature"]


def test_headers_are_those_of_botocore_for_handlers_of_the_users_own():
    service, wire = own()
    seen = []

    def meet(request, **_):
        headers = request.headers
        headers["X-Own"] = "1"
        headers["X-Own"] = "2"
        headers.add_header("X-More", "3")
        seen.extend([headers.get_all("x-own"), headers["X-MORE"], "x-more" in headers, "X-None" in headers])
        del headers["x-more"]
        headers.replace_header("X-Own", "4")
        seen.append(request.body)

    wire.session.events.register("request-created.swf", meet)
    service.call(*CALLS[3])
    assert seen == [["1", "2"], "3", True, False, b'{"taskToken": "t", "decisions": []}']
    # botocore sends the last of two; the first was replaced.
    assert wire.last.headers["x-own"] == b"2"
    assert "X-More" not in wire.last.headers


@pytest.mark.parametrize(("operation", "request_"), REFUSED)
def test_what_botocore_refuses_is_refused_in_its_words(operation, request_, both):
    (service, ours), (client, _) = both
    ours.sent.clear()
    with pytest.raises(ParamValidationError) as expected:
        getattr(client, snake(operation))(**request_)
    with pytest.raises(errors.InvalidRequest) as refused:
        service.call(operation, request_)
    assert str(expected.value) in str(refused.value)
    assert ours.sent == []


def test_the_number_of_the_attempt_is_told_only_where_there_may_be_several():
    service, wire = own()
    heads = []
    wire.session.events.register("before-send.swf", lambda request, **_: heads.append(set(request.headers)))
    wire.session.events.unregister("before-send.swf", wire.answer)
    wire.session.events.register_last("before-send.swf", wire.answer)
    service.call("RespondDecisionTaskCompleted", {"taskToken": "t"})
    service.call("CountOpenWorkflowExecutions", {"domain": "shop", "startTimeFilter": {"oldestDate": 1}})
    once, several = heads
    assert not {"amz-sdk-request", "amz-sdk-invocation-id"} & once
    assert {"amz-sdk-request", "amz-sdk-invocation-id"} <= several


@pytest.mark.parametrize(
    "url",
    [
        "https://swf.eu-west-1.amazonaws.com/",
        "https://SWF.eu-west-1.amazonaws.com:443/",
        "http://127.0.0.1:8000/",
        "http://localhost:80",
        "https://localhost:80/",
        "http://[::1]:8000/",
        "http://[::1]/",
        "http://user@proxy:8080/swf",
    ],
)
def test_the_host_is_the_one_that_botocore_signs(url):
    assert host_of(url) == _host_from_url(url)


def _elsewhere_in_parameters(params, **_):
    params["url"] = "http://127.0.0.1:8000/"


def _elsewhere(request, **_):
    request.url = "http://127.0.0.1:8000/"


@pytest.mark.parametrize(
    ("event", "handler"),
    [
        ("before-call.swf", _elsewhere_in_parameters),
        ("request-created.swf", _elsewhere),
        ("before-sign.swf", _elsewhere),
    ],
)
def test_a_handler_that_sends_requests_elsewhere_moves_the_host_too(event, handler):
    service, wire = own()
    wire.session.events.register(event, handler)
    service.call(*CALLS[0])
    assert wire.sent[0][1] == "http://127.0.0.1:8000/"
    assert wire.hosts == ["127.0.0.1:8000"]


def test_a_host_that_a_handler_gives_is_the_only_one():
    service, wire = own()
    wire.host = "swf.example"
    given = []
    wire.session.events.register("before-call.swf", lambda params, **_: params["headers"].update(host=wire.host))
    wire.session.events.register("request-created.swf", lambda request, **_: given.append(request))
    service.call(*CALLS[0])
    assert [host.decode() for host in given[0].headers.get_all("Host")] == wire.hosts == ["swf.example"]


def test_what_handlers_make_of_the_parameters_is_checked_too():
    service, ours = own()

    def forget(params, **_other):
        del params["taskList"]

    ours.session.events.register("before-parameter-build.swf.PollForDecisionTask", forget)
    with pytest.raises(errors.InvalidRequest, match="taskList"):
        service.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}})


@pytest.mark.parametrize(("operation", "request_"), REFUSED)
def test_parameters_are_checked_although_botocore_keeps_its_serializer_elsewhere(operation, request_):
    wire = Wire()
    client = wire.session.client("swf", config=Config(parameter_validation=False))
    trim_requests(SimpleNamespace(meta=client.meta), 1)
    with pytest.raises(ParamValidationError):
        getattr(client, snake(operation))(**request_)
    assert wire.sent == []


def test_the_address_is_worked_out_once_for_each_operation():
    service, wire = own()
    asked = []
    wire.session.events.register("before-endpoint-resolution.swf", lambda **_other: asked.append(1))
    for _ in range(3):
        service.call(*CALLS[0])
    assert len(asked) == 1
    service.call(*CALLS[2])
    assert len(asked) == 2


def test_an_address_that_is_given_is_kept():
    wire = Wire()
    service = BotoService(session=wire.session, endpoint_url="http://127.0.0.1:9")
    service.call(*CALLS[0])
    service.call(*CALLS[0])
    assert [sent[1] for sent in wire.sent] == ["http://127.0.0.1:9/"] * 2


def test_a_client_of_the_users_own_is_left_alone():
    client, _ = theirs()
    asked = []
    client.meta.events.register("before-endpoint-resolution.swf", lambda **_other: asked.append(1))
    service = BotoService(client)
    for _ in range(3):
        service.call(*CALLS[0])
    assert len(asked) == 3

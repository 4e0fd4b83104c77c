"""`flowpy.local.client`: boto3 without a socket."""

from __future__ import annotations

import socket
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ParamValidationError

from flowpy.errors import ServiceUnavailable
from flowpy.local import Engine, LocalService, VirtualClock, client

from .shop import DECIDERS, ORDER, register

NOON = 1_767_268_800.0


@pytest.fixture
def swf(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client, where there are no credentials, no region and no network."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)

    def no_network(*_: Any) -> None:
        raise AssertionError("a socket was used")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    made = client(engine)
    register(made, "RegisterDomain")
    return made


def test_botocore_checks_requests_and_reads_answers(swf: Any) -> None:
    answer = swf.describe_domain(name="shop")

    assert answer["domainInfo"]["status"] == "REGISTERED"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert answer["ResponseMetadata"]["RequestId"]
    with pytest.raises(ParamValidationError):
        swf.describe_domain(name=1)
    with pytest.raises(swf.exceptions.UnknownResourceFault):
        swf.describe_domain(name="nowhere")


def test_timestamps_are_datetimes(swf: Any) -> None:
    swf.register_activity_type(domain="shop", name="charge", version="1")

    (info,) = swf.list_activity_types(domain="shop", registrationStatus="REGISTERED")["typeInfos"]

    assert info["creationDate"] == datetime.fromtimestamp(NOON, UTC)


def test_polls_of_an_engine_return_at_once(swf: Any) -> None:
    answer = swf.poll_for_decision_task(**DECIDERS)

    assert "taskToken" not in answer
    assert answer["startedEventId"] == 0


def test_polls_of_a_service_wait(engine: Engine) -> None:
    swf = client(LocalService(engine, hold=20.0))
    register(swf, "RegisterDomain", "RegisterWorkflowType")
    found: list[Any] = []
    poll = threading.Thread(target=lambda: found.append(swf.poll_for_decision_task(**DECIDERS)))
    poll.start()
    swf.start_workflow_execution(domain="shop", workflowId="w", workflowType=ORDER)
    poll.join(10)

    assert found[0]["workflowExecution"]["workflowId"] == "w"


def test_what_the_service_cannot_do_for_a_while_botocore_tries_again(engine: Engine) -> None:
    swf = client(engine, config=Config(retries={"mode": "standard", "total_max_attempts": 2}))
    engine.disrupt("ListDomains", ServiceUnavailable("…", fault="InternalFailure"))

    answer = swf.list_domains(registrationStatus="REGISTERED")

    assert answer["ResponseMetadata"]["RetryAttempts"] == 1


def test_clients_are_in_the_region_they_are_told(engine: Engine) -> None:
    assert client(engine, region="eu-west-1").meta.region_name == "eu-west-1"


def test_two_engines_know_nothing_of_each_other(swf: Any) -> None:
    assert client(Engine(VirtualClock(NOON))).list_domains(registrationStatus="REGISTERED")["domainInfos"] == []

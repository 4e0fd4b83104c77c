from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from botocore import exceptions as boto

from flowpy import errors
from flowpy.service import BotoService, Service


@pytest.fixture
def service(monkeypatch):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_EC2_METADATA_DISABLED": "1",
    }.items():
        monkeypatch.setenv(name, value)
    return BotoService(region_name="eu-west-1", endpoint_url="http://127.0.0.1:9")


def config(service, operation):
    return service._client(operation).meta.config


@pytest.mark.parametrize("operation", ["PollForDecisionTask", "PollForActivityTask"])
def test_polls_outlast_the_60_s_hold_and_are_never_repeated_by_botocore(service, operation):
    assert config(service, operation).read_timeout >= 70
    assert config(service, operation).retries["total_max_attempts"] == 1


@pytest.mark.parametrize(
    "operation", ["RespondDecisionTaskCompleted", "RecordActivityTaskHeartbeat", "SignalWorkflowExecution"]
)
def test_what_must_not_happen_twice_is_never_repeated_by_botocore(service, operation):
    assert config(service, operation).retries["total_max_attempts"] == 1
    assert config(service, operation).read_timeout <= 30


def test_reading_calls_have_standard_retries_and_short_timeouts(service):
    assert config(service, "DescribeDomain").retries["mode"] == "standard"
    assert config(service, "DescribeDomain").retries["total_max_attempts"] > 1
    assert config(service, "DescribeDomain").read_timeout <= 30


def test_timeouts_are_not_set_for_the_whole_process(service):
    service._client("PollForDecisionTask")
    assert socket.getdefaulttimeout() is None


def test_clients_are_made_once(service):
    assert service._client("PollForActivityTask") is service._client("PollForDecisionTask")
    assert service._client("DescribeDomain") is not service._client("PollForDecisionTask")


class Client:
    """Stands for a boto3 client."""

    def __init__(self, outcome):
        self.outcome = outcome
        self.asked = []

    def __getattr__(self, name):
        def method(**request):
            self.asked.append((name, request))
            if isinstance(self.outcome, Exception):
                raise self.outcome
            return self.outcome

        return method


def test_an_operation_is_the_method_of_the_same_name_in_snake_case():
    client = Client({"count": 1, "ResponseMetadata": {"HTTPStatusCode": 200}})
    reply = BotoService(client).call("CountPendingDecisionTasks", {"domain": "d", "taskList": {"name": "t"}})
    assert reply == {"count": 1}
    assert client.asked == [("count_pending_decision_tasks", {"domain": "d", "taskList": {"name": "t"}})]


def test_a_poll_that_timed_out_is_an_empty_poll():
    service = BotoService(Client(boto.ReadTimeoutError(endpoint_url="http://x")))
    assert service.call("PollForActivityTask", {"domain": "d"}) == {}


def test_a_further_page_that_timed_out_is_an_error_not_the_end_of_the_history():
    service = BotoService(Client(boto.ReadTimeoutError(endpoint_url="http://x")))
    with pytest.raises(errors.ServiceUnavailable):
        service.call("PollForDecisionTask", {"domain": "d", "nextPageToken": "p2"})


def test_faults_are_raised_as_flowpys_errors():
    response = {"Error": {"Code": "DomainAlreadyExistsFault", "Message": "shop"}}
    service = BotoService(Client(boto.ClientError(response, "RegisterDomain")))
    with pytest.raises(errors.AlreadyExists) as caught:
        service.call("RegisterDomain", {"name": "shop"})
    assert isinstance(caught.value.__cause__, boto.ClientError)


def test_bugs_are_not_dressed_up():
    with pytest.raises(ZeroDivisionError):
        BotoService(Client(ZeroDivisionError())).call("DescribeDomain", {"name": "shop"})


def test_nobody_listening_is_service_unavailable(service):
    with pytest.raises(errors.ServiceUnavailable) as caught:
        service.call(
            "StartWorkflowExecution", {"domain": "d", "workflowId": "w", "workflowType": {"name": "n", "version": "1"}}
        )
    assert caught.value.fault == "EndpointConnectionError"


def test_a_missing_region_says_what_to_do(monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(errors.InvalidRequest, match="region_name"):
        BotoService().call("DescribeDomain", {"name": "d"})


def test_making_a_service_does_not_import_boto3():
    code = "import sys; from flowpy.service import BotoService; BotoService(); print('botocore' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "False"


def test_it_is_a_service():
    assert isinstance(BotoService(), Service)


def test_after_close_new_clients_are_made(service):
    before = service._client("DescribeDomain")
    service.close()
    assert service._client("DescribeDomain") is not before

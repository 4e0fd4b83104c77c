"""boto3 sessions: a service on this machine needs no account, all others need one."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowpy.errors import AccessDenied, ServiceUnavailable
from flowpy.service import BotoService
from flowpy.service.sessions import boto_session, is_local

VARIABLES = (
    "AWS_ENDPOINT_URL_SWF", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE", "AWS_DEFAULT_REGION",
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8042", True),
        ("http://localhost:8042", True),
        ("http://[::1]:8042", True),
        ("http://127.9.9.9", True),
        ("https://swf.eu-west-1.amazonaws.com", False),
        ("http://localhost.example.com", False),
        ("http://10.0.0.1", False),
        ("nonsense", False),
        (None, False),
    ],
)
def test_what_is_on_this_machine(url: str | None, local: bool) -> None:
    assert is_local(url) is local


def test_the_environment_says_where_the_service_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SWF", "http://127.0.0.1:8042")

    assert is_local()
    assert not is_local("https://swf.eu-west-1.amazonaws.com")


def test_credentials_are_made_up_for_this_machine_only() -> None:
    here, elsewhere = boto_session(endpoint_url="http://127.0.0.1:8042"), boto_session()

    assert (here.region_name, here.get_credentials().access_key) == ("us-east-1", "local")
    assert (elsewhere.region_name, elsewhere.get_credentials()) == (None, None)


def test_clients_made_in_python_need_as_little_as_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SWF", "http://127.0.0.1:9")

    with pytest.raises(ServiceUnavailable, match=r"Could not connect to the endpoint URL: .http://127.0.0.1:9/"):
        BotoService().call("SignalWorkflowExecution", {"domain": "d", "workflowId": "w", "signalName": "s"})


def test_a_profile_that_is_not_there() -> None:
    with pytest.raises(AccessDenied, match=r"The config profile \(nobody\) could not be found"):
        boto_session("nobody")

"""How commands find the service, and what they say if they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flowpy import errors
from flowpy.cli.commands import flowpy as command
from flowpy.cli.connecting import Connection, connect
from flowpy.service import BotoService

AWS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_DEFAULT_REGION")
CONFIGURED = """\
[profile eu]
region = eu-west-1
aws_access_key_id = eu-key
aws_secret_access_key = secret
"""


@pytest.fixture(autouse=True)
def configured(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An AWS configuration with one profile, and nothing in the environment."""
    for name in AWS:
        monkeypatch.delenv(name, raising=False)
    (shop / "config").write_text(CONFIGURED)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(shop / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(shop / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def made(connection: Connection) -> Any:
    """The boto3 client that a command's client calls."""
    service = connect(connection).service
    assert isinstance(service, BotoService)
    return service._client("CountOpenWorkflowExecutions")


def key_of(client: Any) -> str | None:
    credentials = client._get_credentials()
    return None if credentials is None else credentials.access_key


def test_a_profile_has_credentials_and_region() -> None:
    client = made(Connection("shop", None, "eu", None, connect))

    assert (client.meta.region_name, key_of(client)) == ("eu-west-1", "eu-key")
    assert client.meta.endpoint_url == "https://swf.eu-west-1.amazonaws.com"


def test_a_region_given_counts_more_than_that_of_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "eu")

    assert made(Connection("shop", "us-west-2", None, None, connect)).meta.region_name == "us-west-2"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8042", "http://localhost:8042", "http://[::1]:8042"])
def test_a_service_on_this_machine_needs_neither(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SWF", url)

    client = made(Connection("shop", None, None, None, connect))

    assert (client.meta.region_name, key_of(client), client.meta.endpoint_url) == ("us-east-1", "local", url)


def test_credentials_that_are_there_are_used_on_this_machine_too() -> None:
    client = made(Connection("shop", None, "eu", "http://127.0.0.1:8042", connect))

    assert (client.meta.region_name, key_of(client)) == ("eu-west-1", "eu-key")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, prog_name="flowpy")


@pytest.mark.parametrize(
    ("options", "told", "hint", "code"),
    [
        ((), "no AWS region is set", "give --region NAME", 2),
        ((), "no AWS region is set", "AWS_ENDPOINT_URL_SWF=http://127.0.0.1:8042", 2),
        (("--region", "eu-west-1"), "Unable to locate credentials", "AWS_ENDPOINT_URL_SWF=http://127.0.0.1:8042", 6),
        (("--profile", "us"), "The config profile (us) could not be found", "aws configure list-profiles", 2),
        (("--endpoint-url", "http://127.0.0.1:9"), "Could not connect to the endpoint", "is flowpy server running", 7),
        (("--region", "eu-west-1", "--endpoint-url", "localhost"), "is no URL", "as in http://127.0.0.1:8042", 2),
        (("--endpoint-url", "http://127.0.0.1:99999"), "Port out of range", "as in http://127.0.0.1:8042", 2),
    ],
)
def test_what_it_says_if_it_finds_none(options: tuple[str, ...], told: str, hint: str, code: int) -> None:
    done = invoke("list", "--domain", "shop", *options)

    first, second = done.stderr.splitlines()
    assert (told in first, hint in second, done.exit_code, done.stdout) == (True, True, code, "")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NonDeterminismError("differs"), 3),
        (errors.UnknownResource("no"), 4),
        (errors.AlreadyExists("there"), 5),
        (errors.AccessDenied("no"), 6),
        (errors.InvalidRequest("no"), 6),
        (errors.Throttled("later"), 7),
        (errors.ServiceUnavailable("later"), 7),
        (errors.ResultNotReady("open"), 8),
        (errors.WorkflowFailed("failed"), 1),
        (errors.HistoryError("none"), 1),
        (errors.PayloadTooLarge("long"), 2),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_an_exit_code_and_no_traceback(error: BaseException, code: int) -> None:
    def fail(_: Connection) -> Any:
        raise error

    done = CliRunner().invoke(command, ["list", "--domain", "shop"], obj=fail)

    assert done.exit_code == code
    assert "Traceback" not in done.output
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("no_color", ["", "1"])
def test_errors_have_colours_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch, no_color: str) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)

    done = CliRunner().invoke(command, ["list", "--domain", ""], color=True)

    assert ("\x1b[31merror" in done.stderr) is not bool(no_color)


def test_a_mistake_of_flowpys_own_is_seen_in_full() -> None:
    def fail(_: Connection) -> Any:
        raise RuntimeError("a bug")

    assert isinstance(CliRunner().invoke(command, ["list", "--domain", "shop"], obj=fail).exception, RuntimeError)

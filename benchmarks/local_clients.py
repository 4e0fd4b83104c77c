"""Ways to call a service under measurement."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

_CREDENTIALS: Final = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIDEXAMPLE",
    "aws_secret_access_key": "secret",
}


def boto_call(url: str | None = None, made: Any = None) -> Call:
    """Through a boto3 client: one for an endpoint, or one that is given."""
    import boto3
    from botocore import xform_name
    from botocore.config import Config

    config = Config(read_timeout=70, retries={"total_max_attempts": 1})
    client = made or boto3.session.Session().client("swf", endpoint_url=url, config=config, **_CREDENTIALS)
    methods: dict[str, Any] = {}

    def call(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation not in methods:
            methods[operation] = getattr(client, xform_name(operation))
        answer: dict[str, Any] = methods[operation](**request)
        return answer

    return call


@contextlib.contextmanager
def mocked_call() -> Iterator[Call]:
    """Through a boto3 client inside of moto's ``mock_aws``."""
    from moto import mock_aws

    with mock_aws():
        yield boto_call()


def socket_call(url: str) -> Call:
    """Through the standard library's HTTP client, as lean as a client can be."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=70)
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/swf/aws4_request, "
        "SignedHeaders=host, Signature=0",
    }

    def call(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        target = {"X-Amz-Target": f"SimpleWorkflowService.{operation}"}
        try:
            connection.request("POST", "/", json.dumps(request), headers | target)
            reply = connection.getresponse()
        except (BrokenPipeError, ConnectionResetError):
            # While others were measured the server closed the connection, as servers do; it has read nothing.
            connection.close()
            connection.request("POST", "/", json.dumps(request), headers | target)
            reply = connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise RuntimeError(body.decode())
        answer: dict[str, Any] = json.loads(body) if body else {}
        return answer

    return call

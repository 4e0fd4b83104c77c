"""boto3 clients whose calls reach an engine in this process, without a socket."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, Protocol

from attrs import frozen

from flowpy.errors import ServiceError
from flowpy.local.wire import answer_bytes, fault_bytes, operation_of, read_request

__all__ = ["Answering", "client"]


class Answering(Protocol):
    """What answers operations: an `Engine`, whose polls return at once, or a `LocalService`, whose polls wait."""

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answers one request."""
        ...


@frozen
class _Raw:
    """The part of urllib3's response that botocore reads."""

    content: bytes

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self.content


@frozen
class _Seam:
    """Takes the place of the HTTP session, behind botocore's serialiser and before its parser."""

    service: Answering

    def __call__(self, request: Any, **_: Any) -> Any:
        from botocore.awsrequest import AWSResponse

        status, body = self._answer(request)
        headers: Any = {"x-amzn-requestid": str(uuid.uuid4()), "content-type": "application/x-amz-json-1.0"}
        return AWSResponse(request.url, status, headers, _Raw(body))

    def _answer(self, request: Any) -> tuple[int, bytes]:
        target, body = request.headers["X-Amz-Target"], request.body
        if isinstance(target, bytes):
            target = target.decode()
        if isinstance(body, str):
            body = body.encode()
        try:
            return 200, answer_bytes(self.service.call(operation_of(target), read_request(body or b"")))
        except ServiceError as error:
            return fault_bytes(error)


def client(service: Answering, *, region: str = "us-east-1", **options: Any) -> Any:
    """A boto3 SWF client that talks to an engine in this process.

    Everything of botocore runs, its serialiser, its parser and its retries, but for the signature and the socket; no
    credentials are needed.

    Args:
        service: An `Engine`: polls return at once. Or a `LocalService`: polls wait.
        region: The region the client says it is in.
        options: Of ``boto3.session.Session.client``.

    Returns:
        The client.
    """
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    config = Config(signature_version=UNSIGNED).merge(options.pop("config", Config()))
    # A client of its own session: the default one is shared with the rest of the program.
    made = boto3.session.Session().client(
        "swf", region_name=region, endpoint_url="http://flowpy.local", config=config, **options
    )
    made.meta.events.register("before-send.swf", _Seam(service))
    return made

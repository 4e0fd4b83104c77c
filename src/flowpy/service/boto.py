"""SWF through boto3, with timeouts and retries that fit long polls and answers that count once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from flowpy import errors
from flowpy.service.ending import end_polls
from flowpy.service.faults import from_botocore
from flowpy.service.replies import read_replies
from flowpy.service.requests import host_of, trim_requests
from flowpy.service.sessions import boto_session

__all__ = ["BotoService"]

POLLS: Final = frozenset({"PollForDecisionTask", "PollForActivityTask"})

ONCE: Final = frozenset(
    {
        "RecordActivityTaskHeartbeat",
        "RespondActivityTaskCanceled",
        "RespondActivityTaskCompleted",
        "RespondActivityTaskFailed",
        "RespondDecisionTaskCompleted",
        "SignalWorkflowExecution",
        "StartWorkflowExecution",
    }
)
"""Never repeated inside botocore: flowpy decides itself whether repeating them is safe, and when."""

POLL_READ_TIMEOUT: Final = 75.0
"""Seconds; SWF holds a poll for 60, and a client that gives up first may lose the task it was given."""


class BotoService:
    """The real SWF, or anything that speaks its wire protocol, as a ``Service``.

    boto3 is imported when the first call is made. Timeouts, the fast reading of replies
    (``read_replies``) and the trimming of requests are set on the clients made here only.

    Args:
        client: A boto3 SWF client to use for everything instead of own ones: its timeouts and retries are
            then the caller's (read_timeout of at least 70 s and no retries are needed for polls).
        region_name: AWS region; default that of the environment (``AWS_REGION``, ``AWS_DEFAULT_REGION``) or profile.
        endpoint_url: Address of the service; default boto3's own (``AWS_ENDPOINT_URL_SWF``).
        session: A ``boto3.Session`` for credentials; default a new one, which for a service on this machine has made-up
            credentials and us-east-1 where there are none.
        max_connections: Connections kept open per client, so the number of threads that call at once.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        session: Any = None,
        max_connections: int = 50,
    ) -> None:
        self._given = client
        self._region_name = region_name
        self._endpoint_url = endpoint_url
        self._session = session
        self._max_connections = max_connections
        self._clients: dict[str, Any] = {}
        self._methods: dict[str, Callable[..., dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one SWF operation; a poll that was answered by nobody in time is an empty poll.

        Args:
            operation: SWF's name, such as ``PollForDecisionTask``.
            request: boto3's keyword arguments.

        Returns:
            boto3's result without ``ResponseMetadata``.

        Raises:
            ServiceError: See ``flowpy.service.faults``.
        """
        try:
            method = self._methods.get(operation) or self._method(operation)
            reply: dict[str, Any] = method(**request)
        except Exception as error:
            # A further page is not a poll: an empty reply there would be taken for the end of the history.
            if operation in POLLS and "nextPageToken" not in request and _is_late(error):
                return {}
            translated = from_botocore(error, operation)
            if translated is None:
                raise
            raise translated from error
        reply.pop("ResponseMetadata", None)
        return reply

    def end_polls(self, identity: str) -> bool:
        """Have the embedded service answer the polls of an identity at once; SWF itself holds them for up to a minute.

        Returns:
            Whether the service is that one, and did so.
        """
        return end_polls(self._client("PollForDecisionTask").meta.endpoint_url, identity)

    def close(self) -> None:
        """Close the connections of the clients made here; calling again makes new ones."""
        with self._lock:
            clients, self._clients, self._methods = list(self._clients.values()), {}, {}
        for client in clients:
            client.close()

    def _method(self, operation: str) -> Callable[..., dict[str, Any]]:
        """The method of a client for an operation; found once, because botocore's way to its name is long."""
        from botocore import xform_name

        methods = self._methods  # before the client is had: closing puts another table here
        method: Callable[..., dict[str, Any]] = getattr(self._client(operation), xform_name(operation))
        if self._given is None:
            methods[operation] = method
        return method

    def _client(self, operation: str) -> Any:
        if self._given is not None:
            return self._given
        kind = "polls" if operation in POLLS else "once" if operation in ONCE else "calls"
        # Making boto3 clients is not thread-safe; using them is.
        with self._lock:
            client = self._clients.get(kind)
            if client is None:
                client = self._clients[kind] = self._make(kind)
            return client

    def _make(self, kind: str) -> Any:
        from botocore.config import Config
        from botocore.exceptions import NoRegionError

        if self._session is None:
            self._session = boto_session(endpoint_url=self._endpoint_url)
        attempts = 5 if kind == "calls" else 1
        config = Config(
            connect_timeout=5 if kind != "polls" else 10,
            read_timeout=POLL_READ_TIMEOUT if kind == "polls" else 20,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=self._max_connections,
            tcp_keepalive=True,
            parameter_validation=False,  # trim_requests does it
        )
        try:
            client = self._session.client(
                "swf", region_name=self._region_name, endpoint_url=self._endpoint_url, config=config
            )
            host_of(client.meta.endpoint_url)  # botocore takes any number for a port
        except NoRegionError as error:
            remedy = "give region_name=…, or set AWS_DEFAULT_REGION or a region in the AWS profile"
            raise errors.InvalidRequest("no AWS region is set", fault="NoRegionError", remedy=remedy) from error
        except ValueError as error:
            message = f"the address of the service is no URL: {error}"
            raise errors.InvalidRequest(message, operation="", fault="InvalidEndpoint") from error
        read_replies(client)
        trim_requests(client, attempts)
        return client


def _is_late(error: Exception) -> bool:
    """Whether nothing was heard for as long as a poll may take."""
    from botocore.exceptions import ReadTimeoutError

    return isinstance(error, ReadTimeoutError)

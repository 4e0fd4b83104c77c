"""SWF through boto3, with timeouts and retries that fit long polls and answers that count once."""

from __future__ import annotations

import threading
from typing import Any, Final

from flowpy import errors
from flowpy.service.faults import from_botocore
from flowpy.service.replies import read_replies

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

    boto3 is imported when the first call is made. Timeouts, and the fast reading of replies
    (``read_replies``), are set on the clients made here only.

    Args:
        client: A boto3 SWF client to use for everything instead of own ones: its timeouts and retries are
            then the caller's (read_timeout of at least 70 s and no retries are needed for polls).
        region_name: AWS region; default boto3's own (environment, profile).
        endpoint_url: Address of the service; default boto3's own (``AWS_ENDPOINT_URL_SWF``).
        session: A ``boto3.Session`` for credentials; default a new one.
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
        from botocore import xform_name
        from botocore.exceptions import ReadTimeoutError

        try:
            reply: dict[str, Any] = getattr(self._client(operation), xform_name(operation))(**request)
        except ReadTimeoutError as error:
            # A further page is not a poll: an empty reply there would be taken for the end of the history.
            if operation in POLLS and "nextPageToken" not in request:
                return {}
            raise _translated(error, operation) from error
        except Exception as error:
            translated = from_botocore(error, operation)
            if translated is None:
                raise
            raise translated from error
        reply.pop("ResponseMetadata", None)
        return reply

    def close(self) -> None:
        """Close the connections of the clients made here; calling again makes new ones."""
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            client.close()

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
        import boto3
        from botocore.config import Config
        from botocore.exceptions import NoRegionError

        if self._session is None:
            self._session = boto3.Session()
        config = Config(
            connect_timeout=5 if kind != "polls" else 10,
            read_timeout=POLL_READ_TIMEOUT if kind == "polls" else 20,
            retries={"mode": "standard", "total_max_attempts": 5 if kind == "calls" else 1},
            max_pool_connections=self._max_connections,
            tcp_keepalive=True,
        )
        try:
            client = self._session.client(
                "swf", region_name=self._region_name, endpoint_url=self._endpoint_url, config=config
            )
        except NoRegionError as error:
            message = "no AWS region is set: give region_name=…, or set AWS_REGION or a region in the AWS profile"
            raise errors.InvalidRequest(message, operation="", fault="NoRegionError") from error
        read_replies(client)
        return client


def _translated(error: Exception, operation: str) -> Exception:
    return from_botocore(error, operation) or error

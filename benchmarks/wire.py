"""SWF as bytes, without sockets: the whole of a run from the first poll to the answer that closes it.

boto3 asks the handlers of ``before-send`` for a response before it opens a connection. What stands here gives that of
SWF: pages of at most 1,000 events, from event 1, or from the decision task before if the poll says so. All that a
decider does is then done in its process, and nothing else: building, checking and signing requests, parsing replies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import histories
import peers

REGION, DOMAIN, TASK_LIST = "us-east-1", "domain", "bench"
PAGE = 1_000


def session() -> Any:
    """A boto3 session with credentials that are nobody's."""
    import boto3

    return boto3.Session(aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key="secret", region_name=REGION)  # noqa: S106


def decisions(history: list[histories.Event]) -> list[tuple[int, int]]:
    """Ids of the DecisionTaskStarted events of a chain, each with that before it, 0 at first."""
    started = [event["eventId"] for event in history if event["eventType"] == "DecisionTaskStarted"]
    return list(zip([0, *started], started, strict=False))


class Chain:
    """What SWF answers while a chain is decided, as a handler of ``before-send.swf``.

    Args:
        size: Activities of the chain.
        form: How the library that decides writes what it decides.
    """

    def __init__(self, size: int, form: histories.Form) -> None:
        history = histories.chain(size, form)
        self._size = size
        self._events = [_bytes(event) for event in history]
        self._decisions = decisions(history)
        self._tasks: Iterator[tuple[int, int]] = iter(())
        self._task = (0, 0)
        self._answers: list[bytes] = []
        self._pages: dict[tuple[int, int, int], bytes] = {}

    def begin(self) -> None:
        """Start from the first decision task."""
        self._tasks, self._answers = iter(self._decisions), []

    @property
    def polls(self) -> int:
        """Decision tasks of the chain."""
        return len(self._decisions)

    def check(self) -> None:
        """Every decision task was answered, and the last answer closed the run as it must."""
        assert len(self._answers) == self.polls, len(self._answers)
        peers.check_swf(json.loads(self._answers[-1])["decisions"], "chain", self._size)

    def answer(self, request: Any, **_other: Any) -> Any:
        """The response to a request."""
        from botocore.awsrequest import AWSResponse

        assert b"Signature=" in request.headers["Authorization"]
        operation = request.headers["X-Amz-Target"]
        body = b""
        if operation.endswith(b".PollForDecisionTask"):
            body = self._page(request.body)
        else:
            assert operation.endswith(b".RespondDecisionTaskCompleted"), operation
            self._answers.append(request.body)
        return AWSResponse(request.url, 200, {"x-amzn-RequestId": "r"}, _Raw(body))

    def _page(self, poll: bytes) -> bytes:
        """A page; none is made twice, so that a chain costs its decider's CPU and hardly any of the service's."""
        token = json.loads(poll)["nextPageToken"] if b'"nextPageToken"' in poll else None
        if token is None:
            self._task = next(self._tasks)
        previous, started = self._task
        first = int(token) if token else max(0, previous - 1) if b'"startAtPreviousStartedEvent": true' in poll else 0
        key = (first, previous, started)
        if key not in self._pages:
            self._pages[key] = self._made(*key)
        return self._pages[key]

    def _made(self, first: int, previous: int, started: int) -> bytes:
        last = min(first + PAGE, started)
        reply = {
            "taskToken": f"{'AAAAKgAAAAIAAAAA' * 20}{started}",
            "startedEventId": started,
            "previousStartedEventId": previous,
            "workflowExecution": {"workflowId": "chain-1", "runId": "22PYdkVpDPz6sWPVY3kqnV9dDE4jm"},
            "workflowType": {"name": "chain", "version": "1.0"},
            **({"nextPageToken": str(last)} if last < started else {}),
        }
        return b'%b,"events":[%b]}' % (_bytes(reply)[:-1], b",".join(self._events[first:last]))


class _Raw:
    """A body that was read already."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield self._body


def _bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=datetime.timestamp).encode()


class Flowpy:
    """flowpy's decision worker on its own clients, keeping runs, with all that is on by default."""

    def __init__(self, workflows: list[Any], chain: Chain) -> None:
        from flowpy.service import BotoService
        from flowpy.worker.deciding import decide_with, keep_with
        from flowpy.worker.decisions import DecisionWorker
        from flowpy.worker.lifecycle import Lifecycle
        from flowpy.worker.settings import WorkerSettings

        made, settings, lifecycle = session(), WorkerSettings(threads=1), Lifecycle()
        made.events.register_first("before-send.swf", chain.answer)
        self._chain = chain
        self._worker = DecisionWorker(
            BotoService(session=made),
            lifecycle,
            decide_with(workflows, settings),
            DOMAIN,
            TASK_LIST,
            "decider",
            sticky=keep_with(workflows, settings, lifecycle, TASK_LIST),
        )

    def whole(self) -> None:
        """Decide a chain from its start to its end: its first decision task comes to all, the rest to this process."""
        self._chain.begin()
        self._worker.step()
        for _ in range(self._chain.polls - 1):
            self._worker.sticky_step()
        self._chain.check()


class Botoflow:
    """botoflow's decider on a client of the same boto3, as boto3 makes it."""

    def __init__(self, decide: peers.Botoflow, chain: Chain) -> None:
        made = session()
        made.events.register_first("before-send.swf", chain.answer)
        self._chain, self._decide = chain, decide.on(made.client("swf"))

    def whole(self) -> None:
        """Decide a chain from its start to its end, each decision task from event 1."""
        self._chain.begin()
        for _ in range(self._chain.polls):
            self._decide()
        self._chain.check()

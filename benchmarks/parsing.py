"""Reading a page of history events: what botocore does between the last byte and the reply, and flowpy's way."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from typing import Any

import histories
import wire

from flowpy.service import read_replies

Way = Callable[[], object]

PAGE = 1_000
_SAME_TRANSACTION = ("DecisionTaskScheduled", "ActivityTaskScheduled")
"""SWF records these together with the event before, at the same time."""


def page() -> bytes:
    """What SWF answers a poll with: 1,000 events of a chain of activities, as compact JSON."""
    events = histories.chain(PAGE // 6 + 2, histories.FLOWPY)[:PAGE]
    for before, event in pairwise(events):
        if event["eventType"] in _SAME_TRANSACTION:
            event["eventTimestamp"] = before["eventTimestamp"]
    reply = {
        "taskToken": "AAAAKgAAAAIAAAAA" * 20,
        "startedEventId": PAGE,
        "previousStartedEventId": PAGE - 6,
        "workflowExecution": {"workflowId": "chain-1", "runId": "22PYdkVpDPz6sWPVY3kqnV9dDE4jm"},
        "workflowType": {"name": "chain", "version": "1.0"},
        "events": events,
        "nextPageToken": "AAAAKgAAAAEAAAAA" * 20,
    }
    return json.dumps(reply, separators=(",", ":"), default=datetime.timestamp).encode()


def parse() -> tuple[Way, Way]:
    """Reading that page with flowpy's handler, and without; both give the same."""
    from botocore.parsers import create_parser

    client = wire.session().client("swf")
    read_replies(client)
    operation = client.meta.service_model.operation_model("PollForDecisionTask")
    parser, body = create_parser("json"), page()

    def default() -> Any:
        return parser.parse(response(), operation.output_shape)

    def response() -> dict[str, Any]:
        return {"status_code": 200, "headers": {"x-amzn-requestid": "r"}, "body": body}

    def ours() -> Any:
        got, read = response(), dict[str, Any]()
        client.meta.events.emit(
            "before-parse.swf.PollForDecisionTask",
            operation_model=operation,
            response_dict=got,
            customized_response_dict=read,
        )
        return {**parser.parse(got, operation.output_shape), **read}

    assert ours() == default(), "the replies differ"
    return ours, default

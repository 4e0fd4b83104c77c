"""What a decider costs, row by row, beside what it would cost without flowpy's own way.

    python benchmarks/decider.py [--rounds 15] [--rows parse,…] [--json] [--check]

Prints a table, or with ``--json`` one JSON object with every sample. ``--check`` makes a missed goal an error. A row is
a pair of ways to do one thing, checked to give the same result; its samples go A B, A B, … in one process, and its
figure is the median of the ratios within rounds.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from typing import Any

import boto3
import histories
from attrs import frozen
from timing import cpu, median_ratio, table

from flowpy.service import read_replies

SAMPLE = 0.05
"""Seconds of CPU that a sample takes at least, by repeating."""

Way = Callable[[], object]


@frozen
class Row:
    """Two ways to do one thing.

    Attributes:
        name: What is done.
        ways: Names of flowpy's way and of the other; the result of both is equal.
        make: Makes both, in that order.
        goal: How many times less CPU flowpy's way takes at least.
    """

    name: str
    ways: tuple[str, str]
    make: Callable[[], tuple[Way, Way]]
    goal: float


@frozen
class Measured:
    """The samples of a row, CPU seconds of one time each."""

    row: Row
    ours: list[float]
    other: list[float]

    @property
    def ratio(self) -> float:
        """How many times less CPU flowpy's way took."""
        return median_ratio(self.other, self.ours)

    @property
    def missed(self) -> bool:
        """Whether that is less than the goal."""
        return self.ratio < self.row.goal


# --- reading a page --------------------------------------------------------------------------------

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
    """Reading that page: what botocore does between the last byte and the reply, with the handler and without."""
    from botocore.parsers import create_parser

    client = boto3.client("swf", region_name="us-east-1")
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

    return ours, default


ROWS = {"parse": Row(f"read a page of {PAGE:,} events", ("flowpy", "botocore"), parse, goal=8.0)}


def measure(row: Row, rounds: int) -> Measured:
    """Both ways, round by round."""
    ours, other = row.make()
    assert ours() == other(), f"{row.name}: the results differ"
    times = [max(1, round(SAMPLE / cpu(way, 1))) for way in (ours, other)]
    samples = [(cpu(ours, times[0]), cpu(other, times[1])) for _ in range(rounds)]
    return Measured(row, [one for one, _ in samples], [one for _, one in samples])


def text(results: list[Measured]) -> str:
    """The table."""
    rows = [
        (
            result.row.name,
            *(f"{statistics.median(taken) * 1e3:.3g} ({way})" for way, taken in _by_way(result).items()),
            result.ratio,
            f"≥ {result.row.goal:g}",
            "MISSED" if result.missed else "held",
        )
        for result in results
    ]
    return f"CPython {platform.python_version()}\n\n{table(('row', 'ms', 'ms', 'times less CPU', 'goal', ''), rows)}"


def as_json(results: list[Measured]) -> str:
    """The same with every sample."""
    rows = {
        result.row.name: {"cpu_seconds": _by_way(result), "ratio": result.ratio, "goal": result.row.goal}
        for result in results
    }
    return json.dumps({"python": platform.python_version(), "rows": rows}, indent=1)


def _by_way(result: Measured) -> dict[str, list[float]]:
    return dict(zip(result.row.ways, (result.ours, result.other), strict=True))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="What a decider costs, row by row.")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each way (default 15)")
    parser.add_argument("--rows", default=",".join(ROWS), help="which to measure (default all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object with every sample")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    options = parser.parse_args()
    results = [measure(ROWS[name], options.rounds) for name in options.rows.split(",")]
    print(as_json(results) if options.json else text(results))
    return 1 if options.check and any(result.missed for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())

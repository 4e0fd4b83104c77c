"""An order from start to result: ``make demo``, or ``python samples/demo.py [--json]``.

Starts a service that stands in for Amazon SWF and a worker, each as a process of its own, starts an order, waits for
its result, and shows what the service recorded. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from flowpy import AlreadyExists, Client, FlowpyError, ResultNotReady, UnknownResource
from flowpy.client import Run
from order import Delivery, order
from processes import DOMAIN, PATIENCE, REGION, ProcessFailed, be_local, pause, service, stop_in_pauses, worker
from table import WIDTH, Event, about, elapsed, fitted, table

ORDER = ("o-7", ["lamp", "teapot", "rug"])
INTERVAL = 0.2  # seconds between two looks at the run

Show = Callable[[str], None]
Check = Callable[[], None]


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs an order from start to result, on this machine alone.")
    parser.add_argument("--json", action="store_true", help="print result and history as JSON")
    given = parser.parse_args()
    stop_in_pauses()
    be_local()
    try:
        with progress() as show:
            result, events = demo(show)
    except (ProcessFailed, FlowpyError) as error:
        print(f"the demo failed: {error}", file=sys.stderr)
        return 1
    for line in as_json(result, events) if given.json else as_text(result, events):
        print(line)
    return 0


def demo(show: Show) -> tuple[Delivery, list[Event]]:
    """Run one order from start to result, with all that takes part in it.

    Args:
        show: Told what goes on.

    Returns:
        The result and the history.

    Raises:
        ProcessFailed: The service or the worker did not start, or ended.
        ResultNotReady: The order takes too long.
        WorkflowFailed: It failed.
    """
    show("starting the service")
    with service() as url, connect(url) as client:
        show("starting a worker")
        with worker(url) as working:
            run = start(client, working.check)
            return wait(run, working.check, show), run.history()


def connect(url: str) -> Client:
    """A client of a service, its domain registered."""
    client = Client(DOMAIN, region_name=REGION, endpoint_url=url)
    with contextlib.suppress(AlreadyExists):
        client.service.call("RegisterDomain", {"name": DOMAIN, "workflowExecutionRetentionPeriodInDays": "1"})
    return client


def start(client: Client, check: Check, **options: Any) -> Run[Delivery]:
    """Start the order, as soon as a worker has registered its type."""
    deadline = time.monotonic() + PATIENCE
    while True:
        check()
        try:
            return client.start(order, *ORDER, workflow_id=f"order-{ORDER[0]}", **options)
        except UnknownResource:
            if time.monotonic() > deadline:
                raise
        pause(INTERVAL)


def wait(run: Run[Delivery], check: Check, show: Show) -> Delivery:
    """Wait for the result, showing what happens meanwhile; ``run.result()`` alone waits in silence."""
    deadline = time.monotonic() + PATIENCE
    while True:
        check()
        try:
            return run.result(timeout=0)
        except ResultNotReady:
            if time.monotonic() > deadline:
                raise
        events = run.history()
        last = [event for event in events if not event["eventType"].startswith("DecisionTask")][-1]
        show(f"{elapsed(events, last):4.1f} s  {last['eventType']} {about(events, last)}")
        pause(INTERVAL)


@contextlib.contextmanager
def progress() -> Iterator[Show]:
    """What goes on, on standard error: one line written over and over on a terminal, else a line for each change."""
    out, last = sys.stderr, ""

    def show(text: str) -> None:
        nonlocal last
        if text != last:
            last, line = text, fitted(text, WIDTH - 1)
            print(f"\r\x1b[K{line}" if out.isatty() else line, end="" if out.isatty() else "\n", file=out, flush=True)

    try:
        yield show
    finally:
        if out.isatty():
            print("\r\x1b[K", end="", file=out, flush=True)


def as_text(result: Delivery, events: list[Event]) -> Iterator[str]:
    """The result, and the history as a table."""
    yield from table(events)
    yield ""
    yield f"result after {elapsed(events, events[-1]):.1f} s: {result.receipt}"
    yield from (f"  {parcel}" for parcel in result.parcels)


def as_json(result: Delivery, events: list[Event]) -> Iterator[str]:
    """Result and history as one JSON object, the history in a form that ``flowpy.testing.replay`` reads."""
    told = {"result": dataclasses.asdict(result), "events": events}
    yield json.dumps(told, indent=2, default=lambda moment: moment.isoformat())


if __name__ == "__main__":
    sys.exit(main())

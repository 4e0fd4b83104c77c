"""Two orders from start to end: ``make demo``, or ``python samples/demo.py [--json]``.

Starts Amazon SWF on this machine and a worker, each as a process of its own, and two orders. The first is approved and
delivered, the second cancelled while it waits for approval. Then shows what SWF recorded. Nothing leaves this machine.
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

from flowpy import AlreadyExists, Client, FlowpyError, UnknownResource, WorkflowCanceled
from flowpy.client import Run
from order import Delivery, approval, order
from processes import DOMAIN, PATIENCE, REGION, ProcessFailed, be_local, pause, service, stop_in_pauses, worker
from table import WIDTH, Event, about, count, elapsed, fitted, table

APPROVED, CANCELLED = ("o-7", ["lamp", "teapot", "rug"]), ("o-8", ["lamp"])
INTERVAL = 0.2  # seconds between two looks at a run

Show = Callable[[str], None]
Check = Callable[[], None]


@dataclasses.dataclass(frozen=True)
class Ending:
    """How an order ended: its status as SWF calls it, its result if there is one, and its history."""

    order_id: str
    status: str
    result: Delivery | None
    events: list[Event]


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs two orders from start to end, on this machine alone.")
    parser.add_argument("--json", action="store_true", help="print results and histories as JSON")
    given = parser.parse_args()
    stop_in_pauses()
    be_local()
    try:
        with progress() as show:
            endings = demo(show)
    except (ProcessFailed, FlowpyError) as error:
        print(f"the demo failed: {error}", file=sys.stderr)
        return 1
    for line in as_json(endings) if given.json else as_text(endings):
        print(line)
    return 0


def demo(show: Show) -> list[Ending]:
    """Run both orders, with all that takes part in them.

    Args:
        show: Told what goes on.

    Raises:
        ProcessFailed: The service or the worker did not start, or ended, or takes too long.
        WorkflowFailed: It failed.
    """
    show("starting Amazon SWF on this machine")
    with service() as url, connect(url) as client:
        show("starting a worker")
        with worker(url) as working:
            first, second = start(client, working.check, *APPROVED), start(client, working.check, *CANCELLED)

            wait(first, is_packing, working.check, show)
            client.run(first.workflow_id).signal(approval, True)  # as anybody might who knows the order's number

            wait(second, is_packed, working.check, show)
            client.run(second.workflow_id).cancel()

            return [end(run, working.check, show) for run in (first, second)]


def connect(url: str) -> Client:
    """A client of a service, its domain registered."""
    client = Client(DOMAIN, region_name=REGION, endpoint_url=url)
    with contextlib.suppress(AlreadyExists):
        client.service.call("RegisterDomain", {"name": DOMAIN, "workflowExecutionRetentionPeriodInDays": "1"})
    return client


def start(client: Client, check: Check, order_id: str, items: list[str], **options: Any) -> Run[Delivery]:
    """Start an order, as soon as a worker has registered its type."""
    deadline = time.monotonic() + PATIENCE
    while True:
        check()
        try:
            return client.start(order, order_id, items, workflow_id=f"order-{order_id}", **options)
        except UnknownResource:
            if time.monotonic() > deadline:
                raise
        pause(INTERVAL)


def is_packing(events: list[Event]) -> bool:
    """Whether the items are reserved and go into boxes."""
    return count(events, "ActivityTaskScheduled") > 1


def is_packed(events: list[Event]) -> bool:
    """Whether an order of one item is reserved and packed, so that it waits for its approval."""
    return count(events, "ActivityTaskCompleted") > 1


def wait(run: Run[Delivery], happened: Callable[[list[Event]], bool], check: Check, show: Show) -> None:
    """Wait until something has happened to an order, showing what happens meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while not happened(events := run.history()):
        check()
        if time.monotonic() > deadline:
            raise ProcessFailed(f"{run.workflow_id} is not done after {PATIENCE:g} s")
        last = [event for event in events if not event["eventType"].startswith("DecisionTask")][-1]
        show(f"{elapsed(events, last):4.1f} s  {run.workflow_id}: {last['eventType']} {about(events, last)}")
        pause(INTERVAL)


def end(run: Run[Delivery], check: Check, show: Show) -> Ending:
    """Wait for the end of an order; ``run.result()`` alone does that in silence."""
    wait(run, lambda _: run.describe().status == "CLOSED", check, show)
    try:
        status, result = "COMPLETED", run.result(timeout=0)
    except WorkflowCanceled:
        status, result = "CANCELED", None
    return Ending(run.workflow_id.removeprefix("order-"), status, result, run.history())


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


def as_text(endings: list[Ending]) -> Iterator[str]:
    """For each order its history as a table, and its result."""
    for ending in endings:
        yield f"order {ending.order_id}"
        yield from table(ending.events)
        said = ending.result.receipt if ending.result else "what was reserved is released"
        yield f"{ending.status} after {elapsed(ending.events, ending.events[-1]):.1f} s: {said}"
        yield from (f"  {parcel}" for parcel in (ending.result.parcels if ending.result else ()))
        yield ""
    yield "(decision tasks, between all of these, are left out; --json has them)"


def as_json(endings: list[Ending]) -> Iterator[str]:
    """All as one JSON object, the histories in a form that ``flowpy.testing.replay`` reads."""
    told = {"orders": [dataclasses.asdict(ending) for ending in endings]}
    yield json.dumps(told, indent=2, default=lambda moment: moment.isoformat())


if __name__ == "__main__":
    sys.exit(main())

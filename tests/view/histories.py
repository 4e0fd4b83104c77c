"""Histories that show everything a timeline can show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from flowpy.history import seconds
from flowpy.testing import HistoryBuilder
from flowpy.view import Timeline, timeline

_TESTS = Path(__file__).parents[1]
_REAL = Path(os.environ.get("FLOWPY_RECORDED_HISTORIES", _TESTS / ".." / ".." / "shared" / "histories"))
EVERY = [
    *sorted(path for path in (_TESTS / "cases" / "histories").glob("*.json") if ".expected" not in path.name),
    *sorted(_REAL.glob("*.json")),
]
"""Histories of all kinds: those of the cases, and what the real service wrote where that lies beside the checkout."""

_RETRY = '{"retry": {"attempts": 5, "initial": 20, "coefficient": 2, "jitter": 0, "first": 1735732812}}'
_CHARGE = {"startToCloseTimeout": "60", "control": _RETRY}


def hanging() -> HistoryBuilder:
    """An order that hangs: its charge went wrong again and again, and nobody wraps the gift."""
    history = HistoryBuilder("order", "o-7", workflow_id="order-o-7", run_id="22AjoiEXAMPLE=")
    history.advance(1)
    reserved = history.schedule("reserve", "o-7", ["lamp", "rug"], taskList={"name": "shop"})
    fraud = history.start_child("fraud_check", "o-7", executionStartToCloseTimeout="3600", workflow_id="fraud-o-7")
    history.advance(2)
    reserved.start("worker-1@shop-a")
    fraud.start()
    history.advance(9)
    reserved.complete(16_900)
    approval = history.start_timer("3d")
    history.record_side_effect("token-1")
    first = history.schedule("charge", "o-7", 16_900, **_CHARGE)
    told = history.signal_external("warehouse-eu", "reserved", "o-7")
    history.advance(1)
    first.start("worker-2@shop-b")
    told.deliver()
    history.advance(14)
    first.fail(ConnectionResetError("the bank hung up"))
    wait = history.start_timer(20, id="charge-1.w2")
    history.advance(5)
    fraud.complete("clean")
    history.advance(3)
    quote = history.schedule_lambda("price_check", "o-7")
    quote.start()
    history.advance(4)
    quote.fail(reason="UnhandledError", details="{}")
    history.signal("approval", True)
    approval.cancel()
    history.start_timer("2d")
    history.schedule("notify", "o-7", refused="ACTIVITY_TYPE_DOES_NOT_EXIST")
    card = history.schedule("print_card", "o-7")
    history.schedule("wrap", "o-7", taskList={"name": "gifts"})
    wait.fire()
    second = history.schedule("charge", "o-7", 16_900, id="charge-1.r2", **_CHARGE)
    history.advance(2)
    second.start("worker-1@shop-a")
    history.advance(60)
    second.time_out("START_TO_CLOSE")
    wait = history.start_timer(40, id="charge-1.w3")
    history.advance(10)
    card.start("worker-9@attic")
    history.signal("note", "please hurry")
    card.request_cancel()
    history.advance(3)
    card.cancel("stopped")
    wait.fire()
    third = history.schedule("charge", "o-7", 16_900, id="charge-1.r3", **_CHARGE)
    history.advance(1)
    third.start("worker-2@shop-b")
    history.advance(35)
    history.signal("note", "where is it?")
    history.begin_decision()
    history.advance(30)
    history.time_out_decision()
    return history


def shipped() -> HistoryBuilder:
    """An order that ended well."""
    history = HistoryBuilder("order", "o-8", workflow_id="order-o-8", run_id="22BkpjEXAMPLE=")
    paid = history.schedule("charge", "o-8", 4_200)
    history.advance(2)
    paid.start("worker-1@shop-a")
    history.advance(3)
    paid.complete("r-1")
    history.start_timer(30).fire()
    left = history.schedule("tell", "o-8")
    history.advance(1)
    left.start("worker-1@shop-a")
    history.advance(4)
    left.complete()
    history.complete("shipped")
    return history


_CHOSEN = set(
    "activityId cause control details id identity input lambdaName markerName name reason result runId signalName "
    "timerId timeoutType version workflowId".split()
)


def rude(text: str) -> Timeline:
    """A timeline in which every text that somebody chose is the same one."""

    def replaced(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: text if name in _CHOSEN else replaced(inner) for name, inner in value.items()}

    return timeline([replaced(event) for event in hanging().history()], workflow_id=text, run_id=text)


def long(events: int) -> HistoryBuilder:
    """A run of about so many events: activities one after another, some of which fail, and a timer now and then."""
    history = HistoryBuilder("migrate", "all", workflow_id="migrate-all", run_id="22ClqkEXAMPLE=")
    number = 0
    while history.event_id < events:
        number += 1
        step = history.schedule("copy_table", f"table_{number}", taskList={"name": "copies"})
        history.advance(1)
        step.start(f"worker-{number % 7}@copies")
        history.advance(number % 90)
        if number % 50 == 0:
            step.fail(OSError(f"table_{number} is locked"))
        else:
            step.complete({"rows": number * 97, "table": f"table_{number}"})
        if number % 20 == 0:
            history.start_timer(30).fire()
        if number % 100 == 0:
            history.signal("progress", number)
    return history


def made(history: HistoryBuilder, later: float = 0) -> Timeline:
    """Its timeline, seen so many seconds after its last event."""
    events = history.history()
    return timeline(events, now=seconds(events[-1]) + later, workflow_id=history.workflow_id, run_id=history.run_id)

"""Logging: each thing once, with the run or activity as fields, by flowpy's logger, any other, and structlog."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
import structlog
from structlog.testing import CapturingLogger

import flowpy
from flowpy.telemetry import ContextFilter, add_context
from flowpy.testing import Environment

from .process import client

library = logging.getLogger("library")
events = CapturingLogger()
structured = structlog.wrap_logger(events, processors=[add_context, structlog.processors.JSONRenderer(sort_keys=True)])


def say(what):
    """One thing, three ways."""
    flowpy.logger.info(what, extra={"colour": "red"})
    library.info(what)
    structured.info(what, colour="red")


@flowpy.activity(name="charge", retry=flowpy.Retry(attempts=3, initial="1s"))
def charge(cents: int) -> str:
    say("charging")
    if flowpy.current_activity().attempt == 1:
        raise ConnectionError("busy")
    return f"{cents} charged"


@flowpy.activity(name="ship")
async def ship(order_id: str) -> str:
    await asyncio.sleep(0)
    say("shipping")
    return order_id


@flowpy.workflow(name="order")
async def order(order_id: str) -> str:
    say("begins")
    receipt = await charge(42)
    say("charged")
    await ship(order_id)
    say("shipped")
    return receipt


@pytest.fixture(autouse=True)
def handler(monkeypatch):
    """A handler of the root logger with the filter, which keeps what comes out."""
    kept = []

    class Keeping(logging.Handler):
        def emit(self, record):
            kept.append(record)

    made = Keeping(logging.INFO)
    made.addFilter(ContextFilter())
    made.kept = kept
    root = logging.getLogger()
    monkeypatch.setattr(root, "level", logging.INFO)
    root.addHandler(made)
    yield made
    root.removeHandler(made)
    events.calls.clear()


@pytest.mark.parametrize("sticky", [True, False], ids=["kept", "replayed"])
def test_each_thing_is_said_once_with_all_that_is_known(service, process, handler, sticky):
    worker = process([order], [charge, ship], sticky=sticky)
    run = client(service).start(order, "o-7", workflow_id="order-7", task_list="main")
    worker.settle()
    service.engine.advance(5)
    worker.settle()
    assert run.result(0) == "42 charged"

    said = ["begins", "charging", "charging", "charged", "shipping", "shipped"]
    of_run = {
        "domain": "shop",
        "task_list": "main",
        "workflow_id": "order-7",
        "run_id": run.run_id,
        "workflow_type": "order",
        "workflow_version": "1.0",
        "task_path": "",
    }
    of_activity = {name: of_run[name] for name in ("domain", "task_list", "workflow_id", "run_id")}
    charging = {**of_activity, "activity_type": "charge", "activity_version": "1.0"}
    expected = [
        of_run,
        {**charging, "activity_id": "charge-1", "attempt": 1},
        {**charging, "activity_id": "charge-1.r2", "attempt": 2},
        of_run,
        {**of_activity, "activity_id": "ship-1", "activity_type": "ship", "activity_version": "1.0", "attempt": 1},
        of_run,
    ]
    for name in ("flowpy.workflow", "library"):
        records = [record for record in handler.kept if record.name == name]
        assert [record.getMessage() for record in records] == said
        has = [{key: getattr(record, key) for key in each} for record, each in zip(records, expected, strict=True)]
        assert has == expected
        assert {getattr(record, "colour", "") for record in records} == {"red" if name == "flowpy.workflow" else ""}
    lines = [json.loads(call.args[0]) for call in events.calls]
    assert lines == [{**fields, "event": what, "colour": "red"} for what, fields in zip(said, expected, strict=True)]


def test_elsewhere_nothing_is_added_or_dropped(handler):
    say("outside")

    assert [record.getMessage() for record in handler.kept if record.name != "library"] == ["outside"]
    assert not hasattr(handler.kept[0], "workflow_id")
    assert json.loads(events.calls[0].args[0]) == {"event": "outside", "colour": "red"}


def test_what_a_record_has_already_stays(service, process, handler):
    @flowpy.workflow(name="order")
    async def own() -> None:
        flowpy.logger.info("own", extra={"workflow_id": "mine"})
        library.info("own", extra={"workflow_id": "mine"})
        structured.info("own", workflow_id="mine")

    worker = process([own], [charge])
    client(service).start(own, task_list="main")
    worker.settle()

    assert [record.workflow_id for record in handler.kept if record.getMessage() == "own"] == ["mine", "mine"]
    assert json.loads(events.calls[0].args[0])["workflow_id"] == "mine"


def test_replays_of_the_testing_kit_say_nothing(handler):
    with Environment() as swf:
        swf.stub(charge, returns="charged")
        swf.run(order, "o-7")
    # On leaving, every prefix of the history was replayed, up to decisions that are open in it.
    assert [record.getMessage() for record in handler.kept if record.name == "flowpy.workflow"] == [
        "begins",
        "charged",
        "shipping",
        "shipped",
    ]


def test_a_run_that_leaves_memory_says_nothing(service, process, handler):
    @flowpy.workflow(name="order")
    async def waiting() -> None:
        try:
            await flowpy.sleep("1h")
        finally:
            say("left")

    worker = process([waiting], [charge])
    client(service).start(waiting, task_list="main")
    worker.settle()
    worker.close()

    assert [record for record in handler.kept if record.getMessage() == "left"] == []
    assert events.calls == []

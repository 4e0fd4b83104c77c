"""Workers whose payloads cannot be had: runs are held and activities given back, nothing fails."""

from __future__ import annotations

import json
import logging
import threading

import pytest

from flowpy import activity, workflow
from flowpy.client import Client
from flowpy.data import Converter, Encryption, MemoryStore, Payloads
from flowpy.data.failures import is_not_begun
from flowpy.data.reading import decode_failure
from flowpy.errors import PayloadKeyUnknown, PayloadStoreUnavailable
from flowpy.worker import Worker, WorkerSettings, current_activity
from flowpy.worker.activities import ActivityWorker
from flowpy.worker.deciding import decide_with
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.inputs import Inputs
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.slots import Slots

from .test_activities import Tasks, task
from .twin import PATIENCE, settle

SECRET = "4242-4242"
OLD, NEW = bytes(32), bytes(range(32))


def encrypting(keys, current):
    return Converter(payloads=Payloads([Encryption(keys, current=current)]))


@activity(heartbeat_timeout="60s")
def charge(card: str) -> str:
    return f"receipt for {card}"


@workflow(name="order")
async def order(card: str) -> str:
    return await charge(card)


# --- decisions ----------------------------------------------------------------------------------


@pytest.fixture
def registered(twin):
    with Worker(Client("shop", twin), workflows=[order], activities=[charge], task_list="main"):
        pass
    twin.called.clear()
    twin.hold = 0
    return twin


def decisions(twin, lifecycle, converter):
    decide = decide_with([order], WorkerSettings(), converter)
    return DecisionWorker(twin, lifecycle, decide, "shop", "main", "me", payloads=converter.payloads)


def test_a_run_whose_key_is_not_here_is_held_and_goes_on_where_it_is(registered, lifecycle, caplog):
    run = Client("shop", registered, converter=encrypting({"new": NEW}, "new")).start(order, SECRET)

    with caplog.at_level(logging.ERROR):
        assert decisions(registered, lifecycle, encrypting({"old": OLD}, "old")).step() is True

    assert registered.calls("RespondDecisionTaskCompleted") == []
    assert lifecycle.counts == {"decisions_held": 1}
    assert "is held [FLOWPY-P6]: input of event 1 cannot be opened" in caplog.text
    assert "the key 'new', which is not here (here: old)" in caplog.text
    assert run.describe().status == "OPEN"

    registered.engine.advance(31)
    assert decisions(registered, lifecycle, encrypting({"old": OLD, "new": NEW}, "new")).step() is True
    assert run.history()[-1]["eventType"] == "ActivityTaskScheduled"
    assert SECRET not in json.dumps(run.history(), default=str)


def test_a_worker_without_the_codecs_at_all_holds_too(registered, lifecycle, caplog):
    Client("shop", registered, converter=encrypting({"new": NEW}, "new")).start(order, SECRET)

    decisions(registered, lifecycle, Converter()).step()

    assert lifecycle.counts == {"decisions_held": 1}
    assert "encoded by xaes-256-gcm and this process has the codecs: none" in caplog.text


def test_a_store_that_cannot_be_written_holds_the_run(registered, lifecycle, caplog):
    class Full(MemoryStore):
        def put(self, key, content):
            raise PayloadStoreUnavailable("the disk is full")

    run = Client("shop", registered).start(order, SECRET)
    converter = Converter(payloads=Payloads(stores=[Full()], offload_over=0))

    decisions(registered, lifecycle, converter).step()

    assert "held [FLOWPY-P9]: input of ScheduleActivityTask cannot be kept: the disk is full" in caplog.text
    assert run.history()[-1]["eventType"] == "DecisionTaskStarted"


def test_what_is_logged_of_a_secret_run_tells_no_values(registered, lifecycle, caplog):
    converter = encrypting({"new": NEW}, "new")
    run = Client("shop", registered, converter=converter).start(order, SECRET)
    decisions(registered, lifecycle, converter).step()

    @workflow(name="order")
    async def changed(card: str) -> str:
        return await charge(f"{card}!")

    poll = {"domain": "shop", "taskList": {"name": "main"}, "identity": "me"}
    polled = registered.engine.call("PollForActivityTask", poll)
    registered.engine.call("RecordActivityTaskHeartbeat", {"taskToken": polled["taskToken"]})
    registered.engine.call(
        "SignalWorkflowExecution", {"domain": "shop", "workflowId": run.workflow_id, "signalName": "x"}
    )
    decide = decide_with([changed], WorkerSettings(), converter)
    DecisionWorker(registered, lifecycle, decide, "shop", "main", "me").step()

    (said,) = [record.getMessage() for record in caplog.records if "argument 1 (card)" in record.getMessage()]
    assert "is <11 characters, not shown> in the history and <12 characters, not shown> in the code" in said
    assert "4242" not in caplog.text

    registered.engine.advance(31)
    strict = decide_with([changed], WorkerSettings(strict=True), converter)
    registered.engine.call(
        "SignalWorkflowExecution", {"domain": "shop", "workflowId": run.workflow_id, "signalName": "x"}
    )
    DecisionWorker(registered, lifecycle, strict, "shop", "main", "me").step()
    assert "is held [FLOWPY-R1]" in caplog.text
    assert "4242" not in caplog.text


# --- activities ---------------------------------------------------------------------------------


class Store(MemoryStore):
    """A store that cannot be reached a few times."""

    def __init__(self, outages):
        super().__init__()
        self.outages = outages

    def get(self, key, size):
        self._reach()
        return super().get(key, size)

    def put(self, key, content):
        self._reach()
        super().put(key, content)

    def _reach(self):
        if self.outages:
            self.outages -= 1
            raise PayloadStoreUnavailable("no route to the store")


def worked(lifecycle, service, converter, declared=charge):
    worker = ActivityWorker(service, lifecycle, [declared], "shop", "main", "me", Slots(4), converter)
    worker.step()
    return worker


def given_back(service):
    operation, fields = answered(service)
    assert operation == "RespondActivityTaskFailed"
    assert is_not_begun(decode_failure(fields["reason"], fields["details"]))
    return fields["reason"]


def answered(service):
    with service.changed:
        assert service.changed.wait_for(lambda: service.answers, PATIENCE)
    return service.answers["token-1"]


def kept_where(outages):
    """An input in a store that then fails so often: the store, a converter that has it, and the input as sent."""
    store = Store(outages=0)
    converter = Converter(payloads=Payloads(stores=[store], offload_over=0, cache=0))
    text = converter.payloads.seal(json.dumps([SECRET]), 32_768, "input")
    store.outages = outages
    return store, converter, text


def test_an_activity_waits_for_its_input(lifecycle, caplog):
    _, converter, text = kept_where(outages=3)

    service = Tasks(task("charge", text))
    worked(lifecycle, service, converter)

    operation, fields = answered(service)
    assert operation == "RespondActivityTaskCompleted"
    assert converter.decode(fields["result"]) == f"receipt for {SECRET}"
    assert lifecycle.counts["activities_held"] == 1
    assert "cannot be begun here [FLOWPY-P9]: input cannot be opened: no route to the store" in caplog.text


def test_a_store_that_stays_away_gets_half_a_minute(lifecycle):
    store, converter, text = kept_where(outages=1_000)

    service = Tasks(task("charge", text))
    worked(lifecycle, service, converter)

    assert given_back(service) == "ActivityNotBegun: input cannot be opened: no route to the store"
    assert store.outages > 980


def test_an_activity_whose_key_is_not_here_is_given_back_at_once_and_told_once(lifecycle, caplog):
    text = encrypting({"new": NEW}, "new").payloads.seal(json.dumps([SECRET]), 32_768, "input")
    service = Tasks(task("charge", text), task("charge", text, token="token-2"))
    worker = ActivityWorker(
        service, lifecycle, [charge], "shop", "main", "me", Slots(1), encrypting({"old": OLD}, "old")
    )

    worker.step()
    worker.step()
    settle(lifecycle)

    told = "input cannot be opened: it is encrypted with the key 'new', which is not here (here: old); give that key"
    assert given_back(service).startswith(f"ActivityNotBegun: {told}")
    assert lifecycle.counts == {"activities_held": 2, "activities_not_begun": 2}
    assert worker.slots.free == 1
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert told in caplog.records[0].getMessage()
    assert [told in reason for reason in worker.inputs.reasons] == [True]


def test_a_worker_leaves_tasks_to_others_while_it_cannot_open_them():
    rests = []
    lifecycle = Lifecycle(wait=lambda event, seconds: rests.append(seconds) or event.is_set())
    keys = {}
    inputs = Inputs(Payloads([Encryption(keys.__getitem__, current="new")]), lifecycle, clock=lambda: 0.0)
    text = encrypting({"new": NEW}, "new").payloads.seal("[1]", 32_768, "input")

    assert not inputs.rest()
    for _ in range(8):
        with pytest.raises(PayloadKeyUnknown):
            inputs.open(text, "task", lambda: False)
        assert not inputs.rest()
    assert len(rests) == 8
    assert 0.5 <= rests[0] <= 1 < rests[3] <= 8
    assert 30 <= rests[7] <= 60

    keys["new"] = NEW
    assert inputs.open("[2]", "task", lambda: False) == "[2]"  # says nothing of the key
    assert inputs.reasons
    assert inputs.open(text, "task", lambda: False) == "[1]"
    assert (inputs.rest(), len(rests), inputs.reasons) == (False, 8, [])


def test_a_worker_that_stops_gives_back_what_waits_for_its_input_at_once(lifecycle):
    store, converter, text = kept_where(outages=1_000)

    class Stopping(Tasks):
        def call(self, operation, request):
            lifecycle.stopping.set()
            return super().call(operation, request)

    service = Stopping(task("charge", text))
    worked(lifecycle, service, converter)

    assert given_back(service).startswith("ActivityNotBegun: ")
    assert store.outages == 999


def test_a_worker_without_the_key_costs_an_activity_no_attempt(twin):
    """One process without the key, one with it, an activity without any retry: the run completes."""
    knowing = encrypting({"new": NEW}, "new")
    client, settings = Client("shop", twin, converter=knowing), WorkerSettings(sticky=False)
    lacking = Client("shop", twin, converter=encrypting({"old": OLD}, "old"))
    with Worker(client, workflows=[order], task_list="main", settings=settings):
        with Worker(lacking, activities=[charge], task_list="main") as worker:
            run = client.start(order, SECRET)
            twin.until(lambda: run.history()[-1]["eventType"] == "TimerStarted")
            (reason,) = worker.health.report()["reasons"]
            assert "the key 'new', which is not here" in reason
            assert worker.health.is_well
        with Worker(client, activities=[charge], task_list="main"):
            twin.engine.advance(15)
            twin.until(lambda: run.describe().status == "CLOSED")

    assert run.result() == f"receipt for {SECRET}"
    scheduled = [event for event in run.history() if event["eventType"] == "ActivityTaskScheduled"]
    assert [event["activityTaskScheduledEventAttributes"]["activityId"] for event in scheduled] == [
        "charge-1",
        "charge-1.r2",
    ]


def test_a_result_waits_until_it_can_be_kept(lifecycle):
    store = Store(outages=2)
    converter = Converter(payloads=Payloads(stores=[store], offload_over=0))
    service = Tasks(task("charge", json.dumps([SECRET])))

    worked(lifecycle, service, converter)

    _, fields = answered(service)
    assert converter.decode(fields["result"]) == f"receipt for {SECRET}"


def test_an_activity_asked_to_stop_waits_no_longer(lifecycle):
    asked = threading.Event()

    class Never(MemoryStore):
        def get(self, key, size):
            asked.set()
            assert cancelled.wait(PATIENCE)
            raise PayloadStoreUnavailable("no route to the store")

    cancelled = threading.Event()
    converter = Converter(payloads=Payloads(stores=[Never()], offload_over=0, cache=0))
    text = converter.payloads.seal(json.dumps([SECRET]), 32_768, "input")
    service = Tasks(task("charge", text))

    worker = worked(lifecycle, service, converter)
    assert asked.wait(PATIENCE)
    (context,) = worker.heartbeats._beats
    context.request_cancel()
    cancelled.set()

    assert answered(service) == ("RespondActivityTaskCanceled", {})


def test_details_of_heartbeats_are_sealed_and_the_heartbeat_goes_without_them_if_they_cannot_be(lifecycle, caplog):
    store = Store(outages=0)
    converter = Converter(payloads=Payloads(stores=[store]))
    heartbeats = []

    @activity(name="charge")
    def beating(card: str) -> None:
        context = current_activity()
        for outages in (0, 1):
            store.outages = outages
            context.heartbeat("x" * (3_000 + outages))
            worker.heartbeats.flush(context)
            heartbeats.append(service.beats[-1])

    service = Tasks(task("charge", json.dumps([SECRET])))
    worker = ActivityWorker(service, lifecycle, [beating], "shop", "main", "me", Slots(4), converter)
    worker.step()
    answered(service)

    assert converter.decode(heartbeats[0]) == "x" * 3_000
    assert heartbeats[1] is None
    assert "heartbeat sent without its details: details of RecordActivityTaskHeartbeat cannot be kept" in caplog.text


def test_details_that_only_their_codec_makes_too_long_do_not_stop_the_heartbeats(lifecycle, caplog):
    keys = {}
    secret = Encryption(keys.__getitem__, current="new")
    converter = Converter(payloads=Payloads([secret]))

    @activity(name="charge")
    def beating(card: str) -> None:
        context = current_activity()
        context.heartbeat("x" * 2_000)  # whether they fit cannot be told without the key
        keys["new"] = NEW
        worker.heartbeats.flush(context)

    service = Tasks(task("charge", json.dumps([SECRET])))
    worker = ActivityWorker(service, lifecycle, [beating], "shop", "main", "me", Slots(4), converter)
    worker.step()

    assert answered(service)[0] == "RespondActivityTaskCompleted"
    assert service.beats == [None]
    assert "heartbeat sent without its details" in caplog.text


def test_a_failure_of_a_secret_activity_tells_its_type_only(lifecycle):
    @activity(name="charge")
    def refusing(card: str) -> None:
        raise ValueError(f"{card} is blocked")

    converter = encrypting({"new": NEW}, "new")
    text = converter.payloads.seal(json.dumps([SECRET]), 32_768, "input")
    service = Tasks(task("charge", text))
    worked(lifecycle, service, converter, refusing)

    operation, fields = answered(service)
    assert (operation, fields["reason"]) == ("RespondActivityTaskFailed", "ValueError")
    assert f"{SECRET} is blocked" in converter.payloads.open(fields["details"])


# --- who gives the converter --------------------------------------------------------------------


def test_a_worker_takes_the_converter_of_its_client(twin):
    converter = encrypting({"new": NEW}, "new")
    client = Client("shop", twin, converter=converter)
    with Worker(client, workflows=[order], activities=[charge], task_list="main"):
        run = client.start(order, SECRET, task_list="main")
        twin.until(lambda: run.describe().status == "CLOSED")

    assert run.result() == f"receipt for {SECRET}"
    assert SECRET not in json.dumps(run.history(), default=str)


def test_a_manual_activity_is_completed_with_what_its_reader_reads(twin):
    tokens = []

    @activity(name="charge", manual=True)
    def by_hand(card: str) -> str:
        tokens.append(current_activity().task_token)

    converter = encrypting({"new": NEW}, "new")
    client = Client("shop", twin, converter=converter)
    with Worker(client, workflows=[order], activities=[by_hand], task_list="main"):
        run = client.start(order, SECRET)
        twin.until(lambda: tokens)
        client.activity(tokens[0]).heartbeat({"half": SECRET})
        client.activity(tokens[0]).complete(f"{SECRET} by hand")
        twin.until(lambda: run.describe().status == "CLOSED")

    assert run.result() == f"{SECRET} by hand"
    assert SECRET not in json.dumps([request for _, request in twin.called], default=str)

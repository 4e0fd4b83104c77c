"""What a worker measures: counters, gauges, and times from the events; fed to any meter, and to none at no cost."""

from __future__ import annotations

import pytest
from attrs import evolve

import flowpy
from flowpy.service.paging import PolledDecisionTask
from flowpy.telemetry import MemoryMeter, Meter
from flowpy.worker.metering import Measures

from . import shop
from .process import Service, client
from .test_opentelemetry import run_order

LABELS = {"domain": "shop", "task_list": "main"}


@pytest.fixture
def meter():
    return MemoryMeter()


@pytest.fixture(autouse=True)
def nothing_fails():
    yield
    shop.failing.clear()


def test_the_twin_is_a_meter(meter):
    assert isinstance(meter, Meter)


def test_all_that_is_counted_is_metered(service, process, meter):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, meter=meter)
    run_order(service, worker)

    counted = {name: count for name, count in worker.counts.items() if not name.startswith("cache_evictions")}
    assert {name: meter.total(name, **LABELS) for name in counted} == counted
    assert counted["decisions_completed"] == 8
    assert meter.total("cache_hits") == 6
    assert meter.total("cache_evictions", reason="closed") == 2
    assert meter.total("activities_failed") == 1
    assert meter.total("activities_completed") == 2


def test_polls_and_throttling(service, process, meter):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, meter=meter)
    service.throttles += ["PollForDecisionTask", "RespondActivityTaskCompleted"]
    with pytest.raises(flowpy.Throttled):
        worker.decisions.step()
    run_order(service, worker)

    polls = {kind: meter.total("polls", kind=kind) for kind in ("decision", "activity")}
    empty = {kind: meter.total("polls_empty", kind=kind) for kind in ("decision", "activity")}
    assert polls["decision"] - empty["decision"] == 8 + 1  # what was throttled is a poll that brought nothing
    assert polls["activity"] - empty["activity"] == 3
    assert meter.total("throttled", operation="PollForDecisionTask") == 1
    assert meter.total("throttled", operation="RespondActivityTaskCompleted") == 1


@pytest.mark.parametrize(("sticky", "replays"), [(True, 1), (False, 4)], ids=["kept", "replayed"])
def test_replays_are_decisions_from_event_1_of_runs_that_were_decided_before(service, process, meter, sticky, replays):
    first = process(shop.WORKFLOWS, shop.ACTIVITIES, sticky=sticky, meter=meter)
    run = client(service).start(shop.order, "o-7")
    first.decisions.step()
    first.close()
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, sticky=sticky, meter=meter)
    worker.settle()
    service.engine.advance(10)  # the task list of the process that is gone is given up
    worker.settle()

    assert run.result(0) == "42 charged, o-7 packed"
    # All but the first decisions of the order and of its child, or the one after the process is another one.
    assert meter.total("replays") == replays
    assert meter.total("cache_misses") == (1 if sticky else 0)


def test_divergences_and_held_runs(service, process, meter):
    @flowpy.workflow(name="order", task_list="main")
    async def other(order_id: str) -> str:
        return await shop.pack(order_id)

    first = process([shop.order, shop.ship], shop.ACTIVITIES, meter=MemoryMeter())
    client(service).start(shop.order, "o-7")
    first.decisions.step()
    first.close()
    service.engine.call("SignalWorkflowExecution", {"domain": "shop", "workflowId": _only(service), "signalName": "x"})
    service.engine.advance(10)
    worker = process([other], shop.ACTIVITIES, meter=meter)
    worker.worker._around.observe("held_runs", lambda: worker.decisions.held)
    worker.decisions.step()

    assert (meter.total("divergences"), meter.total("decisions_held")) == (1, 1)
    assert meter.read("held_runs", **LABELS) == 1
    assert len(meter.values("decision_duration", outcome="held", workflow_type="order")) == 1


def _only(service):
    (run,) = client(service).list_open()
    return run.workflow_id


def test_durations_say_what_of_and_how_it_ended(service, process, meter):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, meter=meter)
    run_order(service, worker)

    assert len(meter.values("activity_duration", activity_type="charge", outcome="failed")) == 1
    assert len(meter.values("activity_duration", activity_type="charge", outcome="completed")) == 1
    assert len(meter.values("activity_duration", activity_type="pack", outcome="completed")) == 1
    assert len(meter.values("decision_duration", workflow_type="order", outcome="decided")) == 6
    assert all(0 <= value < 60 for value in meter.values("decision_duration"))


@pytest.mark.parametrize("sticky", [True, False], ids=["kept", "replayed"])
def test_waits_are_taken_from_the_events_once_each(service, process, meter, sticky):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, sticky=sticky, sticky_timeout=60, meter=meter)
    run = client(service).start(shop.order, "o-7")
    service.engine.advance(2)
    worker.decisions.step()
    service.engine.advance(7)
    # The signal brings a decision task between the scheduling and the start of the activity.
    run.signal("x")
    worker.decisions.sticky_step() if sticky else worker.decisions.step()
    service.engine.advance(4)
    worker.settle()

    assert run.result(0) == "42 charged, o-7 packed"
    assert meter.values("decision_schedule_to_start", workflow_type="order")[0] == 2
    assert meter.values("activity_schedule_to_start", activity_type="charge") == [11]
    assert meter.values("activity_schedule_to_start", activity_type="pack") == [0]


def test_gauges_are_read_when_asked_for_and_end_with_the_worker(service, meter):
    settings = flowpy.worker.WorkerSettings(meter=meter, threads=1, activity_slots=5)
    held = Holding(service)
    worker = flowpy.Worker(
        held, domain="shop", workflows=shop.WORKFLOWS, activities=shop.ACTIVITIES, task_list="main", settings=settings
    )
    with worker:
        assert {name: meter.read(name) for name in ("cached_runs", "held_runs")} == {"cached_runs": 0, "held_runs": 0}
        assert meter.read("activity_slots_used") in range(6)  # a place is taken before a poll
    assert {meter.read(name) for name in ("cached_runs", "held_runs", "activity_slots_used")} == {None}


class Holding(Service):
    """A service whose polls bring nothing."""

    def __init__(self, service):
        self.engine, self.throttles = service.engine, []

    def call(self, operation, request):
        return {} if operation.startswith("Poll") else super().call(operation, request)


def test_runs_in_memory_are_counted(service, process, meter):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, meter=meter)
    client(service).start(shop.order, "o-7")
    worker.decisions.step()
    worker.sticky._owners[0].thread.post(lambda: None).result(10)

    assert worker.sticky.kept == 1


def test_waits_of_activities_forgotten_are_not_guessed(meter):
    events = [
        {
            "eventId": 30,
            "eventType": "ActivityTaskStarted",
            "eventTimestamp": 9.0,
            "activityTaskStartedEventAttributes": {"scheduledEventId": 3},
        },
        {
            "eventId": 31,
            "eventType": "DecisionTaskStarted",
            "eventTimestamp": 9.0,
            "decisionTaskStartedEventAttributes": {"scheduledEventId": 29},
        },
    ]
    task = PolledDecisionTask("shop", "w", "r", ("order", "1.0"), events, 31, 28, "t")
    measures = Measures(meter, "shop", "main")

    assert list(measures._waits(task)) == []
    assert list(measures._waits(evolve(task, events=[]))) == []


def test_a_meter_that_fails_keeps_nobody_from_work(service, process, caplog):
    class Broken(MemoryMeter):
        def count(self, name, number, labels):
            raise OSError("disk full")

        record = count

        def observe(self, name, read, labels):
            return self.record  # a call that ends the observation and fails

    worker = process(shop.WORKFLOWS, shop.ACTIVITIES, meter=Broken())
    worker.worker._around.observe("cached_runs", lambda: 0)
    run_order(service, worker)
    worker.worker._around.close()

    said = [record for record in caplog.records if "the meter does not take" in record.getMessage()]
    assert len(said) == 1
    assert "disk full" in said[0].exc_text


def test_nothing_stands_around_a_worker_without_meter_and_interceptors(service, process):
    worker = process(shop.WORKFLOWS, shop.ACTIVITIES)

    assert worker.worker._service is service
    assert worker.decisions.arounds == []
    assert worker.worker._lifecycle.counted is None
    assert worker.activities.around.arounds == []

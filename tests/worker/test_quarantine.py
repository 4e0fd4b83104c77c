"""Runs that cannot be decided take no thread from those that can."""

from __future__ import annotations

import threading

import pytest

from flowpy import errors
from flowpy.declare import workflow
from flowpy.replay.hold import HoldState
from flowpy.service.retrying import Backoff
from flowpy.worker import Worker, WorkerSettings
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.slots import Slots
from flowpy.worker.watchdog import Watchdog

from .twin import PATIENCE, Answer, OneActivity, complete


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


STEADY = Backoff(initial=100.0, maximum=3600.0, random=lambda: 1.0)
DEFAULTS = {
    "defaultTaskStartToCloseTimeout": "30",
    "defaultExecutionStartToCloseTimeout": "360000",
    "defaultChildPolicy": "TERMINATE",
}


class Picky:
    """Fails for the runs named ``bad``; says which it was asked for."""

    def __init__(self):
        self.asked = []

    def decide(self, task):
        self.asked.append(task.workflow_id)
        if task.workflow_id == "bad":
            raise errors.NonDeterminismError("no match")
        return Answer(complete("1"))


class Shop:
    def __init__(self, twin, lifecycle, **options):
        twin.engine.call("RegisterWorkflowType", {"domain": "shop", "name": "order", "version": "1.0", **DEFAULTS})
        twin.hold = 0
        self.twin, self.lifecycle, self.decider, self.clock = twin, lifecycle, Picky(), Clock()
        self.worker = DecisionWorker(
            twin,
            lifecycle,
            self.decider.decide,
            "shop",
            "main",
            "me",
            quarantine=Quarantine(STEADY, self.clock),
            **options,
        )

    def pass_time(self, seconds):
        self.clock.now += seconds
        self.twin.engine.advance(seconds)

    def signal(self, times=1):
        for _ in range(times):
            told = {"domain": "shop", "workflowId": "bad", "signalName": "poke"}
            self.twin.engine.call("SignalWorkflowExecution", told)

    def holds(self):
        return [
            decision["startTimerDecisionAttributes"]["timerId"]
            for request in self.twin.calls("RespondDecisionTaskCompleted")
            for decision in request["decisions"]
            if decision["decisionType"] == "StartTimer"
        ]


@pytest.fixture
def shop(twin, lifecycle):
    return Shop(twin, lifecycle)


def test_a_run_is_left_alone_longer_with_each_failure():
    clock = Clock()
    quarantine = Quarantine(STEADY, clock)
    for seconds in (100, 200, 400, 800):
        quarantine.failed("r")
        clock.now += seconds - 1
        assert "r" in quarantine
        clock.now += 2
        assert "r" not in quarantine
        assert "other" not in quarantine
    assert quarantine.cured("r")
    quarantine.failed("r")
    clock.now += 101
    assert "r" not in quarantine


def test_a_poisoned_run_is_not_replayed_each_time_its_task_comes_back(shop):
    shop.twin.start("bad")
    for tasks in range(1, 21):
        while not shop.worker.step():
            shop.pass_time(31)
        assert shop.lifecycle.counts["decisions_held"] == tasks
    # It is tried again and again all the same, and waits on its hold timers meanwhile.
    tried = len(shop.decider.asked)
    assert 5 <= tried <= 17
    assert shop.lifecycle.counts["decisions_quarantined"] == 20 - tried
    assert shop.holds() == [f"flowpy.hold-{number}" for number in range(1, 18)]


def test_signals_to_a_poisoned_run_cause_no_replays(shop):
    shop.twin.start("bad")
    for _ in range(4):
        shop.worker.step()
        shop.pass_time(31)
    asked = len(shop.decider.asked)
    shop.worker.quarantine.failed("none of these")
    for _ in range(10):
        shop.signal()
        shop.worker.step()
    assert len(shop.decider.asked) <= asked + 1
    assert shop.lifecycle.counts["decisions_quarantined"] >= 9


def test_other_runs_are_decided_at_once_beside_it(shop):
    shop.twin.start("bad")
    shop.worker.step()
    for number in range(5):
        shop.pass_time(31)
        run_id = shop.twin.start(f"good-{number}")
        shop.worker.step()
        shop.worker.step()
        assert shop.twin.types(run_id, f"good-{number}")[-1] == "WorkflowExecutionCompleted"
    assert shop.lifecycle.counts.get("polls_failed") is None


def test_only_the_first_page_and_the_end_of_a_long_history_are_read(twin, lifecycle):
    shop = Shop(twin, lifecycle, page_size=10)
    twin.start("bad")
    shop.signal(200)
    shop.worker.step()  # It fails: its whole history is read.
    assert len(shop.decider.asked) == 1
    for _ in range(3):
        before = len(twin.called)
        shop.clock.now = 1.0  # Quarantine goes on.
        twin.engine.advance(31)
        shop.worker.step()
        read = [operation for operation, _ in twin.called[before:]]
        assert read[:2] == ["PollForDecisionTask", "GetWorkflowExecutionHistory"]
        assert read[2:] in ([], ["RespondDecisionTaskCompleted"])
    assert len(shop.decider.asked) == 1
    assert shop.holds() == ["flowpy.hold-1"]


def test_a_hold_by_another_worker_is_counted_from_the_end_of_the_history(twin, lifecycle):
    shop = Shop(twin, lifecycle, page_size=10)
    twin.start("bad")
    shop.signal(50)
    shop.worker.step()
    for _ in range(3):
        twin.engine.advance(31)
        task = twin.engine.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}})
    timer = {"timerId": "flowpy.hold-1", "startToFireTimeout": "60"}
    decision = {"decisionType": "StartTimer", "startTimerDecisionAttributes": timer}
    answer = {"taskToken": task["taskToken"], "decisions": [decision]}
    twin.engine.call("RespondDecisionTaskCompleted", answer)
    shop.signal()
    shop.worker.step()
    assert shop.holds() == ["flowpy.hold-2"]
    assert len(shop.decider.asked) == 1


@pytest.mark.parametrize("attempts", range(1, 9))
def test_the_end_of_a_history_tells_as_much_as_the_whole(twin, lifecycle, attempts):
    """Whatever was seen before, what is new leads to the same answer as reading all again."""
    shop = Shop(twin, lifecycle)
    run_id = twin.start("bad")
    for _ in range(attempts):
        shop.worker.step()
        shop.pass_time(31)
        shop.signal()
    twin.engine.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "main"}})
    events = twin.events(run_id, "bad")
    whole = HoldState.of(events)
    started = [event["eventId"] for event in events if event["eventType"] == "DecisionTaskStarted"]
    for seen in started:
        assert HoldState.of(events[:seen]).after(events[seen:]) == whole


def test_a_real_decision_meanwhile_is_told_from_the_whole_history(twin, lifecycle):
    shop = Shop(twin, lifecycle)
    run_id = twin.start("good")
    seen = HoldState.of(twin.events(run_id, "good"))
    shop.worker.step()
    assert seen.after(twin.events(run_id, "good")[seen.last_event_id :]) is None


def test_a_run_whose_code_is_stuck_gets_no_second_thread(twin):
    """Its task comes back when it times out; the thread that is stuck in it has not come back yet."""
    release, begun = threading.Event(), threading.Event()

    @workflow(name="order", task_start_to_close_timeout=1)
    async def stuck(order_id: str) -> str:
        if order_id == "stuck":
            begun.set()
            release.wait(PATIENCE)
        return order_id

    settings = WorkerSettings(threads=1, sticky=False, guard="off")
    with Worker(twin, domain="shop", workflows=[stuck], task_list="main", settings=settings) as worker:
        twin.start("one", '["stuck"]')
        assert begun.wait(PATIENCE)
        # The watchdog finds it late: another thread polls in its place.
        twin.until(lambda: worker.counts.get("pollers_replaced"))
        twin.engine.advance(1)
        twin.until(lambda: worker.counts.get("decisions_quarantined"))
        run_id = twin.start("two", '["o-7"]')
        twin.until(lambda: twin.types(run_id, "two")[-1] == "WorkflowExecutionCompleted")
        release.set()
    assert worker.counts["pollers_replaced"] == 1


def test_a_late_decision_gives_its_place_and_its_thread_back(twin, lifecycle):
    shop, replaced, clock = Shop(twin, lifecycle, slots=Slots(1)), [], Clock()
    shop.worker.replace = replaced.append
    watchdog = shop.worker._watchdog = Watchdog(clock=clock)
    twin.start()
    seen = []

    class Slow(OneActivity):
        def decide(self, task):
            seen.append(shop.worker.slots.free)
            clock.now += 25.0
            watchdog.check()
            seen.append(shop.worker.slots.free)
            return super().decide(task)

    shop.worker.decide = Slow().decide
    shop.worker.step()
    assert seen == [0, 1]
    assert replaced == [threading.get_ident()]
    assert shop.worker.slots.free == 1


def test_nothing_is_polled_while_all_places_are_taken(twin, lifecycle):
    slots = Slots(1)
    shop = Shop(twin, lifecycle, slots=slots)
    give_back = slots.occupy()
    twin.start()
    polling = threading.Thread(target=shop.worker.step)
    polling.start()
    polling.join(0.05)
    assert twin.calls("PollForDecisionTask") == []
    give_back()
    give_back()  # Twice gives back once.
    polling.join(PATIENCE)
    assert len(twin.calls("PollForDecisionTask")) == 1
    assert slots.free == 1


def test_a_worker_that_stops_while_it_waits_for_a_place_does_not_poll(twin, lifecycle):
    slots = Slots(1)
    shop = Shop(twin, lifecycle, slots=slots)
    slots.occupy()
    slots.close()
    assert shop.worker.step() is False
    assert twin.calls("PollForDecisionTask") == []

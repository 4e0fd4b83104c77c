"""The order sample from start to result, on SWF in memory and a virtual clock."""

from __future__ import annotations

from collections import Counter

import pytest

from flowpy import WorkflowFailed
from flowpy.client import Client
from flowpy.data import DEFAULT
from flowpy.local.engine import Engine, check_history
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.service.paging import decision_task
from flowpy.testing import replay
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import execute
from flowpy.worker.registration import Registrar
from order import UNTIL_THE_COURIER_COMES, Delivery, charge, order, pack, reserve
from table import WIDTH, attributes, table

ACTIVITIES = {activity.name: activity for activity in (reserve, charge, pack)}
ITEMS = ["lamp", "teapot", "rug"]


class Shop:
    """SWF in memory with a worker that works step by step, so that time passes only when nothing else is to do."""

    def __init__(self):
        self.engine = Engine()
        registrar = Registrar(self.engine, "shop", "default", pause=lambda _: True)
        registrar.register_domain(1)
        registrar.register([order], ACTIVITIES.values())
        self.client = Client("shop", self.engine, sleep=lambda _: None, clock=self.engine.clock.now)

    def deliver(self, *items):
        """Start an order and work until nothing is left to do."""
        run = self.client.start(order, "o-7", list(items), workflow_id="order-o-7")
        while self.decide() or self.act() or self.let_time_pass():
            pass
        return run

    def decide(self):
        polled = decision_task(self.engine, "shop", "default", "decider", pause=lambda _: True)
        if polled is None:
            return False
        # A decider of its own for each task: every decision is made by replaying the history.
        task = DecisionTask(
            polled.workflow_id,
            polled.run_id,
            polled.workflow_type,
            polled.events,
            polled.started_event_id,
            polled.previous_started_event_id,
            domain="shop",
        )
        answer = Decider([order]).decide(task)
        request = {"taskToken": polled.task_token, "decisions": answer.decisions}
        self.engine.call("RespondDecisionTaskCompleted", request)
        return True

    def act(self):
        task = self.engine.call("PollForActivityTask", {"domain": "shop", "taskList": {"name": "default"}})
        if "taskToken" not in task:
            return False
        activity = ACTIVITIES[task["activityType"]["name"]]
        done = execute(activity, task["input"], ActivityContext(task, "shop"), DEFAULT, ActivityLoop())
        self.engine.call(done.operation, {"taskToken": task["taskToken"], **done.fields})
        return True

    def let_time_pass(self):
        due = self.engine.next_due()
        # Only the retention of a closed run is further away than a day.
        if due is None or due - self.engine.clock.now() > 3600:
            return False
        self.engine.advance_to(due)
        return True


@pytest.fixture(scope="module")
def run():
    return Shop().deliver(*ITEMS)


@pytest.fixture(scope="module")
def events(run):
    return run.history()


def ids(events, kind, name="activityId"):
    return [attributes(event)[name] for event in events if event["eventType"] == kind]


def test_the_order_is_delivered(run):
    assert run.result(timeout=0) == Delivery(
        order_id="o-7",
        receipt="receipt o-7 over 194.00",
        parcels=["lamp in a box", "teapot in a box", "rug in a box"],
    )


def test_two_activities_follow_each_other_and_three_go_out_at_once(events):
    scheduled = [event for event in events if event["eventType"] == "ActivityTaskScheduled"]
    batches = Counter(attributes(event)["decisionTaskCompletedEventId"] for event in scheduled)

    assert [attributes(event)["activityId"] for event in scheduled] == [
        "reserve-1",
        "charge-1",
        "pack-1",
        "pack-2",
        "pack-3",
        "pack-2.r2",
    ]
    assert list(batches.values()) == [1, 1, 3, 1]


def test_the_broken_teapot_is_packed_again_after_a_back_off(events):
    (failed,) = (attributes(event) for event in events if event["eventType"] == "ActivityTaskFailed")

    assert failed["reason"] == "OSError: dropped the teapot"
    assert ids(events, "TimerStarted", "timerId") == ["pack-2.w2", "timer-1"]


def test_the_courier_is_a_durable_timer(events):
    *_, timer = (event for event in events if event["eventType"] == "TimerStarted")
    waited = events[-1]["eventTimestamp"] - timer["eventTimestamp"]

    assert attributes(timer)["startToFireTimeout"] == str(UNTIL_THE_COURIER_COMES)
    assert waited.total_seconds() == UNTIL_THE_COURIER_COMES


def test_the_history_replays_whole_and_at_every_decision(events):
    check_history(events)
    replayed = replay(order, events)

    assert replayed.closed
    for episode in replayed.episodes:
        replay(order, events[: episode.started_event_id])


def test_an_order_of_what_the_shop_does_not_have_fails_with_what_went_wrong():
    with pytest.raises(WorkflowFailed, match="the shop has no yacht") as failed:
        Shop().deliver("lamp", "yacht").result(timeout=0)

    assert failed.value.failure.type == "ActivityFailed"


def test_the_history_fits_a_terminal(events):
    lines = list(table(events))

    assert len(lines) == 1 + len(events)
    assert max(map(len, lines)) <= WIDTH
    assert any("pack-2 OSError: dropped the teapot" in line for line in lines)
    assert any("timer-1 3 s" in line for line in lines)


def test_a_payload_cannot_disturb_the_terminal(events):
    rude = [*events]
    rude[0] = {**events[0], "workflowExecutionStartedEventAttributes": {"input": "\x1b[31m\n\u202e" + "x" * 200}}

    _, line, *_ = table(rude)

    assert line.isprintable()
    assert len(line) == WIDTH

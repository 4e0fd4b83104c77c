"""The order sample from start to end, on SWF in memory and a virtual clock."""

from __future__ import annotations

from collections import Counter

import pytest

import order as sample
from demo import is_packed, is_packing
from flowpy import WorkflowCanceled, WorkflowFailed
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
from order import UNTIL_THE_COURIER_COMES, Delivery, approval, charge, order, pack, pack_and_ship, release, reserve
from table import WIDTH, attributes, count, elapsed, table

WORKFLOWS = [order, pack_and_ship]
ACTIVITIES = {activity.name: activity for activity in (reserve, release, charge, pack)}
ITEMS = ["lamp", "teapot", "rug"]
THREE_DAYS = 3 * 24 * 3600
DELIVERY = Delivery(
    order_id="o-7", receipt="receipt o-7 over 194.00", parcels=["lamp in a box", "teapot in a box", "rug in a box"]
)


class Shop:
    """SWF in memory with a worker that works step by step, so that time passes only when nothing else is to do."""

    def __init__(self):
        self.engine = Engine()
        registrar = Registrar(self.engine, "shop", "default", pause=lambda _: True)
        registrar.register_domain(1)
        registrar.register(WORKFLOWS, ACTIVITIES.values())
        self.client = Client("shop", self.engine, sleep=lambda _: None, clock=self.engine.clock.now)

    def start(self, *items, workflow=order):
        return self.client.start(workflow, "o-7", list(items), workflow_id="order-o-7")

    def work(self, until=lambda: False):
        """Work until something is so, or nothing is left to do."""
        while not until() and (self.decide() or self.act() or self.let_time_pass()):
            pass

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
        answer = Decider(WORKFLOWS).decide(task)
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
        if due is None or not any(self.client.list_open()):
            return False
        self.engine.advance_to(due)
        return True


@pytest.fixture(scope="module", autouse=True)
def _packing_takes_no_time():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "PACKING", 0)
        yield


def told_while_packing(tell):
    """A whole order that was told something while its parcels were packed."""
    shop = Shop()
    run = shop.start(*ITEMS)
    shop.work(until=lambda: is_packing(run.history()))
    tell(run)
    shop.work()
    return run


@pytest.fixture(scope="module")
def approved():
    return told_while_packing(lambda run: run.signal(approval, True))


@pytest.fixture(scope="module")
def declined():
    return told_while_packing(lambda run: run.signal(approval, False))


@pytest.fixture(scope="module")
def forgotten():
    return told_while_packing(lambda run: None)


@pytest.fixture(scope="module")
def cancelled():
    """Cancelled while it waits for approval."""
    shop = Shop()
    run = shop.start("lamp")
    shop.work(until=lambda: is_packed(run.history()))
    run.cancel()
    shop.work()
    return run


@pytest.fixture(scope="module")
def cancelled_early():
    return told_while_packing(lambda run: run.cancel())


@pytest.fixture(scope="module")
def plain():
    shop = Shop()
    run = shop.start(*ITEMS, workflow=pack_and_ship)
    shop.work()
    return run


def ids(run, kind, name="activityId"):
    return [attributes(event)[name] for event in run.history() if event["eventType"] == kind]


def test_an_approved_order_is_delivered(approved):
    assert approved.result(timeout=0) == DELIVERY
    assert "release-1" not in ids(approved, "ActivityTaskScheduled")


def test_three_items_are_packed_at_once(approved):
    scheduled = [attributes(event) for event in approved.history() if event["eventType"] == "ActivityTaskScheduled"]
    batches = Counter(each["decisionTaskCompletedEventId"] for each in scheduled)

    assert [each["activityId"] for each in scheduled] == [
        "reserve-1",
        "pack-1",
        "pack-2",
        "pack-3",
        "pack-2.r2",
        "charge-1",
    ]
    assert list(batches.values()) == [1, 3, 1, 1]


def test_the_broken_teapot_is_packed_again_after_a_back_off(approved):
    assert ids(approved, "ActivityTaskFailed", "reason") == ["OSError: dropped the teapot"]
    assert ids(approved, "TimerStarted", "timerId") == ["timer-1", "pack-2.w2", "timer-2"]


def test_the_courier_is_a_durable_timer(approved):
    events = approved.history()
    *_, timer = (event for event in events if event["eventType"] == "TimerStarted")
    waited = events[-1]["eventTimestamp"] - timer["eventTimestamp"]

    assert attributes(timer)["startToFireTimeout"] == str(UNTIL_THE_COURIER_COMES)
    assert waited.total_seconds() == UNTIL_THE_COURIER_COMES


def test_a_declined_order_fails_and_releases_what_it_reserved(declined):
    with pytest.raises(WorkflowFailed, match="o-7 was declined") as failed:
        declined.result(timeout=0)

    assert failed.value.failure.type == "Declined"
    assert ids(declined, "ActivityTaskScheduled")[-1] == "release-1"


def test_an_order_that_nobody_approves_in_three_days_is_declined_too(forgotten):
    with pytest.raises(WorkflowFailed, match="no signal approval arrived in time") as failed:
        forgotten.result(timeout=0)

    events = forgotten.history()
    assert failed.value.failure.type == "TimeoutError"
    assert ids(forgotten, "ActivityTaskScheduled")[-1] == "release-1"
    assert elapsed(events, events[-1]) == THREE_DAYS


@pytest.mark.parametrize("when", ["cancelled", "cancelled_early"])
def test_a_cancelled_order_releases_what_it_reserved_and_ends_canceled(when, request):
    run = request.getfixturevalue(when)
    with pytest.raises(WorkflowCanceled):
        run.result(timeout=0)

    assert ids(run, "ActivityTaskScheduled")[-1] == "release-1"
    assert count(run.history(), "ActivityTaskCompleted") >= len(["reserve-1", "release-1"])
    assert run.describe().close_status == "CANCELED"


def test_pack_and_ship_asks_nobody(plain):
    assert plain.result(timeout=0) == DELIVERY
    assert ids(plain, "TimerStarted", "timerId") == ["pack-2.w2", "timer-1"]


@pytest.mark.parametrize("name", ["approved", "declined", "forgotten", "cancelled", "cancelled_early", "plain"])
def test_every_history_replays_whole_and_at_every_decision(name, request):
    run = request.getfixturevalue(name)
    events = run.history()
    check_history(events)
    replayed = replay(WORKFLOWS, run)

    assert replayed.closed
    for episode in replayed.episodes:
        replay(WORKFLOWS, events[: episode.started_event_id])


def test_an_order_of_what_the_shop_does_not_have_fails_with_what_went_wrong():
    shop = Shop()
    run = shop.start("lamp", "yacht")
    shop.work()
    with pytest.raises(WorkflowFailed, match="the shop has no yacht") as failed:
        run.result(timeout=0)

    assert failed.value.failure.type == "ActivityFailed"
    assert ids(run, "ActivityTaskScheduled") == ["reserve-1"]


def test_the_history_fits_a_terminal(approved):
    events = approved.history()
    lines = list(table(events))

    assert len(lines) == 1 + sum(not event["eventType"].startswith("DecisionTask") for event in events)
    assert max(map(len, lines)) <= WIDTH
    assert any("pack-2 OSError: dropped the teapot" in line for line in lines)
    assert any("timer-2 3 s" in line for line in lines)


def test_a_payload_cannot_disturb_the_terminal(approved):
    first, *others = approved.history()
    rude = {**first, "workflowExecutionStartedEventAttributes": {"input": "\x1b[31m\n\u202e" + "x" * 200}}

    _, line, *_ = table([rude, *others])

    assert line.isprintable()
    assert len(line) == WIDTH

"""The order sample from start to end, in this process; every history it makes is replayed up to each decision."""

from __future__ import annotations

import datetime as dt

import pytest

import order as sample
from flowpy import WorkflowCanceled, WorkflowFailed
from order import UNTIL_THE_COURIER_COMES, Delivery, approval, charge, order, pack, pack_and_ship, release, reserve
from table import WIDTH, attributes, table

ITEMS = ["lamp", "teapot", "rug"]
DELIVERY = Delivery(
    order_id="o-7", receipt="receipt o-7 over 194.00", parcels=["lamp in a box", "teapot in a box", "rug in a box"]
)


@pytest.fixture(autouse=True)
def _packing_takes_no_time(monkeypatch):
    monkeypatch.setattr(sample, "PACKING", 0)


def test_an_approved_order_is_delivered(swf):
    run = swf.start(order, "o-7", ITEMS)
    run.signal(approval, True)

    assert run.result() == DELIVERY
    assert swf.calls(release) == []


def test_the_customer_is_charged_what_the_items_cost(swf):
    swf.stub(charge, returns="r-1")
    run = swf.start(order, "o-7", ITEMS)
    run.signal(approval, True)

    assert run.result().receipt == "r-1"
    assert swf.calls(charge) == [("o-7", 19400)]


def test_three_items_are_packed_at_once(swf):
    began = swf.now()
    swf.stub(pack, returns="a box", delay="4m")
    swf.run(pack_and_ship, "o-7", ITEMS)

    assert swf.now() - began == dt.timedelta(minutes=4, seconds=UNTIL_THE_COURIER_COMES)


def test_the_broken_teapot_is_packed_again_after_a_back_off(swf):
    began = swf.now()
    swf.run(pack_and_ship, "o-7", ITEMS)
    (again,) = (packed for packed in swf.calls(pack) if packed.attempt == 2)

    assert again == ("teapot",)
    assert again.at > began


def test_an_item_that_breaks_again_and_again_is_given_up(swf):
    swf.stub(pack, raises=OSError("dropped"))
    with pytest.raises(WorkflowFailed, match="OSError: dropped"):
        swf.run(pack_and_ship, "o-7", ["lamp"])

    assert [packed.attempt for packed in swf.calls(pack)] == [1, 2, 3]


def test_a_packer_that_dies_is_noticed_by_its_silence(swf):
    swf.stub(pack, times_out="HEARTBEAT").then(returns="lamp in a box")
    began = swf.now()
    delivered = swf.run(pack_and_ship, "o-7", ["lamp"])

    assert delivered.parcels == ["lamp in a box"]
    assert 5 < (swf.calls(pack)[1].at - began).total_seconds() < 10  # after the heartbeat timeout and a back-off


def test_a_declined_order_fails_and_releases_what_it_reserved(swf):
    run = swf.start(order, "o-7", ITEMS)
    run.signal(approval, False)
    with pytest.raises(WorkflowFailed, match="o-7 was declined") as failed:
        run.result()

    assert failed.value.failure.type == "Declined"
    assert swf.calls(release) == [("o-7", ITEMS)]
    assert swf.calls(charge) == []


def test_an_order_that_nobody_approves_in_three_days_is_declined_too(swf):
    began = swf.now()
    with pytest.raises(WorkflowFailed, match="no signal approval arrived in time") as failed:
        swf.run(order, "o-7", ITEMS)

    assert failed.value.failure.type == "TimeoutError"
    assert swf.calls(release) == [("o-7", ITEMS)]
    assert swf.now() - began == dt.timedelta(days=3)


def test_an_order_cancelled_while_it_waits_releases_what_it_reserved(swf):
    run = swf.start(order, "o-8", ["lamp"])
    swf.advance("1d")
    run.cancel()
    with pytest.raises(WorkflowCanceled):
        run.result()

    assert swf.calls(release) == [("o-8", ["lamp"])]


def test_an_order_cancelled_while_it_is_packed_releases_what_it_reserved(swf):
    swf.stub(pack, returns="a box", delay="4m")
    run = swf.start(order, "o-7", ITEMS)
    run.cancel()
    with pytest.raises(WorkflowCanceled):
        run.result()

    assert swf.calls(release) == [("o-7", ITEMS)]


def test_an_order_of_what_the_shop_does_not_have_fails_with_what_went_wrong(swf):
    with pytest.raises(WorkflowFailed, match="the shop has no yacht") as failed:
        swf.run(order, "o-7", ["lamp", "yacht"])

    assert failed.value.failure.type == "ActivityFailed"
    assert swf.calls(reserve) == [("o-7", ["lamp", "yacht"])]
    assert swf.calls(pack) == []


def test_an_order_survives_whatever_dies(swf):
    run = swf.start(order, "o-7", ITEMS)
    swf.faults.kill_worker()
    swf.faults.time_out_decision_task()
    swf.faults.lose_response("RespondDecisionTaskCompleted")
    run.signal(approval, True)

    assert run.result() == DELIVERY


@pytest.fixture
def told(swf):
    """The history of an approved order."""
    run = swf.start(order, "o-7", ITEMS)
    run.signal(approval, True)
    run.result()
    return run.history()


def test_the_history_fits_a_terminal(told):
    lines = list(table(told))

    assert len(lines) == 1 + sum(not event["eventType"].startswith("DecisionTask") for event in told)
    assert max(map(len, lines)) <= WIDTH
    assert any("pack-2 OSError: dropped the teapot" in line for line in lines)
    assert any("timer-2 3 s" in line for line in lines)


def test_the_courier_is_a_durable_timer(told):
    *_, timer = (event for event in told if event["eventType"] == "TimerStarted")
    waited = told[-1]["eventTimestamp"] - timer["eventTimestamp"]

    assert attributes(timer)["startToFireTimeout"] == str(UNTIL_THE_COURIER_COMES)
    assert waited.total_seconds() == UNTIL_THE_COURIER_COMES


def test_a_payload_cannot_disturb_the_terminal(told):
    first, *others = told
    rude = {**first, "workflowExecutionStartedEventAttributes": {"input": "\x1b[31m\n\u202e" + "x" * 200}}

    _, line, *_ = table([rude, *others])

    assert line.isprintable()
    assert len(line) == WIDTH

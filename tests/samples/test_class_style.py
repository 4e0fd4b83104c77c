"""Class style: signals change the object, queries read it, and it ends when it is told to."""

from __future__ import annotations

import datetime as dt

import pytest

from samples.class_style import Cart, Item, bill, cart

TEA, RUG = Item("tea", 420), Item("rug", 12_000)


@pytest.fixture
def run(swf):
    return swf.start(cart, "Ann")


def test_a_customer_checks_out(run):
    run.signal("add", TEA)
    run.signal("add", RUG)
    run.signal("remove", "tea")
    run.signal("check_out")

    assert run.result() == "Ann\nrug 120.00\ntotal 120.00"


def test_a_query_reads_the_run_while_it_is_open_and_when_it_is_over(run):
    assert run.query("total") == 0
    run.signal("add", TEA)
    run.signal("add", RUG)
    assert run.query("total") == 12_420

    run.signal("check_out")
    run.result()
    assert run.query("total") == 12_420


def test_a_cart_left_alone_for_a_week_is_given_up(swf, run):
    began = swf.now()
    swf.advance("6d")
    run.signal("add", TEA)

    assert run.result() is None
    assert swf.now() - began == dt.timedelta(days=6 + 7)
    assert swf.calls(bill) == []


def test_all_that_comes_before_the_check_out_is_on_the_bill(swf):
    with swf.paused():
        run = swf.start(cart, "Ann")
        run.signal("add", TEA)
        run.signal("check_out")
        run.signal("add", RUG)

    assert run.result() == "Ann\ntea 4.20\ntotal 4.20"


def test_the_class_is_a_class():
    alone = Cart()
    alone.add(TEA)

    assert alone.total() == 420

"""Mutex: one at a time, in the order in which they asked, and nobody holds it for ever."""

from __future__ import annotations

import datetime as dt

import pytest

from flowpy import WorkflowFailed
from samples.mutex import add_one, increase, lender


@pytest.fixture
def counter(tmp_path):
    return tmp_path / "counter.txt"


@pytest.fixture
def _lender(swf):
    swf.start(lender, workflow_id="counter")


def begun(swf, since):
    """When each call of the activity began, in minutes."""
    return [(call.at - since) // dt.timedelta(minutes=1) for call in swf.calls(add_one)]


@pytest.mark.usefixtures("_lender")
def test_nobody_comes_between(swf, counter):
    swf.stub(add_one, delay="59s")
    began = swf.now()
    runs = [swf.start(increase, counter, "counter") for _ in range(3)]

    assert [run.result() for run in runs] == [1, 2, 3]
    assert begun(swf, began) == [0, 0, 1]
    first, second, third = swf.calls(add_one)
    assert third.at - second.at == second.at - first.at == dt.timedelta(seconds=59)


@pytest.mark.usefixtures("_lender")
def test_one_that_fails_gives_it_back(swf, counter):
    swf.stub(add_one, raises=OSError("disk full")).then(by=add_one.fn)
    first, second = (swf.start(increase, counter, "counter") for _ in range(2))

    with pytest.raises(WorkflowFailed, match="disk full"):
        first.result()
    assert second.result() == 1


@pytest.mark.usefixtures("_lender")
def test_one_that_is_gone_is_passed_over(swf, counter):
    swf.stub(add_one, delay="30s")
    first, gone, third = (swf.start(increase, counter, "counter") for _ in range(3))
    gone.terminate()

    assert (first.result(), third.result()) == (1, 2)


@pytest.mark.usefixtures("_lender")
def test_one_that_never_gives_back_is_passed_over_after_a_while(swf, counter):
    swf.stub(add_one, returns=0, delay="30s").then(by=add_one.fn)
    began = swf.now()
    dead, second = (swf.start(increase, counter, "counter") for _ in range(2))
    dead.terminate()

    assert second.result() == 1
    assert begun(swf, began) == [0, 10]


def test_the_queue_goes_with_the_lender_into_its_next_run(swf, counter):
    swf.stub(add_one, delay="30s")
    swf.start(lender, 1, workflow_id="counter")
    runs = [swf.start(increase, counter, "counter") for _ in range(4)]

    assert [run.result() for run in runs] == [1, 2, 3, 4]
    assert len([each for each in swf.executions() if each.workflow_id == "counter"]) == 5

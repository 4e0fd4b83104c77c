"""Promises: what needs values begins when they are there, and not before."""

from __future__ import annotations

import datetime as dt

from samples.promises import greet, salutation, title


def test_promises_in_a_list_are_waited_for(swf):
    assert swf.run(greet, "ann", " bob") == "Dear Ann and Bob, 7 letters for you"
    assert swf.calls(salutation) == [(["Ann", "Bob"],)]


def test_it_goes_on_when_the_last_one_is_there(swf):
    swf.stub(title, returns="Ann", delay="5s").then(returns="Bob", delay="50s")
    began = swf.now()
    swf.run(greet, "ann", "bob")

    assert swf.calls(salutation)[0].at - began == dt.timedelta(seconds=50)

"""Plain def: everything at once, without async."""

from __future__ import annotations

import datetime as dt

from samples.plain_def import celsius, mean, warmest

MEASURED = {"Berlin": [61, 75], "Rome": [88, 95], "Oslo": [54, 50]}


def test_the_warmest_city(swf):
    assert swf.run(warmest, MEASURED) == "Rome"
    assert sorted(call.args[0] for call in swf.calls(mean)) == [[12, 10], [16, 24], [31, 35]]


def test_all_cities_are_computed_at_once(swf):
    swf.stub(celsius, returns=[20], delay="30s")
    swf.stub(mean, returns=20.0, delay="30s")
    began = swf.now()
    swf.run(warmest, MEASURED)

    assert swf.now() - began == dt.timedelta(minutes=1)

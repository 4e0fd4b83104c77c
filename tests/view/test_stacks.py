"""Where the code stood, beside the timeline that it belongs to."""

from __future__ import annotations

from flowpy.testing import stacks

from .histories import hanging
from .shop import order


def test_the_order_hangs_in_its_code_where_the_timeline_says() -> None:
    found = dict(stacks(order, hanging()))

    (main,) = found[60].tasks
    assert main.waits_for == ("activity charge-1.r3", "activity wrap-1")
    assert [line.function for line in main.stack] == ["order", "deliver"]

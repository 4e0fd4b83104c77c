"""The article of a name."""

from __future__ import annotations

import pytest

from flowpy.words import an


@pytest.mark.parametrize(
    "told",
    [
        "an int", "an OrderedDict", "an ActivityTaskScheduled", "an IOBase", "an SVG", "an _Inner",
        "a str", "a dict", "a UUID", "a Union", "a UserDict", "a URL", "a one-shot", "a WorkflowExecutionStarted",
    ],
)  # fmt: skip
def test_it_is_the_one_that_is_read_aloud(told: str) -> None:
    assert an(told.partition(" ")[2]) == told

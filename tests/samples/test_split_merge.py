"""Split and merge: every number is in one part, and all parts are worked on together."""

from __future__ import annotations

import datetime as dt
from statistics import mean

import pytest

from flowpy import WorkflowFailed
from samples.split_merge import average, total


@pytest.fixture
def numbers(tmp_path):
    """Makes a file of numbers."""

    def make(values):
        file = tmp_path / "numbers.txt"
        file.write_text("".join(f"{value}\n" for value in values))
        return file

    return make


@pytest.mark.parametrize(("parts", "made"), [(1, 1), (3, 3), (10, 10), (50, 10)])
def test_the_average_of_a_data_set(swf, numbers, parts, made):
    values = range(10)

    assert swf.run(average, numbers(values), parts) == mean(values)
    assert len(swf.calls(total)) == made


def test_all_parts_are_worked_on_at_once(swf, numbers):
    swf.stub(total, delay="30m")
    began = swf.now()
    swf.run(average, numbers(range(100)), 20)

    assert len(swf.calls(total)) == 20
    assert swf.now() - began == dt.timedelta(minutes=30)


def test_there_is_no_average_of_nothing(swf, numbers):
    with pytest.raises(WorkflowFailed) as failed:
        swf.run(average, numbers([]))
    assert failed.value.type == "Empty"

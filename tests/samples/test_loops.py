"""Loops: so many rounds, and each with the result of the one before."""

from __future__ import annotations

import math

import pytest

from samples.loops import ROUNDS, improved, rough_root, savings, square_root, with_interest


def test_a_fixed_number_of_rounds(swf):
    assert swf.run(rough_root, 4.0) == pytest.approx(2.0, abs=0.1)
    assert len(swf.calls(improved)) == ROUNDS


@pytest.mark.parametrize("years", [0, 1, 10])
def test_as_many_rounds_as_are_asked_for(swf, years):
    swf.run(savings, 1000, 10.0, years)

    assert len(swf.calls(with_interest)) == years


def test_each_round_goes_on_where_the_one_before_ended(swf):
    assert swf.run(savings, 1000, 10.0, 3) == 1331
    assert swf.calls(with_interest) == [(1000, 10.0), (1100, 10.0), (1210, 10.0)]


def test_until_it_is_good_enough(swf):
    assert swf.run(square_root, 2.0) == pytest.approx(math.sqrt(2))


def test_once_at_least(swf):
    assert swf.run(square_root, 1.0) == 1.0
    assert len(swf.calls(improved)) == 1

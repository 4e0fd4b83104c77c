"""Lengths are checked, never made to fit by cutting."""

from __future__ import annotations

import pytest

from flowpy.data import DATA, HEARTBEAT, check_length
from flowpy.errors import PayloadTooLarge


def test_text_that_fits_is_given_back() -> None:
    assert check_length("\N{GRINNING FACE}" * HEARTBEAT, HEARTBEAT, "details") == "\N{GRINNING FACE}" * HEARTBEAT


def test_z08_z13_text_that_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(
        PayloadTooLarge, match=r"marker effect-1 is 40,000 characters long as JSON and SWF takes 32,768"
    ):
        check_length("x" * 40_000, DATA, "marker effect-1")

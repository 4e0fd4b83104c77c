from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.declare.durations import NONE, YEAR, exact_seconds, seconds, swf_duration
from flowpy.errors import DeclarationError, DurationError


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        (0, 0),
        (90, 90),
        (0.5, 1),
        (2.0000001, 3),
        ("90s", 90),
        ("90", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("1.5h", 5400),
        ("0.1s", 1),
        ("1.000001s", 2),
        ("30d", 30 * 86_400),
        ("2w", 14 * 86_400),
        ("1w2d3h4m5s", 604_800 + 2 * 86_400 + 3 * 3_600 + 4 * 60 + 5),
        ("365d", YEAR),
        (YEAR, YEAR),
        ("200d", 17_280_000),
        (timedelta(minutes=5), 300),
        (timedelta(seconds=1, microseconds=1), 2),
        (NONE, None),
    ],
)
def test_a_duration_is_whole_seconds_rounded_up(written, whole):
    assert seconds(written, "timeout") == whole


def test_swf_takes_text():
    assert swf_duration("5m", "timeout") == "300"
    assert swf_duration(NONE, "timeout") == "NONE"


def test_what_swf_takes_is_taken_again():
    assert swf_duration(swf_duration("1h", "timeout"), "timeout") == "3600"


def test_fractions_are_kept_where_they_matter():
    assert exact_seconds("0.5s", "initial") == 0.5
    assert exact_seconds(timedelta(milliseconds=250), "initial") == 0.25
    assert exact_seconds(NONE, "maximum") is None


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (YEAR + 1, "over a year"),
        (365 * 86_400 + 0.5, "over a year"),
        ("366d", "over a year"),
        ("53w", "over a year"),
        (timedelta(days=366), "over a year"),
        (99_999_999, "over a year"),
        ("99999999s", "over a year"),
        (1_700_000_000_000, "not milliseconds"),
        (10**400, "over a year"),
        (float("inf"), "over a year"),
        (float("-inf"), "negative"),
        (-1, "negative"),
        (-0.1, "negative"),
        (timedelta(seconds=-1), "negative"),
        (float("nan"), "cannot read"),
        ("", "cannot read"),
        ("soon", "cannot read"),
        ("5M", "cannot read"),
        ("-5m", "cannot read"),
        ("5m1h", "cannot read"),
        ("5m5m", "cannot read"),
        ("1h30", "cannot read"),
        ("h", "cannot read"),
        ("1e3", "cannot read"),
        ("1234567890s", "cannot read"),
        ("1" * 100_000, "cannot read"),
        ("٣s", "cannot read"),
        ("none", "flowpy.NONE"),
        (True, "is a bool"),
        (None, "is a NoneType"),
        ([5], "is a list"),
        (b"5m", "is a bytes"),
    ],
)
def test_a_duration_swf_would_refuse_is_refused_here(written, says):
    with pytest.raises(DurationError, match="start_to_close_timeout: ") as caught:
        seconds(written, "start_to_close_timeout")
    assert says in str(caught.value)
    assert isinstance(caught.value, DeclarationError | ValueError | TypeError)


@given(st.integers(min_value=0, max_value=YEAR))
def test_every_whole_second_up_to_a_year_stays_what_it_is(count):
    assert seconds(count, "t") == seconds(str(count), "t") == seconds(f"{count}s", "t") == count
    assert seconds(timedelta(seconds=count), "t") == count


@given(st.integers(0, 51), st.integers(0, 6), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_parts_add_up(weeks, days, hours, minutes, secs):
    span = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=secs)
    assert seconds(f"{weeks}w{days}d{hours}h{minutes}m{secs}s", "t") == seconds(span, "t")

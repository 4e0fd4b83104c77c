from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.declare.durations import NONE, YEAR
from flowpy.declare.retry import Retry
from flowpy.errors import DeclarationError


class Busy(Exception):
    class Inner(Exception): ...


def delays(retry, count=4):
    return [retry.delay(attempt, "run", "charge-1") for attempt in range(2, 2 + count)]


def test_back_off_grows_and_needs_no_maximum():
    assert delays(Retry(initial=2, coefficient=2, jitter=0)) == [2, 4, 8, 16]


def test_fractions_are_kept_until_the_end_and_then_rounded_up():
    assert delays(Retry(initial=0.5, coefficient=3, maximum=4, jitter=0)) == [1, 2, 4, 4]


def test_the_first_second_is_the_default():
    assert delays(Retry(jitter=0), 2) == [1, 2]


def test_back_off_never_exceeds_a_year_however_many_attempts():
    assert delays(Retry(initial=1, jitter=1))[0] <= 2
    assert Retry(initial="365d", jitter=1).delay(9, "r", "i") <= YEAR
    assert Retry(initial=1, coefficient=1000, jitter=0).delay(10_000, "r", "i") == YEAR
    assert Retry(initial=0, coefficient=1000).delay(10_000, "r", "i") == 0


def test_jitter_is_a_function_of_run_id_and_attempt():
    retry = Retry(initial=100, coefficient=1, jitter=0.5)
    assert retry.delay(2, "run-1", "charge-1") == retry.delay(2, "run-1", "charge-1")
    spread = {retry.delay(k, f"run-{r}", f"charge-{c}") for k in (2, 3) for r in range(9) for c in range(9)}
    assert len(spread) > 50
    assert min(spread) >= 50
    assert max(spread) <= 150


def test_jitter_is_the_one_of_the_contract():
    # SHA-256("run/charge-1/2") begins with 845712ffb2aee282
    assert Retry(initial=1000, jitter=1).delay(2, "run", "charge-1") == math.ceil(
        1000 * (1 + 2 * 0x845712FFB2AEE282 / 2**64 - 1)
    )


@given(st.integers(2, 500), st.floats(0, 1e6), st.floats(1, 1000), st.floats(0, 1))
def test_back_off_is_always_whole_seconds_a_timer_can_have(attempt, initial, coefficient, jitter):
    delay = Retry(initial=initial, coefficient=coefficient, jitter=jitter).delay(attempt, "r", "i")
    assert isinstance(delay, int)
    assert 0 <= delay <= YEAR


def test_durations_may_be_text():
    retry = Retry(attempts=3, initial="500", maximum="1h", expiration="1d")
    assert (retry.initial, retry.maximum, retry.expiration) == (500, 3600, 86_400)
    assert Retry(maximum=NONE, expiration=NONE) == Retry()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attempts": 0}, "attempts: 0 is not a count"),
        ({"attempts": True}, "attempts: True"),
        ({"attempts": 2.5}, "attempts: 2.5"),
        ({"initial": NONE}, "initial: NONE"),
        ({"initial": -1}, "initial: -1 is negative"),
        ({"initial": None}, "initial: None"),
        ({"coefficient": 0.5}, "coefficient: 0.5"),
        ({"coefficient": float("nan")}, "coefficient: nan"),
        ({"coefficient": "2"}, "coefficient: '2'"),
        ({"jitter": 1.5}, "jitter: 1.5 is not a number from 0 to 1"),
        ({"jitter": -0.1}, "jitter: -0.1"),
        ({"initial": 5, "maximum": 2}, "maximum: 2 s is below initial, 5 s"),
        ({"maximum": "2y"}, "maximum: cannot read '2y'"),
        ({"expiration": "400d"}, "expiration: '400d' is over a year"),
        ({"retry_on": (5,)}, "retry_on: 5"),
        ({"retry_on": (int,)}, "retry_on: <class 'int'>"),
        ({"never_on": ("",)}, "never_on: ''"),
        ({"never_on": 5}, "never_on: 5"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(options, says):
    with pytest.raises(DeclarationError) as caught:
        Retry(**options)
    assert f"Retry {says}" in str(caught.value)


def test_a_policy_can_be_compared_and_is_frozen():
    assert Retry(attempts=3) == Retry(attempts=3) != Retry(attempts=4)
    assert len({Retry(), Retry(), Retry(attempts=1)}) == 2
    with pytest.raises(AttributeError):
        Retry().attempts = 5


# --- what is recorded -----------------------------------------------------------------------


def test_control_has_numbers_in_seconds_and_no_limit_is_absent():
    retry = Retry(attempts=3, initial=2, coefficient=2, jitter=0)
    assert json.dumps(retry.control(1735732801)) == (
        '{"attempts": 3, "initial": 2, "coefficient": 2, "jitter": 0, "first": 1735732801}'
    )
    assert Retry(maximum="1h", expiration="1d").control(7) == {
        "initial": 1,
        "coefficient": 2,
        "maximum": 3600,
        "expiration": 86_400,
        "jitter": 0.1,
        "first": 7,
    }


def test_what_is_recorded_goes_before_what_the_code_says_now():
    recorded = Retry(attempts=3, initial=2, jitter=0).control(0)
    code = Retry(attempts=9, initial=7, maximum=60, never_on=(Busy,))
    assert Retry.from_control(recorded, code) == Retry(attempts=3, initial=2, jitter=0, never_on=(Busy,))


def test_null_and_absent_limits_are_no_limit():
    code = Retry(attempts=9, maximum=60, expiration=600)
    for control in ({"initial": 1, "maximum": None}, {"initial": 1, "attempts": None, "expiration": None}):
        retry = Retry.from_control(control, code)
        assert (retry.attempts, retry.maximum, retry.expiration) == (None, None, None)


def test_a_recorded_policy_outlives_the_one_in_the_code():
    assert Retry.from_control(Retry(attempts=3).control(0), None).attempts == 3


@pytest.mark.parametrize(
    "control", [None, {}, [], "text", 5, {"attempts": "x"}, {"initial": []}, {"jitter": 7}, {"coefficient": None}]
)
def test_what_cannot_be_used_leaves_the_code_in_force(control):
    code = Retry(attempts=4)
    assert Retry.from_control(control, code) is code
    assert Retry.from_control(control, None).attempts == 1


@given(
    st.none() | st.integers(1, 99),
    st.floats(0, 1000),
    st.floats(1, 10),
    st.none() | st.floats(1000, 9999),
    st.none() | st.floats(0, 9999),
    st.floats(0, 1),
)
def test_reading_gives_back_what_was_recorded(attempts, initial, coefficient, maximum, expiration, jitter):
    retry = Retry(attempts, initial, coefficient, maximum, expiration, jitter)
    assert Retry.from_control(json.loads(json.dumps(retry.control(5))), Retry(attempts=1)) == retry


# --- whether to go on -----------------------------------------------------------------------


def test_attempts_are_all_of_them_together():
    assert Retry(attempts=3).allows(2, first=0, now=0, delay=0)
    assert not Retry(attempts=3).allows(3, first=0, now=0, delay=0)
    assert not Retry(attempts=1).allows(1, first=0, now=0, delay=0)
    assert Retry().allows(1_000_000, first=0, now=0, delay=0)


def test_no_attempt_starts_after_the_expiration():
    retry = Retry(expiration=60)
    assert retry.allows(1, first=1000, now=1050, delay=10)
    assert not retry.allows(1, first=1000, now=1050, delay=11)


@pytest.mark.parametrize(
    ("retry", "names", "again"),
    [
        (Retry(), ["Anything"], True),
        (Retry(retry_on=(Busy,)), ["Busy"], True),
        (Retry(retry_on=Busy), ["Busy"], True),
        (Retry(retry_on=[Busy]), [f"{__name__}.Busy"], True),
        (Retry(retry_on=(Busy.Inner,)), ["Inner"], True),
        (Retry(retry_on=(Busy.Inner,)), [f"{__name__}.Busy.Inner"], True),
        (Retry(retry_on="Busy"), ["Busy", "shop.errors.Busy"], True),
        (Retry(retry_on="shop.errors.Busy"), ["Busy", "shop.errors.Busy"], True),
        (Retry(retry_on=(Busy,)), ["ValueError"], False),
        (Retry(never_on=(Busy,)), ["Busy"], False),
        (Retry(never_on=(Busy,)), ["ValueError"], True),
        (Retry(retry_on=(Exception,), never_on=(Busy,)), ["Busy"], False),
        (Retry(retry_on=(Exception,)), ["SomethingOfAnotherProcess"], True),
        (Retry(retry_on="Exception"), ["SomethingOfAnotherProcess"], True),
        (Retry(never_on=(Exception,)), ["SomethingOfAnotherProcess"], False),
        (Retry(retry_on=(OSError,)), ["ConnectionResetError"], True),
        (Retry(retry_on=(OSError,)), ["builtins.ConnectionResetError"], True),
        (Retry(retry_on=(TimeoutError,)), ["ActivityTimedOut", "TimeoutError"], True),
        (Retry(never_on=(LookupError,)), ["KeyError"], False),
        (Retry(retry_on=(OSError,)), ["print"], False),
        (Retry(retry_on=(OSError,)), [], False),
    ],
)
def test_errors_are_known_by_their_recorded_names(retry, names, again):
    assert retry.matches(names) is again

"""Loops: a known number of times, as often as data say, and until a result is good enough.

Plain Python loops. Each round waits for the one before; where rounds do not need one another, see ``parallel``.

Flow's recipes: ForLoopInline, ConditionLoop, DoWhile.

    flowpy run samples.loops:square_root 2
    flowpy run samples.loops:savings 1000 3.5 10
"""

from __future__ import annotations

from flowpy import activity, workflow

ROUNDS = 3


@activity(start_to_close_timeout="1m")
def improved(guess: float, number: float) -> float:
    """A better guess at a square root, by Newton's method."""
    return (guess + number / guess) / 2


@activity(start_to_close_timeout="1m")
def with_interest(cents: int, percent: float) -> int:
    """A balance one year later."""
    return round(cents * (1 + percent / 100))


@workflow
async def rough_root(number: float) -> float:
    """For: a number of times that the code knows."""
    guess = number
    for _ in range(ROUNDS):
        guess = await improved(guess, number)
    return guess


@workflow
async def savings(cents: int, percent: float, years: int) -> int:
    """For: a number of times that is an argument."""
    for _ in range(years):
        cents = await with_interest(cents, percent)
    return cents


@workflow
async def square_root(number: float, tolerance: float = 1e-9) -> float:
    """Do while: once at least, and again until two guesses hardly differ."""
    guess = number
    while True:
        guess, before = await improved(guess, number), guess
        if abs(guess - before) <= tolerance:
            return guess

"""Pick first: two ways to the same result race, and the loser is told to stop.

Nobody knows which way is faster for a number, so both are tried. The loser learns of it at its next heartbeat, where
``ActivityCancelRequested`` ends it.

Flow's recipe: PickFirstBranch.

    flowpy run samples.pick_first:factor 1000036000099
"""

from __future__ import annotations

from math import isqrt

from flowpy import activity, any_of, current_activity, workflow

STEPS = 100_000  # between two heartbeats


@activity(start_to_close_timeout="1h")
def trial_division(number: int) -> int:
    """The smallest prime factor; fast if it is small."""
    for divisor in range(2, isqrt(number) + 1):
        if divisor % STEPS == 0:
            current_activity().heartbeat(divisor)
        if number % divisor == 0:
            return divisor
    return number


@activity(start_to_close_timeout="1h")
def fermat(number: int) -> int:
    """A factor of an odd number; fast if there is one near the square root."""
    root = isqrt(number - 1) + 1
    while isqrt(root * root - number) ** 2 != root * root - number:
        root += 1
        if root % STEPS == 0:
            current_activity().heartbeat(root)
    return root - isqrt(root * root - number)


@workflow
async def factor(number: int) -> int:
    """A factor of an odd number, found in whichever way is faster."""
    ways = [trial_division(number), fermat(number)]
    first = await any_of(ways)
    for way in ways:
        way.cancel()  # does nothing to the one that has ended
    return await first

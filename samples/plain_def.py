"""Plain def: the same workflows without ``async`` and ``await``.

A call gives a promise, as ever; ``.result()`` waits for it. The run is suspended meanwhile, no thread is.

The Flow Framework for Ruby is written in this way.

    flowpy run samples.plain_def:warmest '{"Berlin": [61, 75], "Rome": [88, 95], "Oslo": [54, 50]}'
"""

from __future__ import annotations

from flowpy import activity, workflow


@activity(start_to_close_timeout="1m")
def celsius(fahrenheit: list[int]) -> list[int]:
    """Temperatures in degrees Celsius, rounded."""
    return [round((each - 32) * 5 / 9) for each in fahrenheit]


@activity(start_to_close_timeout="1m")
def mean(temperatures: list[int]) -> float:
    """The mean of some temperatures."""
    return sum(temperatures) / len(temperatures)


@workflow
def warmest(measured: dict[str, list[int]]) -> str:
    """The city with the highest mean temperature."""
    means = {city: mean(celsius(fahrenheit)) for city, fahrenheit in measured.items()}  # all are scheduled
    return max(means, key=lambda city: means[city].result())

"""Split and merge: parts of a data set, worked on side by side, and what they come to together.

How many parts there are is known only when the workflow runs. Arguments and results are small: the data stay where they
are, and activities are told which part of them is theirs.

Flow's sample: SplitMerge.

    seq 1000 > numbers.txt; flowpy run samples.split_merge:average numbers.txt 8
"""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path

from flowpy import ApplicationError, activity, workflow


@activity(start_to_close_timeout="5m")
def count(file: Path) -> int:
    """How many numbers there are in a file, one a line."""
    with file.open() as lines:
        return sum(1 for _ in lines)


@activity(start_to_close_timeout="1h")
def total(file: Path, first: int, length: int) -> float:
    """The sum of a part of the numbers."""
    with file.open() as lines:
        return sum(float(line) for line in islice(lines, first, first + length))


@workflow
async def average(file: Path, parts: int = 4) -> float:
    """The average of the numbers in a file."""
    numbers = await count(file)
    if not numbers:
        raise ApplicationError(f"there are no numbers in {file}", type="Empty")
    length = -(-numbers // parts)
    totals = await asyncio.gather(*[total(file, first, length) for first in range(0, numbers, length)])
    return sum(totals) / numbers

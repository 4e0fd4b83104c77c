"""Type versions: a workflow that changed too much for ``patched``, and long runs that go over to the new one.

Both versions are registered, and a worker runs both. Runs of 1.0 go on with the code of 1.0; where they continue as new
they become runs of 2.0. When none is open any more, the code of 1.0 goes.

Flow's ``@Execute(version)``.

    flowpy run samples.type_versions:report_2 . report.txt 3
"""

from __future__ import annotations

from pathlib import Path

from flowpy import activity, continue_as_new, sleep, workflow

DAYS_PER_RUN = 30


@activity(start_to_close_timeout="5m")
def size(folder: Path, pattern: str) -> int:
    """How many bytes the files of a folder have together."""
    return sum(file.stat().st_size for file in folder.glob(pattern) if file.is_file())


@activity(start_to_close_timeout="1m")
def write(report: Path, line: str) -> None:
    """Add a line to a report."""
    with report.open("a") as lines:
        lines.write(f"{line}\n")


@workflow(name="report", version="1.0")
async def report_1(folder: Path, report: Path, days: int) -> None:
    """As it was: one number a day."""
    for _ in range(min(days, DAYS_PER_RUN)):
        await sleep("1d")
        await write(report, f"{await size(folder, '*')}")
    if days > DAYS_PER_RUN:
        continue_as_new.options(version="2.0")(folder, report, days - DAYS_PER_RUN)


@workflow(name="report", version="2.0")
async def report_2(folder: Path, report: Path, days: int) -> None:
    """As it is: the texts apart from the whole."""
    for _ in range(min(days, DAYS_PER_RUN)):
        await sleep("1d")
        whole, texts = size(folder, "*"), size(folder, "*.txt")
        await write(report, f"{await whole}, texts {await texts}")
    if days > DAYS_PER_RUN:
        continue_as_new(folder, report, days - DAYS_PER_RUN)

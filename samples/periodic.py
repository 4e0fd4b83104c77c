"""Periodic: the same activity again and again, for years, whether or not it fails now and then.

Every event of a run is in its history, and SWF ends a run that has 25,000. So after some rounds the workflow continues
as new: another run with the same workflowId and an empty history, which is told what is left to do.

Flow's samples: PeriodicWorkflow, and the guide's continuous workflows.

    flowpy run samples.periodic:watch . sizes.csv 3 10s
"""

from __future__ import annotations

from pathlib import Path

import flowpy
from flowpy import ActivityError, activity, workflow


@activity(start_to_close_timeout="10m")
def measure(folder: Path) -> int:
    """How many bytes are in a folder."""
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())


@activity(start_to_close_timeout="1m")
def note(journal: Path, at: str, what: str) -> None:
    """Add a line to a journal."""
    with journal.open("a") as lines:
        lines.write(f"{at},{what}\n")


@workflow
async def watch(folder: Path, journal: Path, rounds: int, every: str = "1h", rounds_per_run: int = 500) -> None:
    """Keep a journal of how large a folder is."""
    for _ in range(min(rounds, rounds_per_run)):
        await flowpy.sleep(every)
        at = flowpy.now().isoformat(timespec="minutes")
        try:
            await note(journal, at, str(await measure(folder)))
        except ActivityError as error:
            await note(journal, at, f"not measured: {error}")
    if rounds > rounds_per_run:
        flowpy.continue_as_new(folder, journal, rounds - rounds_per_run, every, rounds_per_run)

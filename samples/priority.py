"""Priority: what is urgent goes before what was there earlier.

Both kinds of work wait on one task list. A worker that asks for a task gets the one with the highest priority, and of
several such the one that has waited longest. A type has a priority, a call may have another; none is 0.

Flow's guide: setting task priority.

    flowpy run samples.priority:sweep docs
    flowpy run samples.priority:verify README.md
"""

from __future__ import annotations

import asyncio
import zlib
from pathlib import Path

from flowpy import activity, workflow

URGENT, LEISURELY = 10, -10


@activity(start_to_close_timeout="10m")
def checksum(file: Path) -> int:
    """What tells whether a file has changed."""
    return zlib.crc32(file.read_bytes())


@activity(start_to_close_timeout="1m", task_priority=LEISURELY)
def files(folder: Path) -> list[Path]:
    """The files in a folder, by name."""
    return sorted(file for file in folder.iterdir() if file.is_file())


@workflow(task_priority=LEISURELY)
async def sweep(folder: Path) -> list[int]:
    """Check all files of a folder, while there is nothing better to do."""
    leisurely = checksum.options(task_priority=LEISURELY)
    return await asyncio.gather(*[leisurely(file) for file in await files(folder)])


@workflow(task_priority=URGENT)
async def verify(file: Path) -> int:
    """Check one file now: somebody waits for it."""
    return await checksum.options(task_priority=URGENT)(file)

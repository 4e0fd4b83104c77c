"""Parallel: a fixed set of activities, one for each item, and what happens when one of them fails.

``asyncio.gather`` gives all results, in the order of the calls; ``return_exceptions=True`` keeps those that succeeded
when others fail. A ``TaskGroup`` cancels the others at the first failure.

Flow's recipes: RunningMultipleActivities, Branch.

    flowpy run samples.parallel:checksum README.md
    flowpy run samples.parallel:inventory '["README.md", "LICENSE", "no such file"]'
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from flowpy import ActivityFailed, activity, logger, workflow


@activity(start_to_close_timeout="5m")
def digest(file: Path, algorithm: str) -> str:
    """The digest of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


@activity(start_to_close_timeout="1m")
def size(file: Path) -> int:
    """The size of a file in bytes."""
    return file.stat().st_size


@workflow
async def checksum(file: Path) -> str:
    """A line with a file's size and digests: three activities side by side."""
    length, sha256, md5 = await asyncio.gather(size(file), digest(file, "sha256"), digest(file, "md5"))
    return f"{length} {sha256} {md5}"


@workflow
async def inventory(files: list[Path]) -> dict[str, int]:
    """The sizes of those files that can be read: one activity for each, known only when it runs."""
    sizes = await asyncio.gather(*[size(file) for file in files], return_exceptions=True)
    found: dict[str, int] = {}
    for file, length in zip(files, sizes, strict=True):
        if isinstance(length, ActivityFailed):
            logger.warning("left out: %s", length)
        elif isinstance(length, BaseException):
            raise length
        else:
            found[file.name] = length
    return found


@workflow
async def total(files: list[Path]) -> int:
    """The size of all files together; if one cannot be read, the others need not be."""
    async with asyncio.TaskGroup() as group:
        sizes = [group.create_task(measured(file)) for file in files]
    return sum(each.result() for each in sizes)


async def measured(file: Path) -> int:
    """A branch of its own, which may have any number of steps."""
    return await size(file)

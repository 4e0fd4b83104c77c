"""Daemon: something that goes on beside the work, and ends with it.

A task of its own reminds people as long as the answer is awaited. What is still open when the workflow returns would be
waited for, so ``finally`` cancels it. (``promise.detach()`` is for single activities that may outlive their run.)

Flow's daemon tasks.

    flowpy run samples.daemon:survey answers.txt "Tea or coffee?" --signal answered tea
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from flowpy import Signal, activity, sleep, workflow

answered = Signal("answered", str)


@activity(start_to_close_timeout="1m")
def write(file: Path, line: str) -> None:
    """Add a line to a file, where people look."""
    with file.open("a") as lines:
        lines.write(f"{line}\n")


@workflow
async def survey(file: Path, question: str) -> str:
    """Ask a question, and again every day until it is answered."""
    await write(file, question)
    reminding = asyncio.create_task(remind(file, question))
    try:
        return await answered.receive()
    finally:
        reminding.cancel()


async def remind(file: Path, question: str) -> None:
    """Ask again and again."""
    number = 0
    while True:
        await sleep("1d")
        number += 1
        await write(file, f"reminder {number}: {question}")

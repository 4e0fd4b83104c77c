"""Mutex: runs that talk to each other by signals, so that one of them at a time has something.

A lender, one open run with a workflowId that all know, keeps the queue: it is the queue of its signals. A borrower
asks, waits for its turn, and gives back. One that is gone or never gives back is passed over. When the lender continues
as new, requests that it has not come to go with it.

No sample of Flow's.

    flowpy start --domain office --workflow-id counter samples.mutex:lender
    flowpy start --domain office samples.mutex:increase counter.txt counter
"""

from __future__ import annotations

from pathlib import Path

from flowpy import ExternalSignalFailed, Signal, activity, continue_as_new, external, info, workflow

wanted = Signal("wanted", str)  # by the run of this workflowId
yours = Signal("yours")
given_back = Signal("given_back", str)  # by the run of this workflowId


@activity(start_to_close_timeout="1m")
def add_one(file: Path) -> int:
    """Increase a number in a file; two at a time would lose one."""
    number = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(number))
    return number


@workflow
async def lender(turns: int = 1_000) -> None:
    """Lend something to those who ask for it, one after the other."""
    for _ in range(turns):
        borrower = await wanted.receive()
        try:
            await external(borrower).signal(yours)
            while await given_back.receive(timeout="10m") != borrower:
                pass  # it comes too late, from one that was passed over
        except (ExternalSignalFailed, TimeoutError):
            continue
    continue_as_new(turns)


@workflow
async def increase(file: Path, lender_id: str) -> int:
    """Increase a number that others increase too."""
    lent_by, own_id = external(lender_id), info().workflow_id
    await lent_by.signal(wanted, own_id)
    await yours.receive()
    try:
        return await add_one(file)
    finally:
        await lent_by.signal(given_back, own_id)

"""Retries of every kind: the policy of an activity, another one for a call, by sort of error, of a whole block.

An activity is tried again as its ``Retry`` says. Each back-off is a timer in the history, so it costs nothing, however
long it is, and survives every process. The last attempt's error is raised where the activity is awaited.

Flow's recipes: RetryActivity (annotation, per call, dynamic policy, custom logic, until success).

    echo All is well. > letter.txt; flowpy run samples.retries:fetch letter.txt
"""

from __future__ import annotations

from pathlib import Path

from flowpy import ActivityFailed, Retry, activity, sleep, workflow

NEVER = Retry(attempts=1)
HASTY = Retry(attempts=2, initial=0)
UNTIL_IT_COMES = Retry(initial="1m", maximum="1h")  # attempts are not limited
WITHIN_A_DAY = Retry(initial="1h", coefficient=1, expiration="1d", jitter=0)
PAUSES = ("1h", "2h")  # between attempts at a whole block


class Unfinished(Exception):
    """Somebody still writes the file."""


@activity(start_to_close_timeout="1m", retry=Retry(attempts=4, initial="2s", retry_on=(OSError, Unfinished)))
def read(file: Path) -> str:
    """The text of a file, which ends with a full stop.

    Raises:
        Unfinished: It does not.
    """
    text = file.read_text()  # what is not UTF-8 raises UnicodeDecodeError, and will not be better the next time
    if not text.rstrip().endswith("."):
        raise Unfinished(f"{file} has no end")
    return text


@activity(start_to_close_timeout="1m")
def move(file: Path, folder: Path) -> Path:
    """Move a file into a folder."""
    return file.rename(folder / file.name)


@workflow
async def fetch(file: Path) -> str:
    """As the activity's own policy says: four attempts, 2, 4 and 8 seconds apart, after certain errors."""
    return await read(file)


@workflow
async def glance(file: Path) -> str:
    """As this call says, and a way on when all attempts were in vain."""
    try:
        return await read.options(retry=HASTY)(file)
    except ActivityFailed as error:
        return f"({error.type})"


@workflow
async def wait_for(file: Path) -> str:
    """Until it succeeds."""
    return await read.options(retry=UNTIL_IT_COMES)(file)


@workflow
async def wait_a_day_for(file: Path) -> str:
    """By the clock: every hour, for a day."""
    return await read.options(retry=WITHIN_A_DAY)(file)


@workflow
async def read_and_file(file: Path, folder: Path) -> Path:
    """Logic of one's own, around several activities: an unreadable file is nothing to wait for, anything else is."""
    for pause in PAUSES:
        try:
            return await filed(file, folder)
        except ActivityFailed as error:
            if error.type == "UnicodeDecodeError":
                raise
        await sleep(pause)
    return await filed(file, folder)


async def filed(file: Path, folder: Path) -> Path:
    """The block that is tried again as a whole."""
    await read.options(retry=NEVER)(file)
    return await move(file, folder)

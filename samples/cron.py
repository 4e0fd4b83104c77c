"""Cron with retry: a job at certain times of the week, tried again when it fails, for as long as you like.

When the next time is follows from the run's own clock, so it is the same in every replay. A job that fails for good
spoils one night only.

Flow's samples: Cron, CronWithRetry.

    flowpy run samples.cron:nightly '{"weekdays": [0, 1, 2, 3, 4], "hour": 2, "minute": 30}' shop.db backups 5
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import flowpy
from flowpy import ActivityError, Retry, activity, workflow


@dataclass(frozen=True)
class Cron:
    """When to do something, UTC.

    Attributes:
        weekdays: 0 for Monday to 6 for Sunday.
        hour: 0 to 23.
        minute: 0 to 59.
    """

    weekdays: tuple[int, ...]
    hour: int
    minute: int = 0

    def next_after(self, moment: dt.datetime) -> dt.datetime:
        """The first such time after a moment."""
        today = moment.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        days = (today + dt.timedelta(days=number) for number in range(8))
        return next(day for day in days if day > moment and day.weekday() in self.weekdays)


@activity(start_to_close_timeout="1h", retry=Retry(attempts=4, initial="5m", maximum="30m"))
def back_up(database: Path, folder: Path, day: dt.date) -> Path:
    """Copy a database while it is in use; gives where the copy is."""
    folder.mkdir(exist_ok=True)
    target = folder / f"{database.stem}-{day}.db"
    with closing(sqlite3.connect(database)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
    return target


@workflow
async def nightly(cron: Cron, database: Path, folder: Path, nights: int, nights_per_run: int = 200) -> None:
    """Back a database up each night, until somebody cancels it or all nights are over."""
    for _ in range(min(nights, nights_per_run)):
        due = cron.next_after(flowpy.now())
        await flowpy.sleep(due - flowpy.now())
        try:
            await back_up(database, folder, due.date())
        except ActivityError as error:
            flowpy.logger.error("no backup of %s: %s", due.date(), error)
    if nights > nights_per_run:
        flowpy.continue_as_new(cron, database, folder, nights - nights_per_run, nights_per_run)

r"""Data pipeline: extract, transform and load in batches, so many at a time, with progress for all to see.

Two kinds of progress. The run publishes how many batches are done, which ``describe`` reads without a worker. And a
batch records with its heartbeats how far it is: if its worker dies, the next attempt asks for that, and goes on there.

No sample of Flow's.

    printf 'item,price\ntea,4.20\nrug,120.00\n' > sales.csv
    flowpy run samples.pipeline:load_all sales.csv sales.db
"""

from __future__ import annotations

import asyncio
import csv
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from flowpy import Retry, activity, current_activity, set_state, workflow

AT_ONCE = 4  # batches
CHUNK = 100  # rows that are written together


@activity(start_to_close_timeout="10m")
def extract(file: Path, database: Path) -> int:
    """Make a table for the rows of a CSV file; gives how many rows there are."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS sale (row INTEGER PRIMARY KEY, item, cents)")
    with file.open(newline="") as rows:
        return sum(1 for _ in csv.DictReader(rows))


@dataclass(frozen=True)
class Progress:
    """How far a batch is: the row that comes next, and what those before it come to."""

    row: int
    cents: int


@activity(start_to_close_timeout="1h", retry=Retry(attempts=5))
def load(file: Path, database: Path, first: int, last: int) -> int:
    """Transform rows and write them to the table; gives what they come to, in cents.

    A row that is there already is written again, with the same values.
    """
    done = current_activity().last_details(Progress) or Progress(first, 0)
    with file.open(newline="") as rows, closing(sqlite3.connect(database)) as connection:
        numbered = islice(enumerate(csv.DictReader(rows)), done.row, last)
        while chunk := [(row, sale["item"], to_cents(sale["price"])) for row, sale in islice(numbered, CHUNK)]:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO sale VALUES (?, ?, ?)", chunk)
            done = Progress(done.row + len(chunk), done.cents + sum(price for _, _, price in chunk))
            current_activity().heartbeat(done)
    return done.cents


def to_cents(price: str) -> int:
    """A price such as 4.20 in cents."""
    whole, _, fraction = price.partition(".")
    return int(whole) * 100 + int(fraction or 0)


@workflow
async def load_all(file: Path, database: Path, batch_size: int = 1_000) -> int:
    """Load a file into a database, so many rows a batch; gives the sum of all prices, in cents."""
    rows = await extract(file, database)
    starts, places = range(0, rows, batch_size), asyncio.Semaphore(AT_ONCE)
    done = 0

    async def in_turn(first: int) -> int:
        nonlocal done
        async with places:
            cents = await load(file, database, first, min(first + batch_size, rows))
        done += 1
        set_state({"batches": len(starts), "done": done})
        return cents

    return sum(await asyncio.gather(*map(in_turn, starts)))

"""Saga: steps that each can be undone, and are, the last first, if a later one fails.

``AsyncExitStack`` is Python's own list of things to do on the way out, an error or a cancellation. What undoes a step
is pushed before the step itself, for nobody knows of a step that failed or timed out whether it was done. So every step
has a key, and undoing what was not done keeps it from being done later. ``on_cancel="wait"`` lets a step end before the
cancelled run undoes it.

No sample of Flow's; its TryCatchFinally serves the same end.

    flowpy run samples.saga:open_accounts bank.db '{"Ann": 50, "Bob": 50, "Eve": 0}'
    flowpy run samples.saga:settle bank.db '{"Ann": 20, "Bob": 10}' Eve
"""

from __future__ import annotations

import sqlite3
from contextlib import AsyncExitStack, closing
from pathlib import Path

from flowpy import activity, uuid4, workflow


class Refused(Exception):
    """The bank does not do this."""


@activity(start_to_close_timeout="1m")
def create(database: Path, balances: dict[str, int]) -> None:
    """Open accounts, each with its first balance in cents."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE account (name PRIMARY KEY, cents)")
        connection.execute("CREATE TABLE movement (key PRIMARY KEY, account, cents)")
        connection.executemany("INSERT INTO account VALUES (?, ?)", balances.items())


@activity(start_to_close_timeout="1m", on_cancel="wait")
def move(database: Path, key: str, account: str, cents: int) -> None:
    """Change the balance of an account, once for each key.

    Raises:
        Refused: There is no such account, or it has not that much.
    """
    with closing(sqlite3.connect(database)) as connection, connection:
        if connection.execute("SELECT 1 FROM movement WHERE key = ?", (key,)).fetchone():
            return
        connection.execute("INSERT INTO movement (key, account, cents) VALUES (?, ?, ?)", (key, account, cents))
        change = "UPDATE account SET cents = cents + ? WHERE name = ? AND cents + ? >= 0"
        if not connection.execute(change, (cents, account, cents)).rowcount:
            raise Refused(f"{account} cannot have {cents:+} cents")


@activity(start_to_close_timeout="1m")
def take_back(database: Path, key: str) -> None:
    """Undo what was done with a key, and let nothing be done with it any more."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT OR IGNORE INTO movement (key, cents) VALUES (?, 0)", (key,))
        account, cents = connection.execute("SELECT account, cents FROM movement WHERE key = ?", (key,)).fetchone()
        connection.execute("UPDATE account SET cents = cents - ? WHERE name = ?", (cents, account))
        connection.execute("UPDATE movement SET cents = 0 WHERE key = ?", (key,))


@workflow
async def open_accounts(database: Path, balances: dict[str, int]) -> None:
    """Open the accounts that ``settle`` moves money between."""
    await create(database, balances)


@workflow
async def settle(database: Path, debts: dict[str, int], creditor: str) -> None:
    """Collect what each debtor owes and pay it out, or leave all as it was."""
    movements = [(debtor, -cents) for debtor, cents in debts.items()] + [(creditor, sum(debts.values()))]
    async with AsyncExitStack() as undo:
        for account, cents in movements:
            key = str(uuid4())
            undo.push_async_callback(take_back, database, key)
            await move(database, key, account, cents)
        undo.pop_all()

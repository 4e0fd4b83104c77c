"""Human task: a person does the work, and says when it is done.

The activity only files the question, together with the task token. Whoever answers, days later and in a program of
their own, completes the activity by that token; no worker waits meanwhile.

Flow's recipe: HumanTask.

    flowpy start --domain office samples.human_task:review questions.db "May Ann have a company car?"
    python -m samples.human_task questions.db 1 yes
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from flowpy import ActivityTimedOut, Client, activity, current_activity, workflow


@activity(manual=True, start_to_close_timeout="14d")
def ask(database: Path, question: str) -> str:
    """Put a question before people; whoever answers gives the result."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS question (number INTEGER PRIMARY KEY, text, token)")
        values = (question, current_activity().task_token)
        connection.execute("INSERT INTO question (text, token) VALUES (?, ?)", values)
    return ""  # of no account: the activity goes on


@workflow
async def review(database: Path, question: str) -> str:
    """Have a question answered; after two weeks the answer is no."""
    try:
        return await ask(database, question)
    except ActivityTimedOut:
        return "no"


def answer(client: Client, database: Path, number: int, text: str) -> None:
    """Answer a question; what a web page or a mail robot would do."""
    with closing(sqlite3.connect(database)) as connection, connection:
        (token,) = connection.execute("SELECT token FROM question WHERE number = ?", (number,)).fetchone()
        client.activity(token, ask).complete(text)
        connection.execute("DELETE FROM question WHERE number = ?", (number,))


if __name__ == "__main__":
    answer(Client("office"), Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

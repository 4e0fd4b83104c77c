"""The database: its tables, and how it is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final, Literal

__all__ = ["Synchronous", "open_database"]

Synchronous = Literal["NORMAL", "FULL"]

_FORMAT: Final = 1
_WAIT_SECONDS: Final = 1.0

_TABLES: Final = """
CREATE TABLE clock (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    now REAL NOT NULL,
    run_count INTEGER NOT NULL
);
CREATE TABLE domains (name PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE types (domain, kind TEXT, name, version, body TEXT NOT NULL, PRIMARY KEY (domain, kind, name, version))
    WITHOUT ROWID;
CREATE TABLE executions (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    domain NOT NULL,
    workflow_id NOT NULL,
    type_name NOT NULL,
    type_version NOT NULL,
    started REAL NOT NULL,
    closed REAL,
    close_status TEXT,
    expires REAL,
    fixed TEXT NOT NULL,
    state TEXT NOT NULL,
    length INTEGER NOT NULL
);
CREATE TABLE tags (domain, tag, number INTEGER, PRIMARY KEY (domain, tag, number)) WITHOUT ROWID;
CREATE TABLE events (execution INTEGER, first INTEGER, body TEXT NOT NULL, PRIMARY KEY (execution, first))
    WITHOUT ROWID;
CREATE TABLE open (execution INTEGER, event_id INTEGER, body TEXT NOT NULL, PRIMARY KEY (execution, event_id))
    WITHOUT ROWID;
CREATE TABLE effects (number INTEGER PRIMARY KEY, kind TEXT, run_id TEXT, event_id INTEGER, cause TEXT);

CREATE INDEX open_by_start ON executions (domain, started) WHERE closed IS NULL;
CREATE INDEX closed_by_start ON executions (domain, started) WHERE closed IS NOT NULL;
CREATE INDEX closed_by_close ON executions (domain, closed) WHERE closed IS NOT NULL;
CREATE INDEX closed_by_status ON executions (domain, close_status, closed) WHERE closed IS NOT NULL;
CREATE INDEX by_workflow_id ON executions (domain, workflow_id, started, closed);
CREATE INDEX by_type ON executions (domain, type_name, started, closed, type_version);
CREATE INDEX by_expiry ON executions (expires) WHERE closed IS NOT NULL;
"""
# Names have no declared type: those that are no valid Unicode are blobs, and equal only to themselves.


def open_database(path: str | Path, synchronous: Synchronous) -> sqlite3.Connection:
    """Opens a database for one engine alone; makes it if there is none.

    Args:
        path: Of the file, or ":memory:".
        synchronous: SQLite's setting of this name.

    Raises:
        OSError: The file cannot be opened, is in use by another engine, or holds something else.
    """
    try:
        # Commits are asked for by name: the module's own idea of when a transaction begins is not SWF's.
        database = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise OSError(
            f"cannot open the store {path}: {error}; does its directory exist, and may it be written?"
        ) from None
    try:
        _prepare(database, synchronous)
        _make_tables(database, path)
    except sqlite3.Error as error:
        database.close()
        busy = "locked" in str(error)
        hint = (
            "another engine has it open: stop that one, or give another path" if busy else "is it an SQLite database?"
        )
        raise OSError(f"cannot open the store {path}: {error}; {hint}") from None
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, synchronous: Synchronous) -> None:
    # An engine has part of the state in memory, so nobody else may write; the system drops the lock with the process.
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(f"PRAGMA synchronous = {synchronous}")
    database.execute("PRAGMA temp_store = MEMORY")


def _make_tables(database: sqlite3.Connection, path: str | Path) -> None:
    database.execute("BEGIN EXCLUSIVE")
    (found,) = database.execute("PRAGMA user_version").fetchone()
    if found == 0 and not database.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _TABLES.split(";"):
            database.execute(statement)
        database.execute("INSERT INTO clock VALUES (1, 0, 0)")
        database.execute(f"PRAGMA user_version = {_FORMAT}")
    elif found != _FORMAT:
        raise OSError(f"cannot open the store {path}: it has format {found}, not {_FORMAT}; give another path")
    database.execute("COMMIT")

"""Keeps the state of an embedded SWF in an SQLite database."""

from flowpy.local.store.sqlite import SQLiteStore

__all__ = ["SQLiteStore"]

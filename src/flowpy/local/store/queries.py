"""Lists and counts of executions, as SQL on the indexes made for them."""

from __future__ import annotations

from typing import Any

from flowpy.local.engine.query import Query
from flowpy.local.store.documents import key

__all__ = ["count_sql", "select_sql"]

Sql = tuple[str, list[Any]]


def _where(query: Query) -> Sql:
    at = "closed" if query.by_close else "started"
    conditions = ["domain = ?", f"closed IS {'NOT NULL' if query.closed else 'NULL'}", f"{at} >= ?"]
    values: list[Any] = [key(query.domain), query.oldest]
    for condition, value in (
        (f"{at} <= ?", query.latest),
        ("workflow_id = ?", query.workflow_id),
        ("type_name = ?", query.type_name),
        ("type_version = ?", query.type_version),
        ("close_status = ?", query.close_status),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(key(value) if isinstance(value, str) else value)
    if query.tag is not None:
        conditions.append("number IN (SELECT number FROM tags WHERE domain = ? AND tag = ?)")
        values += [key(query.domain), key(query.tag)]
    return " AND ".join(conditions), values


def select_sql(query: Query, columns: str, start: int, stop: int) -> Sql:
    """The statement for a list, and its values.

    Args:
        query: What is asked for.
        columns: To be selected.
        start: How many rows to leave out.
        stop: Where to end, as in a slice.
    """
    conditions, values = _where(query)
    at, direction = ("closed" if query.by_close else "started"), ("DESC" if query.newest_first else "ASC")
    order = f"{at} {direction}, number {direction} LIMIT ? OFFSET ?"
    # All that is put into the text is written in this module; what was asked for is bound.
    statement = f"SELECT {columns} FROM executions WHERE {conditions} ORDER BY {order}"  # noqa: S608
    return statement, [*values, stop - start, start]


def count_sql(query: Query) -> Sql:
    """The statement for a count, and its values."""
    conditions, values = _where(query)
    return f"SELECT count(*) FROM executions WHERE {conditions}", values  # noqa: S608

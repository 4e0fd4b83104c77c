"""``flowpy list``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import frozen

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.executions import Wanted, read_moment, row, selection_options
from flowpy.cli.printing import Column, Output, output_option

if TYPE_CHECKING:
    from flowpy.client import Client, Description

__all__ = ["list_"]

_CLOSE_STATUSES: Final = ("COMPLETED", "FAILED", "CANCELED", "TERMINATED", "CONTINUED_AS_NEW", "TIMED_OUT")
_STATUSES: Final = ("OPEN", "CLOSED", *_CLOSE_STATUSES, "ALL")
_COLUMNS: Final = (
    Column("STATUS", "status"),
    Column("STARTED (UTC)", "start_time", 19),
    Column("TYPE", "workflow_type"),
    Column("WORKFLOW ID", "workflow_id"),
)
_RUN_ID: Final = Column("RUN ID", "run_id")


@frozen
class _Times:
    until: datetime | None
    closed_since: datetime | None
    closed_until: datetime | None

    @property
    def by_close(self) -> bool:
        return self.closed_since is not None or self.closed_until is not None


@click.command("list")
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_STATUSES, case_sensitive=False),
    multiple=True,
    metavar="STATUS",
    help=f"{', '.join(map(str.lower, _STATUSES))}; may be repeated. Default open; with a time of the close, closed.",
)
@selection_options
@click.option("--until", type=read_moment, metavar="TIME", help="Only those started until then.")
@click.option("--closed-since", type=read_moment, metavar="TIME", help="Only those closed since then.")
@click.option("--closed-until", type=read_moment, metavar="TIME", help="Only those closed until then.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most that many; default all.")
@click.option("--count", is_flag=True, help="Print how many there are instead.")
@click.option("--run-ids", is_flag=True, help="Show the runIds too.")
@connection_options
@output_option
def list_(
    connection: Connection,
    output: Output,
    wanted: Wanted,
    statuses: tuple[str, ...],
    limit: int | None,
    run_ids: bool,
    count: bool,
    **times: datetime | None,
) -> None:
    """List executions, newest first, as they come: 1,000 with each call of the service.

    All filters may be given together. SWF applies one of them, the narrowest; the others are applied here.
    """
    chosen = _Times(**times)
    statuses = statuses or (("CLOSED",) if chosen.by_close else ("OPEN",))
    found = _listed(connection.client(), wanted, {status.upper() for status in statuses}, chosen)
    if count:
        number = sum(1 for _ in islice(found, limit))
        output.answer({"count": number}, str(number))
        return
    columns = (*_COLUMNS, _RUN_ID) if run_ids else _COLUMNS
    what = " or ".join(status.lower() for status in statuses)
    hint = "" if {"CLOSED", "ALL"} & set(statuses) else "; closed ones: --status closed"
    none = f"no {what} executions in domain {connection.domain!r} that fit{hint}"
    output.each(map(row, islice(found, limit)), columns, none=none)


def _listed(client: Client, wanted: Wanted, statuses: set[str], times: _Times) -> Iterator[Description]:
    filters: dict[str, Any] = {**wanted.filters(), "since": wanted.since, "until": times.until}
    lists: list[Iterator[Description]] = []
    if statuses & {"OPEN", "ALL"} and not times.by_close:
        lists.append(client.list_open(**filters))
    closed = set(_CLOSE_STATUSES) if statuses & {"CLOSED", "ALL"} else statuses & set(_CLOSE_STATUSES)
    if closed:
        only = next(iter(closed)) if len(closed) == 1 else None
        within: dict[str, Any] = {"closed_since": times.closed_since, "closed_until": times.closed_until}
        listed = client.list_closed(**filters, **within, status=only)
        lists.append(one for one in listed if one.close_status in closed)
    return merge(*lists, key=lambda one: one.start_time, reverse=True)

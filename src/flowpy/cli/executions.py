"""Executions as commands select and show them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click
from attrs import asdict, frozen

if TYPE_CHECKING:
    from flowpy.client import Description

__all__ = ["Wanted", "details", "named", "read_moment", "row", "selection_options"]

F = TypeVar("F", bound=Callable[..., Any])


def read_moment(text: str) -> datetime:
    """A point in time: so long ago (``2h``), or a date (``2026-11-30T08:00+01:00``), UTC without an offset."""
    from flowpy.declare.durations import seconds
    from flowpy.errors import DurationError

    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        try:
            return datetime.now(UTC) - timedelta(seconds=seconds(text, "time") or 0)
        except DurationError:
            message = f"{text!r} is neither so long ago (90m, 2h, 7d) nor a date (2026-11-30T08:00)"
            raise click.BadParameter(message) from None
    return made if made.tzinfo else made.replace(tzinfo=UTC)


@frozen
class Wanted:
    """Which executions a command is about.

    Attributes:
        workflow_id: Only those of this workflowId.
        type: Only those of a type: its name, or name and version with an ``@`` between.
        tags: Only those that have all of these tags.
        since: Only those started since then.
    """

    workflow_id: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None

    def filters(self) -> dict[str, Any]:
        """The same as the client's listings take it, but the time."""
        name, at, version = (self.type or "").partition("@")
        return {"workflow_id": self.workflow_id, "workflow": (name, version) if at else self.type, "tag": self.tags}


def selection_options(command: F) -> F:
    """Give a command ``--workflow-id``, ``--type``, ``--tag``, ``--since``, and the argument ``wanted``."""

    @click.option("--workflow-id", metavar="ID", help="Only those of this workflowId.")
    @click.option("--type", metavar="NAME[@VERSION]", help="Only those of this workflow type.")
    @click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only those with this tag; may be repeated.")
    @click.option(
        "--since", type=read_moment, metavar="TIME", help="Only those started since: 2h (ago), 2026-11-30T08:00."
    )
    @functools.wraps(command)
    def selecting(
        *args: Any,
        workflow_id: str | None,
        type: str | None,
        tags: tuple[str, ...],
        since: datetime | None,
        **rest: Any,
    ) -> Any:
        return command(*args, wanted=Wanted(workflow_id, type, tags, since), **rest)

    return selecting  # type: ignore[return-value]  # its keywords are those of the command and the options


def row(one: Description) -> dict[str, Any]:
    """An execution as data, in listings."""
    return {
        "workflow_id": one.workflow_id,
        "run_id": one.run_id,
        "workflow_type": named(*one.workflow_type),
        "status": one.close_status or one.status,
        "start_time": one.start_time,
        "close_time": one.close_time,
        "tag_list": list(one.tag_list),
        "cancel_requested": one.cancel_requested,
        "parent": None if one.parent is None else {"workflow_id": one.parent[0], "run_id": one.parent[1]},
    }


def details(one: Description) -> dict[str, Any]:
    """An execution as data, alone."""
    told = {"task_list": one.task_list, "open_counts": asdict(one.open_counts), "state": one.state}
    return row(one) | told | {"python": one.context.python}


def named(name: str, version: str) -> dict[str, str]:
    """A type as data."""
    return {"name": name, "version": version}

"""``flowpy verify``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.executions import Wanted, selection_options
from flowpy.cli.failing import Exit, Misuse
from flowpy.cli.importing import import_workflows
from flowpy.cli.printing import Output, output_option
from flowpy.errors import ServiceError

if TYPE_CHECKING:
    from flowpy.client import Client
    from flowpy.testing import Selection, Verification

__all__ = ["verify"]

_RATE: Final = "calls_per_second"


@click.command()
@click.argument("modules", metavar="MODULE")
@click.argument("stored", metavar="[FOLDER|FILE]", required=False, type=click.Path(exists=True, path_type=Path))
@selection_options
@click.option("--open", "most_open", type=click.IntRange(min=0), metavar="N", help="The newest N open ones; all.")
@click.option("--closed", "most_closed", type=click.IntRange(min=0), default=0, metavar="N", help="N closed ones too.")
@click.option(
    "--calls-per-second",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="N",
    help="Most calls of SWF.",
)
@click.option("--strict", is_flag=True, help="Take harmless differences for errors too.")
@connection_options
@output_option
def verify(
    connection: Connection,
    output: Output,
    modules: str,
    stored: Path | None,
    wanted: Wanted,
    most_open: int | None,
    most_closed: int,
    **checks: float,
) -> None:
    """Replay the executions of a domain, or stored histories, and say which the code here would not go on with.

    Only reads: nothing is written to the service. All open executions are read, or those that all options together
    name. Several modules have commas between.

    Exit code: 0 the code goes on with all; 3 it differs from a history; 1 a version is missing, or a history cannot be
    read; 4 MODULE has not the type of an open execution, which is not verified: name its module too, or choose by
    --type.
    """
    from flowpy.testing import Replayer

    if stored is not None and (wanted != Wanted() or most_open is not None or most_closed):
        message = "--type, --open and their like choose among the executions of a domain"
        raise Misuse(message, "leave them out: of stored histories all are verified")
    replayer = Replayer(import_workflows(modules), strict=bool(checks["strict"]))
    if stored is not None:
        sources: Any = stored if stored.is_dir() else [stored]
        total = sum(1 for _ in stored.rglob("*.json")) if stored.is_dir() else 1
        with output.progress("verifying", total) as advance:
            found = replayer.verify_all(sources, progress=lambda _: advance(1))
    else:
        client, selection, rate = connection.client(), _selection(wanted, most_open, most_closed), checks[_RATE]
        expected = _total(client, selection) if output.shows_progress else None
        with output.progress("verifying", expected) as advance:
            found = replayer.verify(client, selection, calls_per_second=rate, progress=lambda _: advance(1))
    output.answer(found.to_json(), str(found))
    if found.unknown:
        other = "" if stored is not None else ", or choose with --type"
        output.note(f"hint: name the modules that declare them too, with commas between{other}")
    click.get_current_context().exit(_exit(found))


def _selection(wanted: Wanted, most_open: int | None, most_closed: int) -> Selection:
    from flowpy.testing import Selection

    return Selection(**wanted.filters(), since=wanted.since, open=most_open, closed=most_closed)


def _total(client: Client, selection: Selection) -> int | None:
    """How many executions there are to read, where one call tells it."""
    if selection.closed or selection.open == 0 or (selection.workflow_id or selection.workflow or selection.tag):
        return None
    oldest = selection.since or datetime.fromtimestamp(0, UTC)
    request = {"domain": client.domain, "startTimeFilter": {"oldestDate": oldest}}
    try:
        reply = client.service.call("CountOpenWorkflowExecutions", request)
    except ServiceError:
        return None  # a policy may allow what is needed, and not this
    if reply.get("truncated"):
        return selection.open
    return int(reply["count"]) if selection.open is None else min(selection.open, int(reply["count"]))


def _exit(found: Verification) -> Exit:
    if found.total("differs"):
        return Exit.DIVERGED
    if not found.ok:
        return Exit.NO
    return Exit.NOT_FOUND if found.unknown else Exit.OK

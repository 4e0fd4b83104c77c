"""``flowpy history``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import frozen

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.failing import Misuse
from flowpy.cli.histories import FORMS, TIMES, file_name, lines, write
from flowpy.cli.naming import for_each, run_id_option
from flowpy.cli.printing import Column, Output, output_option

if TYPE_CHECKING:
    from flowpy.client import Client, Run

__all__ = ["history"]

_WRITTEN: Final = (Column("EVENTS", "events"), Column("FILE", "file"))


@click.command()
@click.argument("workflow_ids", nargs=-1, required=True, metavar="WORKFLOW_ID...")
@run_id_option
@click.option("--output", "-o", "target", type=click.Path(path_type=Path), metavar="PATH", help="File, or folder/.")
@click.option(
    "--form",
    type=click.Choice(list(FORMS)),
    default="object",
    show_default=True,
    help="An object that says whose events they are, a bare list, pages of 1,000, or an event a line.",
)
@click.option(
    "--times", type=click.Choice(list(TIMES)), default="iso", show_default=True, help="How times are written."
)
@click.option("--redact", is_flag=True, help="Replace all values by others like them.")
@click.option("--key", metavar="TEXT", help="With --redact: equal values become equal ones in all histories.")
@connection_options
@output_option
def history(
    connection: Connection,
    output: Output,
    workflow_ids: tuple[str, ...],
    run_id: str | None,
    target: Path | None,
    redact: bool,
    key: str | None,
    **written: str,
) -> None:
    """Download histories, to standard output or into files, in any form that flowpy reads.

    Several go into a folder, a file each, which flowpy replay and verify take. WORKFLOW_ID - stands for those that
    flowpy list --json prints, on standard input. What is not there is reported, and the others are downloaded all the
    same.
    """
    if key is not None and not redact:
        raise Misuse("--key is for --redact, which replaces the values", "give both")
    several = len(workflow_ids) > 1 or "-" in workflow_ids
    if several and target is None:
        raise Misuse("several executions need a folder to go to", "give --output FOLDER")
    folder = target is not None and (several or target.is_dir())
    client = connection.client()
    made: list[dict[str, Any]] = []

    def act(workflow_id: str, chosen: str | None) -> None:
        # A bar on a terminal that the history goes to as well would be in its way.
        bar = Output(as_json=True) if target is None and sys.stdout.isatty() else output
        found = _Download.of(client, client.run(workflow_id, chosen), bar)
        events = _redacted(found, key) if redact else found.events()
        if target is None:
            for line in lines(workflow_id, found.run_id, events, **written):
                click.echo(line)
            return
        file = target / file_name(workflow_id, found.run_id) if folder else target
        whole = list(events)  # the run may go on while it is read: what was written is what is told
        write(file, workflow_id, found.run_id, whole, **written)
        made.append({"workflow_id": workflow_id, "run_id": found.run_id, "file": str(file), "events": len(whole)})

    ending = for_each(output, workflow_ids, run_id, act)
    if target is not None:
        output.each(made, _WRITTEN, none="no executions")
    click.get_current_context().exit(ending)


def _redacted(found: _Download, key: str | None) -> list[dict[str, Any]]:
    from flowpy.testing import redact

    whole = {"workflowExecution": {"workflowId": found.workflow_id, "runId": found.run_id}}
    events: list[dict[str, Any]] = redact(whole | {"events": list(found.events())}, key=key)["events"]
    return events


@frozen
class _Download:
    """A history on its way here, with a bar that shows how much has come."""

    workflow_id: str
    run_id: str
    count: int
    read: Callable[[], Iterator[dict[str, Any]]]
    output: Output

    @classmethod
    def of(cls, client: Client, run: Run[Any], output: Output) -> _Download:
        """Look how long it is, which costs a call."""
        from flowpy.service.paging import history

        run_id = run.run_id or run.describe().run_id
        execution = {"workflowId": run.workflow_id, "runId": run_id}
        request = {"domain": client.domain, "execution": execution, "reverseOrder": True, "maximumPageSize": 1}
        last = client.service.call("GetWorkflowExecutionHistory", request)["events"][0]["eventId"]

        def read() -> Iterator[dict[str, Any]]:
            return history(client.service, client.domain, run.workflow_id, run_id)

        return cls(run.workflow_id, run_id, last, read, output)

    def events(self) -> Iterator[dict[str, Any]]:
        """The events as they come."""
        with self.output.progress(f"history of {self.workflow_id}", self.count) as advance:
            for event in self.read():
                yield event
                advance(1)

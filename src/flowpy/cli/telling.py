"""``flowpy signal``, ``cancel`` and ``terminate``: telling executions something."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.importing import import_workflow
from flowpy.cli.naming import for_each, run_id_option
from flowpy.cli.printing import Column, Output, output_option
from flowpy.cli.signals import doubt
from flowpy.cli.values import read_value
from flowpy.declare.keywords import ChildPolicy

if TYPE_CHECKING:
    from flowpy.client import Run

__all__ = ["cancel", "signal", "terminate"]

_TOLD: Final = (Column("DONE", "done"), Column("WORKFLOW ID", "workflow_id"))


@click.command()
@click.argument("workflow_id")
@click.argument("name")
@click.argument("value", required=False)
@run_id_option
@click.option("--code", metavar="MODULE:WORKFLOW", help="Say if a signal of nearly that name is declared there.")
@connection_options
@output_option
def signal(
    connection: Connection,
    output: Output,
    workflow_id: str,
    name: str,
    value: str | None,
    run_id: str | None,
    code: str | None,
) -> None:
    """Send a signal to an execution.

    VALUE is JSON if it parses as JSON, else text; without one it is null.
    """
    sent = None if value is None else read_value(value)
    if code is not None:
        doubt(output, import_workflow(code), name)
    run: Run[Any] = connection.client().run(workflow_id, run_id)
    run.signal(name, sent)
    output.answer({"workflow_id": workflow_id, "signal": name, "value": sent}, f"signal {name} sent to {workflow_id}")


@click.command()
@click.argument("workflow_ids", nargs=-1, required=True, metavar="WORKFLOW_ID...")
@run_id_option
@connection_options
@output_option
def cancel(connection: Connection, output: Output, workflow_ids: tuple[str, ...], run_id: str | None) -> None:
    """Ask executions to stop: their code gets CancelledError, cleans up, and decides.

    WORKFLOW_ID - stands for those that flowpy list --json prints, on standard input. What is not open is reported, and
    the others are asked all the same.
    """
    _tell(connection, output, workflow_ids, run_id, "cancel requested", lambda run: run.cancel())


@click.command()
@click.argument("workflow_ids", nargs=-1, required=True, metavar="WORKFLOW_ID...")
@run_id_option
@click.option("--reason", default="", metavar="TEXT", help="Why, for the history; at most 256 characters.")
@click.option("--details", metavar="VALUE", help="More on it; JSON if it parses as JSON, else text.")
@click.option(
    "--child-policy", type=click.Choice(get_args(ChildPolicy)), help="What becomes of children; default as started."
)
@connection_options
@output_option
def terminate(
    connection: Connection,
    output: Output,
    workflow_ids: tuple[str, ...],
    run_id: str | None,
    reason: str,
    details: str | None,
    child_policy: str | None,
) -> None:
    """End executions at once: their code is not asked and cleans nothing up. flowpy cancel asks it.

    WORKFLOW_ID - stands for those that flowpy list --json prints, on standard input. What is not open is reported, and
    the others are ended all the same.
    """
    value, policy = None if details is None else read_value(details), cast("ChildPolicy | None", child_policy)
    _tell(connection, output, workflow_ids, run_id, "terminated", lambda run: run.terminate(reason, value, policy))


def _tell(
    connection: Connection,
    output: Output,
    workflow_ids: tuple[str, ...],
    run_id: str | None,
    done: str,
    tell: Callable[[Run[Any]], None],
) -> None:
    client = connection.client()

    told: list[str] = []

    def act(workflow_id: str, chosen: str | None) -> None:
        told.append(workflow_id)
        tell(client.run(workflow_id, chosen))
        output.answer({"workflow_id": workflow_id, "done": done}, f"{done}: {workflow_id}", compact=True)

    ending = for_each(output, workflow_ids, run_id, act)
    if not told:
        output.note("no executions")
    click.get_current_context().exit(ending)

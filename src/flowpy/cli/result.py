"""``flowpy result``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.naming import run_id_option
from flowpy.cli.printing import Output, output_option
from flowpy.cli.values import shown
from flowpy.declare.durations import seconds

if TYPE_CHECKING:
    from flowpy.client import Run

__all__ = ["result", "timeout_option", "wait_for"]


def _checked(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse what is no duration before anything is started."""
    if value is not None:
        seconds(value, "--timeout")
    return value


timeout_option = click.option(
    "--timeout",
    metavar="DURATION",
    callback=_checked,
    help="Longest wait, such as 1h; 0 looks once. Default for ever.",
)
"""``--timeout`` of commands that wait for a result."""


@click.command()
@click.argument("workflow_id")
@run_id_option
@timeout_option
@connection_options
@output_option
def result(connection: Connection, output: Output, workflow_id: str, run_id: str | None, timeout: str | None) -> None:
    """Wait for the end of an execution, and print its result.

    One that continues as new is followed to its end.

    Exit code: 0 it completed; 1 it failed, was canceled or terminated, or timed out; 8 it is still open.
    """
    wait_for(output, connection.client().run(workflow_id, run_id), timeout)


def wait_for(output: Output, run: Run[Any], timeout: str | None) -> None:
    """Print the result of an execution, which is that of its last run."""
    last = run.last(timeout)
    value = last.result()
    output.answer({"workflow_id": last.workflow_id, "run_id": last.run_id, "result": value}, shown(value))

"""``flowpy run``."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flowpy.cli.executions import named
from flowpy.cli.failing import Misuse
from flowpy.cli.importing import import_workflow
from flowpy.cli.printing import Output, output_option
from flowpy.cli.signals import doubt
from flowpy.cli.values import bind, input_options, read_value, shown

if TYPE_CHECKING:
    from flowpy.declare import Workflow
    from flowpy.testing import Environment, EnvironmentRun

__all__ = ["run"]

F = TypeVar("F", bound=Callable[..., Any])


def _named_values(
    context: click.Context, option: click.Parameter, given: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Refuse an option that was taken for the value that was forgotten."""
    options = {name for one in context.command.params for name in (*one.opts, *one.secondary_opts)}
    for name, value in given:
        if value.startswith("-") and value in options:
            form = f"{option.opts[0]} {option.metavar}"
            raise Misuse(
                f"{option.opts[0]} {name}: {value} is an option and no value", f"{context.command_path} {form}"
            )
    return given


def _pairs(option: str, name: str, metavar: str, help: str) -> Callable[[F], F]:
    return click.option(option, name, nargs=2, metavar=metavar, multiple=True, help=help, callback=_named_values)


@click.command()
@click.argument("workflow", metavar="MODULE:WORKFLOW")
@input_options
@_pairs("--signal", "signals", "NAME VALUE", "Send a signal; may be repeated.")
@_pairs("--stub", "stubs", "NAME RESULT", "What an activity, child or Lambda gives.")
@click.option("--workflow-id", metavar="ID", help="Its workflowId; default its name and a number.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Store its history.")
@click.option("--strict", is_flag=True, help="Refuse calls that no replay can repeat.")
@click.option("--verbose", "-v", is_flag=True, help="Show what the workflow and its activities log.")
@output_option
def run(
    output: Output,
    workflow: str,
    arguments: tuple[str, ...],
    exact: str | None,
    signals: tuple[tuple[str, str], ...],
    stubs: tuple[tuple[str, str], ...],
    workflow_id: str | None,
    save: Path | None,
    **switches: bool,
) -> None:
    """Run a workflow from start to end in this process, with an SWF and a worker of its own.

    No server, no AWS. Activities really run; time is virtual, so that a sleep of a month takes no time. At the end the
    history is replayed up to each of its decisions, as in a test.

    ARGUMENTS are JSON if they parse as JSON, else text, each read as the type that the workflow's signature gives it;
    NAME=VALUE gives the parameter of that name.
    """
    from flowpy.testing import Environment

    if switches["verbose"]:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    declared = import_workflow(workflow)
    args, kwargs = bind(arguments, declared.signature, exact)
    warnings.filterwarnings("ignore", "stub .*: nothing of that name was called")  # it is a note of the command's
    with Environment(strict=switches["strict"]) as swf:
        for name, value in stubs:
            swf.stub(name, returns=read_value(value))
        handle = swf.start(declared, *args, workflow_id=workflow_id, kwargs=kwargs)
        try:
            for name, value in signals:
                doubt(output, declared, name)
                handle.signal(name, read_value(value))
            result = handle.result()
        finally:
            for name, advice in swf.unused_stubs().items():
                output.note(f"--stub {name}: nothing of that name was called{advice}")
            if save is not None:
                _store(output, handle, save, is_failing=sys.exc_info()[0] is not None)
    _tell(output, swf, handle, declared, result)


def _store(output: Output, handle: EnvironmentRun[Any], file: Path, *, is_failing: bool) -> None:
    from flowpy.cli.histories import write

    try:
        write(file, handle.workflow_id, handle.run_id or "", handle.history())
    except OSError as error:
        if not is_failing:
            raise
        # What became of the run is what was asked for; it must not be lost for a file.
        output.note(f"{error.filename}: {error.strerror}: the history is not stored")


def _tell(
    output: Output, swf: Environment, handle: EnvironmentRun[Any], workflow: Workflow[..., Any], result: Any
) -> None:
    plain = swf.client.converter.plain(result)
    told, events = handle.describe(), len(handle.history())
    data = {
        "workflow_id": handle.workflow_id,
        "run_id": handle.run_id,
        "workflow_type": named(workflow.name, workflow.version),
        "status": told.close_status,
        "result": plain,
        "events": events,
        "virtual_seconds": (swf.now() - told.start_time).total_seconds(),
    }
    output.note(f"{handle.workflow_id} completed after {swf.now() - told.start_time} of virtual time, {events} events")
    output.answer(data, shown(plain))

"""The executions that a command names, one by one: by workflowId, or as ``flowpy list --json`` prints them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import click

from flowpy.cli.failing import Exit, Misuse, failure
from flowpy.errors import UnknownResource

if TYPE_CHECKING:
    from flowpy.cli.printing import Output

__all__ = ["for_each", "run_id_option"]

Named: TypeAlias = tuple[str, str | None]
"""A workflowId and a runId; None: the open run, else the one that closed last."""

run_id_option = click.option("--run-id", metavar="ID", help="Its runId; default the open run, else the last one.")
"""``--run-id`` of commands that talk to one execution."""


def for_each(
    output: Output, workflow_ids: tuple[str, ...], run_id: str | None, act: Callable[[str, str | None], None]
) -> Exit:
    """Do something with each execution that a command names; if they are several, what is not there stops no other.

    Args:
        output: Where what is not there is told.
        workflow_ids: WorkflowIds; ``-`` stands for those that ``flowpy list --json`` prints, on standard input.
        run_id: The runId, if there is one workflowId only.
        act: Called with each workflowId and runId.

    Returns:
        How the command ends.

    Raises:
        UnknownResource: There is one only, and it is not there.
        click.UsageError: There is a runId and more than one execution, or the input is something else.
    """
    ending = Exit.OK
    for workflow_id, chosen in _each_execution(workflow_ids, run_id):
        try:
            act(workflow_id, chosen)
        except UnknownResource as error:
            told = failure(error, as_json=output.as_json)
            if told is None or (len(workflow_ids) == 1 and "-" not in workflow_ids):
                raise
            told.show()
            ending = Exit.NOT_FOUND
    return ending


def _each_execution(workflow_ids: tuple[str, ...], run_id: str | None) -> Iterator[Named]:
    """Name them one by one."""
    if run_id is not None and (len(workflow_ids) > 1 or "-" in workflow_ids):
        raise Misuse("--run-id is of one execution", "give one WORKFLOW_ID")
    for workflow_id in workflow_ids:
        if workflow_id == "-":
            yield from map(_read_row, filter(str.strip, sys.stdin))
        else:
            yield workflow_id, run_id


def _read_row(line: str) -> Named:
    try:
        told = json.loads(line)
        return str(told["workflow_id"]), str(told["run_id"])
    except (ValueError, KeyError, TypeError) as error:
        message = f"standard input has no executions as flowpy list --json prints them: {line.strip()[:60]}"
        raise click.UsageError(message) from error

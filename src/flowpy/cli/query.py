"""``flowpy query``."""

from __future__ import annotations

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.failing import Failure, Misuse, place_of
from flowpy.cli.importing import import_workflows
from flowpy.cli.naming import run_id_option
from flowpy.cli.printing import Output, output_option
from flowpy.cli.values import bind, shown
from flowpy.declare.names import did_you_mean
from flowpy.errors import FlowpyError

__all__ = ["query"]


@click.command()
@click.argument("modules", metavar="MODULE")
@click.argument("workflow_id")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[ARGUMENTS]...")
@run_id_option
@connection_options
@output_option
def query(
    connection: Connection,
    output: Output,
    modules: str,
    workflow_id: str,
    name: str,
    arguments: tuple[str, ...],
    run_id: str | None,
) -> None:
    """Call a @query method of an execution's workflow object, as it is now.

    The history is replayed here, with the code of MODULE: no worker is asked. Several modules have commas between.

    Exit code: 3 the code here does not match the history.
    """
    from flowpy.runtime.decider import Workflows

    workflows = Workflows(import_workflows(modules))
    client = connection.client()
    told = client.run(workflow_id, run_id).describe()
    workflow = workflows.find(*told.workflow_type)
    attribute = workflow.queries.get(name)
    if attribute is None:
        known = ", ".join(sorted(workflow.queries))
        remedy = f"it has {known}" if known else "mark a method of its class with @query"
        raise Misuse(f"workflow {workflow.name} has no query {name!r}{did_you_mean(name, workflow.queries)}", remedy)
    args, kwargs = bind(arguments, workflow.signatures[attribute])
    if kwargs:
        raise Misuse("queries take their arguments by position", "leave out the names")
    try:
        value = client.converter.plain(client.run(workflow_id, told.run_id, workflow=workflow).query(name, *args))
    except FlowpyError:
        raise
    except Exception as error:
        raise Failure(f"query {name!r} raised {type(error).__name__}: {error}{place_of(error)}", error=error) from error
    output.answer({"workflow_id": workflow_id, "run_id": told.run_id, "query": name, "result": value}, shown(value))

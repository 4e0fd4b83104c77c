"""``flowpy start``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, get_args

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.executions import named
from flowpy.cli.failing import Exit, Failure, Misuse
from flowpy.cli.importing import import_workflow
from flowpy.cli.printing import Output, output_option
from flowpy.cli.result import timeout_option, wait_for
from flowpy.cli.values import bind, input_options
from flowpy.declare.keywords import ChildPolicy
from flowpy.errors import ResultNotReady

if TYPE_CHECKING:
    from flowpy.client import Run

__all__ = ["start"]


@click.command()
@click.argument("workflow", metavar="MODULE:WORKFLOW|TYPE")
@input_options
@click.option("--version", metavar="TEXT", help="Version of a type given by its name; default 1.0.")
@click.option("--workflow-id", metavar="ID", help="Its workflowId, unique among open executions; default a UUID.")
@click.option("--attach", is_flag=True, help="If that workflowId is open already, go on with that execution.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; may be repeated, five at most.")
@click.option("--task-list", metavar="NAME", help="Task list of its decision tasks.")
@click.option("--task-priority", type=int, metavar="N", help="Priority of its decision tasks.")
@click.option("--child-policy", type=click.Choice(get_args(ChildPolicy)), help="What becomes of its children.")
@click.option("--lambda-role", metavar="ARN", help="Role that Lambda functions are invoked with.")
@click.option("--execution-start-to-close-timeout", metavar="DURATION", help="Longest life, such as 30d.")
@click.option("--task-start-to-close-timeout", metavar="DURATION", help="Longest time for one decision, such as 30s.")
@click.option("--wait", is_flag=True, help="Wait for the result and print it.")
@timeout_option
@connection_options
@output_option
def start(
    connection: Connection,
    output: Output,
    workflow: str,
    arguments: tuple[str, ...],
    exact: str | None,
    wait: bool,
    timeout: str | None,
    attach: bool,
    **options: Any,
) -> None:
    """Start an execution of a workflow; some worker, here or elsewhere, runs it.

    MODULE:WORKFLOW is a workflow in your code, whose signature tells the types of the ARGUMENTS. TYPE is the name of a
    registered type: nothing is imported.

    ARGUMENTS are JSON if they parse as JSON, else text; NAME=VALUE gives the parameter of that name.
    """
    if timeout is not None and not wait:
        raise Misuse("--timeout is for --wait, which waits for the result", "give both")
    client, version = connection.client(), options.pop("version")
    given = {name: value for name, value in options.items() if value is not None and name != "tags"}
    if options["tags"]:
        given["tag_list"] = list(options["tags"])
    run: Run[Any]
    if ":" in workflow:
        if version is not None:
            raise Misuse("--version is for a type given by its name: the code has its own", "leave it out")
        declared = import_workflow(workflow)
        args, kwargs = bind(arguments, declared.signature, exact)
        run = client.start(declared, *args, kwargs=kwargs, attach=attach, **given)
        type_ = (declared.name, declared.version)
    else:
        type_ = (workflow, version or "1.0")
        args, kwargs = bind(arguments, None, exact)
        run = client.start(workflow, *args, version=type_[1], kwargs=kwargs, attach=attach, **given)
    if wait:
        try:
            wait_for(output, run, timeout)
        except ResultNotReady as error:
            remedy = f"it is started and goes on: flowpy result {shlex.quote(run.workflow_id)} waits for it"
            raise Failure(error.what, Exit.NOT_READY, remedy, error=error) from error
    else:
        data = {"workflow_id": run.workflow_id, "run_id": run.run_id, "workflow_type": named(*type_)}
        output.answer(data)

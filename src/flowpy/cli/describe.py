"""``flowpy describe``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.executions import details
from flowpy.cli.naming import run_id_option
from flowpy.cli.printing import Output, output_option
from flowpy.cli.values import read_value

if TYPE_CHECKING:
    from flowpy.client import Client

__all__ = ["describe"]

_ENDED: Final = ("result", "reason", "details", "cause", "timeoutType", "newExecutionRunId")
"""What the event that closes an execution may say."""


@click.command()
@click.argument("workflow_id")
@run_id_option
@connection_options
@output_option
def describe(connection: Connection, output: Output, workflow_id: str, run_id: str | None) -> None:
    """Show what SWF knows of an execution: its input, what it has open, its state, how it ended.

    The state is what the workflow publishes with flowpy.set_state. Exit code: 4 there is no such execution.
    """
    client = connection.client()
    told = client.run(workflow_id, run_id).describe()
    data = details(told)
    data["open_counts"] = {name: count for name, count in data["open_counts"].items() if count}
    started, last = (_event(client, workflow_id, told.run_id, reverse) for reverse in (False, True))
    data["input"] = _value(started.get("input"))
    if told.close_time is not None:
        data |= {_snake(name): _value(last[name]) for name in _ENDED if name in last}
    output.answer(data)


def _event(client: Client, workflow_id: str, run_id: str, reverse: bool) -> dict[str, Any]:
    """The attributes of the first event, or of the last one: a call that costs little."""
    execution = {"workflowId": workflow_id, "runId": run_id}
    request = {"domain": client.domain, "execution": execution, "reverseOrder": reverse, "maximumPageSize": 1}
    (event,) = client.service.call("GetWorkflowExecutionHistory", request)["events"]
    return next((value for name, value in event.items() if name.endswith("EventAttributes")), {})


def _value(text: str | None) -> Any:
    return None if text is None else read_value(text)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)

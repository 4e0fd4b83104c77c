"""Queries: the run's history is replayed on a copy, and a method of the workflow's object looks at the result."""

from __future__ import annotations

from typing import Any

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.workflow import Workflow
from flowpy.errors import CallError
from flowpy.history.events import Event
from flowpy.runtime.run import Run


def query(
    workflow: Workflow[..., Any],
    events: list[Event],
    workflow_id: str,
    run_id: str,
    name: str,
    args: tuple[Any, ...] = (),
    *,
    converter: Converter = DEFAULT,
) -> Any:
    """Call a ``@query`` method on the state a run is in after its last decision.

    Args:
        workflow: The declared workflow, a class.
        events: The run's history.
        workflow_id: Its workflowId.
        run_id: Its runId.
        name: Name of the query.
        args: Arguments of the method.
        converter: Reads payloads.

    Raises:
        CallError: There is no such query.
        ReadOnly: The method tried to decide, await or record.
        NonDeterminismError: The code does not match the history.
    """
    _attribute(workflow, name)
    run = Run(workflow, workflow_id, run_id, converter=converter)
    try:
        run.feed(events, decide=False)
        return ask(run, name, args)
    finally:
        run.evict()


def ask(run: Run, name: str, args: tuple[Any, ...]) -> Any:
    """Call a ``@query`` method on a run in memory, which decides nothing any more.

    Raises:
        CallError: There is no such query, or the run has no object to ask: its code has not begun.
        ReadOnly: The method tried to decide, await or record.
    """
    attribute = _attribute(run.workflow, name)
    if run.instance is None:
        raise CallError(f"query {name!r} has nothing to look at: no decision task of the run was decided yet")
    run.read_only = True
    with run.loop.running():
        return run.base_context.run(getattr(run.instance, attribute), *args)


def _attribute(workflow: Workflow[..., Any], name: str) -> str:
    attribute = workflow.queries.get(name)
    if attribute is None:
        known = ", ".join(sorted(workflow.queries)) or "none"
        raise CallError(
            f"workflow {workflow.name} has no query {name!r} (it has: {known})", remedy="mark a method with @query"
        )
    return attribute

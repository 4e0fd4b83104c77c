"""How a run begins: its WorkflowExecutionStarted event becomes a main task."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import evolve

from flowpy.data.arguments import Arguments, decode_arguments
from flowpy.declare.signals import Signal
from flowpy.errors import ContinueAsNew
from flowpy.history.malformed import text_of, time_of
from flowpy.runtime.intercepting import surrounding
from flowpy.runtime.plain import call
from flowpy.runtime.values import settled

if TYPE_CHECKING:
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run


def begin(run: Run, event: Event) -> None:
    """Read the input, make the workflow's object if it is a class, and start the main task.

    Input that does not fit the signature fails the run, with a reason that names the argument.
    """
    run.started = attributes = event["workflowExecutionStartedEventAttributes"]
    parent = attributes.get("parentWorkflowExecution") or {}
    recorded = attributes.get("workflowType") or {}
    run.execution.recorded_workflow = recorded.get("name", ""), recorded.get("version", "")
    run.info = evolve(
        run.info,
        task_list=attributes.get("taskList", {}).get("name", ""),
        tag_list=tuple(attributes.get("tagList") or ()),
        started_at=dt.datetime.fromtimestamp(time_of(event), dt.UTC),
        parent_workflow_id=parent.get("workflowId"),
        parent_run_id=parent.get("runId"),
        continued_run_id=attributes.get("continuedExecutionRunId"),
        execution_start_to_close_timeout=attributes.get("executionStartToCloseTimeout"),
        task_start_to_close_timeout=attributes.get("taskStartToCloseTimeout"),
    )
    text = text_of(attributes, "input")
    if text:
        text = run.converter.payloads.open(text, f"input of event {event['eventId']}")
    try:
        arguments = decode_arguments(text, run.workflow.signature, run.converter)
        function = _function(run)
    except Exception as error:
        # Also what the constructor of a workflow class raises: it is workflow code.
        run.outcome.fail(error)
        return
    for signal in arguments.signals:
        raw = signal.get("input")
        # Carried as it was received: encoded, or kept in a store.
        given = raw and run.converter.payloads.open(raw, f"the carried signal {signal['name']}")
        run.signals.arrive(signal["name"], given, raw=raw)
    run.main = run.loop.spawn(
        _main(run, function, arguments), path="", context=run.base_context.copy(), name=run.workflow.name
    )


def _function(run: Run) -> Callable[..., Any]:
    """What runs: the function, or the method of a new object whose signal methods are handlers from the start."""
    workflow = run.workflow
    if workflow.cls is None:
        return workflow.fn
    run.instance = workflow.cls()
    for name, attribute in workflow.signal_handlers.items():
        signature = workflow.signatures[attribute]
        parameters = signature.positional
        type_ = signature.type_of(parameters[0].name) if parameters else Any
        run.signals.set_handler(Signal(name, type_), getattr(run.instance, attribute))
    function: Callable[..., Any] = getattr(run.instance, workflow.execute_name)
    return function


async def _main(run: Run, function: Callable[..., Any], arguments: Arguments) -> Any:
    try:
        if run.workflow.arounds:
            value = await surrounding(run.workflow, function, arguments.args, arguments.kwargs)
        else:
            value = await call(function, run.workflow.is_async, arguments.args, arguments.kwargs)
    except (ContinueAsNew, BaseExceptionGroup) as error:
        leaving = _only_leaving(error)
        if leaving is None:
            raise
        await leaving.call.settle(run)
        raise leaving from None
    return await settled(run.loop, value)


def _only_leaving(error: BaseException) -> ContinueAsNew | None:
    """The ``continue_as_new`` that an error is, or that an ``async with TaskGroup()`` around it has made a group of."""
    if isinstance(error, BaseExceptionGroup):
        return _only_leaving(error.exceptions[0]) if len(error.exceptions) == 1 else None
    return error if isinstance(error, ContinueAsNew) else None

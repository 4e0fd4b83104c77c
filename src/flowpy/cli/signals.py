"""Signals as the user's code declares them, to find a misspelt name before somebody waits for what never comes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from flowpy.declare.names import RESERVED, did_you_mean
from flowpy.declare.signals import Signal

if TYPE_CHECKING:
    from flowpy.cli.printing import Output
    from flowpy.declare import Workflow

__all__ = ["doubt"]


def doubt(output: Output, workflow: Workflow[..., Any], name: str) -> None:
    """Tell of a signal that nearly is one that the workflow's module declares; sent it is all the same.

    Names may be made while a run goes on, so a name that is not declared is no mistake by itself.

    Args:
        output: Where it is told.
        workflow: The workflow that gets it.
        name: Its name.
    """
    known = _declared(workflow)
    if name in known or name.startswith(RESERVED):
        return
    advice = did_you_mean(name, known)
    if advice:
        output.note(f"signal {name!r}: nothing declares it where workflow {workflow.name} is{advice}")


def _declared(workflow: Workflow[..., Any]) -> set[str]:
    """The signals that a workflow's class, and its module by name, have."""
    module = inspect.getmodule(workflow.fn)
    there = (*vars(module).values(), *vars(workflow.fn).values()) if module is not None else ()
    return {value.name for value in there if isinstance(value, Signal)} | set(workflow.signal_handlers)

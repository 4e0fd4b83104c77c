"""A recorded history as a test: which workflow it is of, and what to show if it does not replay."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from flowpy.declare.workflow import Workflow
from flowpy.errors import NonDeterminismError
from flowpy.runtime.replaying import Replay
from flowpy.testing.replaying import replay
from flowpy.testing.sources import read_source
from flowpy.testing.timeline import timeline

__all__ = ["replay_recorded", "workflows_in"]


def replay_recorded(workflow: Any, source: Any, **options: Any) -> Replay:
    """Replay a history as ``flowpy.testing.replay`` does; an error shows the history too.

    Args:
        workflow: The workflow, or several.
        source: Whatever ``flowpy.testing.replay`` takes.
        **options: Its options.

    Raises:
        NonDeterminismError: The code does not match the history.
        HistoryError: The source is no history.
        UnknownWorkflowType: None of the workflows is of the history's type.
    """
    history = read_source(source, options.pop("workflow_id", None), options.pop("run_id", None))
    try:
        return replay(workflow, history.events, workflow_id=history.workflow_id, run_id=history.run_id, **options)
    except NonDeterminismError as error:
        error.add_note("the history:\n" + timeline(history.events))
        raise


def workflows_in(modules: Iterable[str]) -> list[Workflow[..., Any]]:
    """The workflows that modules declare or import, each once.

    Args:
        modules: Names of modules.

    Raises:
        ImportError: One cannot be imported.
    """
    found = {
        (value.name, value.version): value
        for name in modules
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, Workflow)
    }
    return list(found.values())

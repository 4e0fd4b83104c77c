"""The process that replays under a hash seed of its own: requests on standard input, answers on standard output."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from types import ModuleType
from typing import Any

from flowpy.data.converter import DEFAULT
from flowpy.declare.workflow import Workflow
from flowpy.errors import NonDeterminismError
from flowpy.history.reader import read_history
from flowpy.testing.live import Live
from flowpy.testing.prefixes import replay_prefixes

__all__ = ["main"]


def main() -> None:
    """Answer requests until there are no more."""
    # What modules and workflows print must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        json.dump(_answer(json.loads(line)), answers)
        answers.write("\n")
        answers.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        _replay(request)
    except Exception as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        diverged = isinstance(error, NonDeterminismError)
        divergence = getattr(error, "divergence", None)
        return {"error": text, "diverged": diverged, "divergence": divergence and divergence.to_json()}
    return {"error": None}


def _replay(request: dict[str, Any]) -> None:
    sys.path[:] = request["path"]
    workflow = _workflow(_module(request["module"], request["file"]), *request["type"])
    events = read_history(request["events"]).events
    live = Live(workflow, request["workflow_id"], request["run_id"], DEFAULT, events)
    live.answers.update((started, decisions) for started, decisions in request["answers"])
    replay_prefixes(live)


def _module(name: str, file: str | None) -> ModuleType:
    module = sys.modules.get(name)
    if module is not None and name != "__main__":
        return module
    try:
        module = importlib.import_module(name)
    except ImportError:
        module = None
    if module is not None and (file is None or getattr(module, "__file__", None) == file):
        return module
    if file is None:
        raise LookupError(f"module {name} cannot be imported in another process")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _workflow(module: ModuleType, name: str, version: str) -> Workflow[..., Any]:
    for value in vars(module).values():
        if isinstance(value, Workflow) and (value.name, value.version) == (name, version):
            return value
    raise LookupError(
        f"workflow {name} {version} is not found in module {module.__name__}: another process can replay only what "
        "is declared at the top of a module"
    )


if __name__ == "__main__":
    main()

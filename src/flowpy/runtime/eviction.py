"""Leaving memory: suspended code is closed on the thread that owns it, and never acts again (law L10)."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Final

from flowpy.runtime.plain import TRIES

if TYPE_CHECKING:
    from flowpy.runtime.run import Run
    from flowpy.runtime.task import Task

_log: Final = logging.getLogger("flowpy.run")

PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"

undead: Final[list[Task[Any]]] = []
"""Tasks whose code refused to die: kept for the life of the process, since collecting them would run it again."""


def evict(run: Run) -> None:
    """Close every task of a run in its own context, with decisions refused."""
    if run.dead:
        return
    run.dead = True
    loop = run.loop
    with loop.running():
        loop.task = None
        loop.ready.clear()
        for task in sorted((*run.tasks, *run.detached), key=lambda task: task._number):
            if not any(task.kill() for _ in range(TRIES)):
                undead.append(task)
                _log.error(
                    "%s (%s): code of %s refuses to be closed at %s; it is kept in memory: do not swallow "
                    "GeneratorExit, catch Exception instead of BaseException",
                    run.info.workflow_id,
                    run.info.workflow_type,
                    task.get_name(),
                    _where(task),
                )
        loop.ready.clear()
    run.tasks.clear()
    run.detached.clear()
    run.open_calls.clear()


def _where(task: Task[Any]) -> str:
    frame = getattr(task.coroutine, "cr_frame", None)
    while frame is not None:
        inner = getattr(getattr(frame, "f_locals", {}).get("awaited"), "cr_frame", None)
        if inner is None:
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = inner
    return "an unknown line"

"""Leaving memory: suspended code is closed on the thread that owns it, and never acts again (law L10)."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Final

from flowpy.runtime.sites import suspended_at
from flowpy.runtime.undead import keep, undead

if TYPE_CHECKING:
    from flowpy.runtime.run import Run
    from flowpy.runtime.task import Task

_log: Final = logging.getLogger("flowpy.run")

PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


async def sleep_for_ever() -> None:
    """What a task that is never stepped runs."""


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
            before = len(undead)
            for coroutine in task.kill():
                keep(coroutine)
            if len(undead) > before:
                _report(run, task, undead[before])
        loop.ready.clear()
    run.tasks.clear()
    run.detached.clear()
    run.open_calls.clear()
    if run.ghost is not None:
        run.ghost.coroutine.close()


def _report(run: Run, task: Task[Any], suspended: Any) -> None:
    line = suspended_at(suspended)
    _log.error(
        "%s (%s): code of %s refuses to be closed at %s; it is kept in memory: do not swallow GeneratorExit or "
        "GreenletExit, catch Exception instead of BaseException",
        run.info.workflow_id,
        run.info.workflow_type,
        task.get_name(),
        f"{line.file}:{line.line} in {line.function}" if line is not None else "an unknown line",
    )

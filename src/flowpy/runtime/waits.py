"""Who waits for what, and where: the asynchronous stack of a run, for reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from attrs import frozen

from flowpy.replay.divergence import CodeLine
from flowpy.replay.entities import CREATED
from flowpy.runtime.activities import ActivityCall
from flowpy.runtime.children import ChildCall
from flowpy.runtime.external import ExternalCall
from flowpy.runtime.lambdas import LambdaCall
from flowpy.runtime.signals import ReceiveCall
from flowpy.runtime.sites import stack_of
from flowpy.runtime.task import Task
from flowpy.runtime.timers import SleepCall

if TYPE_CHECKING:
    from flowpy.runtime.run import Run

__all__ = ["Wait", "pending", "waits"]


@frozen
class Wait:
    """A task of a run that is suspended.

    Attributes:
        task: Its name; that of the main task is the workflow's.
        awaits: What it waits for, such as ``"signal approval"``.
        stack: The lines of user code where it stands, outermost first.
    """

    task: str
    awaits: str
    stack: tuple[CodeLine, ...]


def waits(run: Run) -> list[Wait]:
    """Who waits for what in a run, in the order in which its tasks were made.

    Args:
        run: A run in memory that has run until it blocked.
    """
    tasks = sorted((*run.tasks, *run.detached), key=hash)
    return [Wait(task.get_name(), _awaited(task._waiter), tuple(_lines(task))) for task in tasks]


def pending(run: Run) -> list[str]:
    """What a run has open that its close waits for, and where it was made.

    Args:
        run: A run in memory that has run until it blocked.
    """
    return [_placed(call) for call in run.open_calls]


def _lines(task: Task[Any]) -> Iterator[CodeLine]:
    return (line for site in stack_of(task.coroutine) if (line := CodeLine.of(site)) is not None)


def _awaited(waiter: Any) -> str:
    if waiter is None:
        return "its next turn"
    if isinstance(waiter, Task):
        return f"task {waiter.get_name()}"
    work = getattr(waiter, "_work", None)
    if work is not None:
        return _named(work)
    # asyncio.gather makes futures that know what they gather.
    gathered = [child for child in getattr(waiter, "_children", ()) if not child.done()]
    if gathered:
        return _listed(_awaited(child) for child in gathered)
    return "promises joined" if getattr(waiter, "_number", 0) > 0 else "another task (an asyncio primitive)"


def _listed(names: Iterable[str]) -> str:
    return "all of: " + ", ".join(names)


def _placed(call: Any) -> str:
    entity = call if isinstance(call, ActivityCall) else getattr(call, "entity", call)
    line = CodeLine.of(entity.site)
    return _named(call) if line is None else f"{_named(call)}, made at {line}"


def _named(work: Any) -> str:
    """What stands behind a promise, in the words of its call."""
    if isinstance(work, ActivityCall):
        return f"activity {work.activity.name} ({work.task.id}){_activity_state(work)}"
    if isinstance(work, ReceiveCall):
        return f"signal {work._signal.name}"
    if isinstance(work, SleepCall):
        return f"timer {work._timer.id}"
    if isinstance(work, ChildCall):
        return f"child workflow {work.workflow.name} ({work.workflow_id})"
    if isinstance(work, LambdaCall):
        return f"Lambda function {work.function.name} ({work.entity.id})"
    if isinstance(work, ExternalCall):
        return f"the delivery of {work.request.identity()}"
    return repr(work)


def _activity_state(call: ActivityCall) -> str:
    if call.timer is not None:
        return f", which backs off before attempt {call.attempt}"
    if call.input is None and call.state == CREATED:
        return ", which is not scheduled yet: it waits for its arguments"
    return ""

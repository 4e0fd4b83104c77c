"""What a run waits for: which task for what, at which line of user code, and what SWF has open for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from attrs import asdict, frozen

from flowpy.replay.divergence import CodeLine
from flowpy.replay.entities import CLOSED, CREATED, Entity
from flowpy.replay.source import text_of
from flowpy.runtime.activities import ActivityPromise
from flowpy.runtime.children import ChildCall
from flowpy.runtime.external import ExternalCall
from flowpy.runtime.lambdas import LambdaCall
from flowpy.runtime.outcome import waited_for
from flowpy.runtime.promise import PENDING, Future
from flowpy.runtime.signals import ReceiveCall
from flowpy.runtime.sites import standing_at
from flowpy.runtime.task import Task
from flowpy.runtime.timers import SleepCall

if TYPE_CHECKING:
    from flowpy.runtime.run import Run

Kind = Literal["activity", "timer", "child workflow", "Lambda function", "external request"]

_KINDS: Final[dict[str, Kind]] = {
    "ScheduleActivityTask": "activity",
    "StartTimer": "timer",
    "StartChildWorkflowExecution": "child workflow",
    "ScheduleLambdaFunction": "Lambda function",
    "SignalExternalWorkflowExecution": "external request",
    "RequestCancelExternalWorkflowExecution": "external request",
}
_DEPTH: Final = 4
"""How deep a callback is searched for the future it leads to: those of joined promises are nested twice."""


@frozen
class OpenWork:
    """Something that the run has open.

    Attributes:
        kind: What it is.
        id: Its activityId, timerId, workflowId, Lambda id or control.
        name: Name and version of its type, name of the function or signal; "" for timers.
        event_id: The event that recorded it; 0 if it is not sent yet.
        line: The line of user code that made the call.
        deferred: Whether it waits for promises among its arguments.
    """

    kind: Kind
    id: str
    name: str = ""
    event_id: int = 0
    line: CodeLine | None = None
    deferred: bool = False

    def __str__(self) -> str:
        if self.deferred:
            since = "not scheduled: promises among its arguments are not ready"
        else:
            since = f"event {self.event_id}" if self.event_id else "not sent yet"
        named = f" ({self.name})" if self.name else ""
        return f"{self.kind} {self.id}{named}, {since}" + (f", made at {self.line}" if self.line else "")


@frozen
class WaitingTask:
    """A task that is suspended.

    Attributes:
        path: Its path as ids begin with it, such as ``"t1."``; ``""`` for the main task.
        name: Its name: that of the workflow for the main task.
        stack: Its lines of user code, outermost first: who called whom, down to the await.
        waits_for: What it waits for, in words with ids.
    """

    path: str
    name: str
    stack: tuple[CodeLine, ...]
    waits_for: tuple[str, ...]

    def __str__(self) -> str:
        title = f"task {self.path} ({self.name})" if self.path else f"main task ({self.name})"
        lines = [f"{title} waits for {', '.join(self.waits_for) or 'something unknown'}"]
        for line in reversed(self.stack):
            source = text_of(line)
            lines.append(f"    {line}: {source}" if source else f"    {line}")
        return "\n".join(lines)


@frozen
class Pending:
    """All that a run waits for.

    Attributes:
        tasks: Suspended tasks in the order of their creation, the main task first.
        work: What is open or about to be: activities, timers, children, Lambda functions, external requests.
        signals: Names of signals that arrived and that nobody has received, in order.
    """

    tasks: tuple[WaitingTask, ...] = ()
    work: tuple[OpenWork, ...] = ()
    signals: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [str(task) for task in self.tasks] or ["no task waits"]
        lines += [f"open: {work}" for work in self.work]
        if self.signals:
            lines.append(f"signals not received: {', '.join(self.signals)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The same as plain dicts, lists and scalars, fields as named here."""
        return asdict(self, value_serializer=lambda _, __, value: list(value) if isinstance(value, tuple) else value)


def pending(run: Run) -> Pending:
    """What a run in memory waits for now.

    Args:
        run: A run that was fed and has not left memory.
    """
    tasks = [task for task in (*run.tasks, *run.detached) if not task.done()]
    promises = [call.promise for call in waited_for(run)]
    candidates: list[Future[Any]] = [*tasks, *promises, *_promises_of(run)]
    return Pending(
        tuple(_task(run, task, candidates) for task in tasks),
        tuple(_work(run)),
        tuple(received.name for received in run.signals.unreceived()),
    )


def _task(run: Run, task: Task[Any], candidates: list[Future[Any]]) -> WaitingTask:
    stack, asyncio_function = standing_at(task.coroutine)
    waits_for = tuple(_described(run, task._waiter, candidates, asyncio_function))
    return WaitingTask(task.path, task.get_name(), tuple(stack), waits_for)


def _described(run: Run, future: Any, candidates: list[Future[Any]], asyncio_function: str) -> Iterator[str]:
    """A future in words: what stands behind it, or the work whose end leads to it."""
    if future is None:
        return
    named = _named(run, future)
    if named:
        yield named
        return
    behind = [each for each in candidates if each is not future and _leads_to(each, future)]
    if behind:
        for each in behind:
            yield _named(run, each) or repr(each)
    else:
        yield f"asyncio's {asyncio_function}" if asyncio_function else "a future that nothing recorded leads to"


def _named(run: Run, future: Any) -> str:
    if isinstance(future, Task):
        return f"task {future.path or 'main'} ({future.get_name()})"
    work = getattr(future, "_work", None)
    if isinstance(work, ActivityPromise):
        return f"back-off timer {work.timer.id} of activity {work.id}" if work.timer else f"activity {work.task.id}"
    if isinstance(work, ChildCall):
        return f"child workflow {work.workflow_id}"
    if isinstance(work, LambdaCall):
        return f"Lambda function {work.entity.id} ({work.function.name})"
    if isinstance(work, SleepCall):
        return f"timer {work._timer.id}"
    if isinstance(work, ReceiveCall):
        until = f" until timer {work.timer.id}" if work.timer is not None else ""
        return f"signal {work._signal.name}{until}"
    if isinstance(work, ExternalCall):
        return f"{work.request.identity()}"
    for call in waited_for(run):
        if isinstance(call, ChildCall) and call.promise._started is future:
            return f"the start of child workflow {call.workflow_id}"
    return ""


def _promises_of(run: Run) -> Iterator[Future[Any]]:
    """Promises that no open call holds: of timers, signals and external requests."""
    for table in (run.execution.timers, run.execution.requests, run.execution.outbox.unsent):
        for entity in list(table.values()):
            promise = getattr(entity.listener, "promise", None)
            if isinstance(promise, Future) and not promise.done():
                yield promise
    for queue in run.signals._waiting.values():
        yield from (call.promise for call in queue if not call.promise.done())


def _leads_to(source: Future[Any], target: Any) -> bool:
    """Whether a callback of one future leads to another: joined promises, ``gather``, ``wait``, ``TaskGroup``."""
    # One task that waits stands there itself; several, and callbacks with their contexts, stand in a list.
    for callback in source._waiting if type(source._waiting) is list else ():
        function = callback[0] if type(callback) is tuple else None
        if function is not None and _reaches(function, target, _DEPTH):
            return True
    return False


def _reaches(value: Any, target: Any, depth: int) -> bool:
    if value is target:
        return True
    if depth == 0:
        return False
    return any(_reaches(each, target, depth - 1) for each in _held(value))


def _held(function: Any) -> Iterable[Any]:
    """What a callback holds: the cells of a closure, arguments of a partial, attributes of a method's object."""
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, Future):
        yield from list(getattr(owner, "__dict__", {}).values())
    for cell in getattr(function, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if callable(content) or isinstance(content, Future) or hasattr(content, "_asyncio_future_blocking"):
            yield content
    yield from getattr(function, "__defaults__", None) or ()
    yield from getattr(function, "args", ())


def _work(run: Run) -> Iterator[OpenWork]:
    """What SWF has open in the order it was recorded, then what is not sent, then what is deferred."""
    execution = run.execution
    tables = (execution.activities, execution.timers, execution.children, execution.lambdas, execution.requests)
    recorded: list[Entity] = [entity for table in tables for entity in table.values() if entity.state != CLOSED]
    recorded.sort(key=lambda entity: entity.event_id)
    unsent = [entity for entity in execution.outbox.unsent.values() if entity.state == CREATED]
    for entity in (*recorded, *unsent):
        kind = _KINDS.get(entity.decision_type)
        if kind is not None:
            yield OpenWork(kind, entity.id, _name(entity), entity.event_id, CodeLine.of(entity.site))
    for call in waited_for(run):
        if call.promise._state is PENDING and _is_deferred(call):
            yield _deferred(call)


def _name(entity: Entity) -> str:
    if _KINDS[entity.decision_type] == "external request":
        return f"{entity.name} to {entity.version}".strip()
    return f"{entity.name} {entity.version}".strip()


def _is_deferred(call: ActivityPromise | ChildCall | LambdaCall) -> bool:
    if isinstance(call, ChildCall):
        return call.child is None
    entity: Entity = call.entity if isinstance(call, LambdaCall) else call
    return entity.state == CREATED and not any(each is entity for each in call.run.execution.outbox.unsent.values())


def _deferred(call: ActivityPromise | ChildCall | LambdaCall) -> OpenWork:
    if isinstance(call, ChildCall):
        name = f"{call.workflow.name} {call.workflow.version}"
        return OpenWork("child workflow", call.workflow_id, name, 0, CodeLine.of(call.site), True)
    if isinstance(call, LambdaCall):
        return OpenWork("Lambda function", call.entity.id, call.function.name, 0, CodeLine.of(call.entity.site), True)
    return OpenWork("activity", call.id, f"{call.name} {call.version}", 0, CodeLine.of(call.site), True)

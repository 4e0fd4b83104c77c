"""The deterministic event loop: asyncio's primitives on a run's own clock, stepped one event at a time (law L8)."""

from __future__ import annotations

import asyncio
import gc
import sys
import warnings
from asyncio.events import _get_running_loop, _set_running_loop
from asyncio.tasks import _current_tasks  # type: ignore[attr-defined]
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from sys import get_asyncgen_hooks, set_asyncgen_hooks
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, TypeVar

from flowpy.errors import WorkflowBlocked
from flowpy.runtime.newer_asyncio import install
from flowpy.runtime.promise import Future
from flowpy.runtime.refused import Refused, refuse_as_completed
from flowpy.runtime.sites import suspended_at
from flowpy.runtime.task import Task

if TYPE_CHECKING:
    from flowpy.runtime.run import Run

T = TypeVar("T")

MAX_TURNS: Final = 200_000
"""Steps that the code may take for one event; beyond them it is taken to spin."""


if TYPE_CHECKING:
    _Base = object  # AbstractEventLoop has 33 abstract methods; Refused sets those that are missing by name
else:
    _Base = asyncio.AbstractEventLoop


def _collector(phase: str, _info: dict[str, int]) -> None:
    """What the collector runs (finalizers, the rest of suspended generators, weakref callbacks) must not decide.

    When that is, and inside whose step, is up to the collector; so while it works, this thread steps no run.
    """
    loop: Any = _get_running_loop()
    if isinstance(loop, Loop):
        loop.thread = COLLECTING if phase == "start" else get_ident()


COLLECTING: Final = -1
"""Stands for the thread of a loop while the collector works on that thread."""


class Handle:
    """A callback in line; what ``call_soon`` returns."""

    __slots__ = ("_args", "_callback", "_cancelled", "_context")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...], context: Context) -> None:
        self._callback = callback
        self._args = args
        self._context = context
        self._cancelled = False

    def cancel(self) -> None:
        """Do not call it."""
        self._cancelled = True

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def run(self, loop: Loop) -> None:
        """Call it, in its context."""
        if self._cancelled:
            return
        try:
            self._context.run(self._callback, *self._args)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # CancelledError too, as from reading a cancelled promise: it is nobody's cancellation here.
            loop.run.fail(error)


class Running:
    """The block in which a loop is the running one of its thread; a generator would take twice as long."""

    __slots__ = ("_before", "_hooks", "_loop")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        """Begin."""
        loop = self._loop
        loop.thread = get_ident()
        self._before = _get_running_loop()
        self._hooks = get_asyncgen_hooks()
        _set_running_loop(loop)  # type: ignore[arg-type] # it has what is asked of it
        set_asyncgen_hooks(None, loop._close_generator)

    def __exit__(self, *_error: object) -> None:
        """End."""
        set_asyncgen_hooks(*self._hooks)
        _set_running_loop(self._before)
        _current_tasks.pop(self._loop, None)


class Loop(Refused, _Base):
    """The event loop of one run.

    Attributes:
        run: The run it belongs to.
        ready: Tasks and handles in the order in which they will run.
        task: The task being stepped, or None: then a call that needs an id is an error.
        thread: The thread that steps it.
        number: How many promises and tasks the run has made.
        failed: Promises and tasks that failed before anybody looked at them.
    """

    def __init__(self, run: Run) -> None:
        install()
        if _collector not in gc.callbacks:
            gc.callbacks.append(_collector)
        self.run = run
        self.ready: deque[Any] = deque()
        self.task: Task[Any] | None = None
        self.number = 0
        self.thread = 0
        self._futures = -1
        self.failed: list[Future[Any]] = []

    # --- stepping ---------------------------------------------------------------------------

    def running(self) -> Running:
        """Make this the running loop of the thread, as code that is stepped must find it."""
        return Running(self)

    def run_until_blocked(self) -> None:
        """Step everything that is ready, until nothing is.

        Raises:
            WorkflowBlocked: The code goes on without ever waiting.
        """
        ready = self.ready
        entry: Any = None
        for _ in range(MAX_TURNS):
            if not ready:
                return
            entry = ready.popleft()
            if type(entry) is Task:
                entry.step()
            else:
                entry.run(self)
        raise WorkflowBlocked(
            f"workflow code took {MAX_TURNS:,} steps on one event without blocking, last in {_name(entry)}: "
            "it spins; await something that takes time"
        )

    # --- asyncio ----------------------------------------------------------------------------

    def time(self) -> float:
        """The run's clock in epoch seconds: ``flowpy.now()``."""
        return self.run.clock

    def is_running(self) -> bool:
        """Always true: code only runs while it is stepped."""
        return True

    def is_closed(self) -> bool:
        """Whether the run has left memory."""
        return self.run.dead

    def get_debug(self) -> bool:
        """Always false."""
        return False

    def soon(self, callback: Callable[..., object], args: tuple[Any, ...], context: Context) -> Handle:
        """``call_soon`` without the keyword."""
        handle = Handle(callback, args, context)
        self.ready.append(handle)
        return handle

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Any:
        """Call a function in the next turn."""
        return self.soon(callback, args, copy_context() if context is None else context)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Any:
        """Call a function after a durable timer; at once if the delay is not positive."""
        context = copy_context() if context is None else context
        if delay <= 0:
            return self.soon(callback, args, context)
        return self.run.timers.call_later(delay, callback, args, context)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Any:
        """Call a function when the run's clock reaches a time."""
        return self.call_later(when - self.time(), callback, *args, context=context)

    def create_future(self) -> Any:
        """A future for asyncio's own use: it has no number."""
        return Future(self, self.number_future())

    def number_future(self) -> int:
        """The hash of the next future that is no promise and no task: below -1, which CPython keeps for errors."""
        self._futures -= 1
        return self._futures

    def create_task(
        self,
        coro: Any,
        *,
        name: str | None = None,
        context: Context | None = None,
        **_keywords: Any,
    ) -> Any:
        """Spawn a task; its path is that of the task spawning it and ``t<n>.``. It never starts eagerly (3.14)."""
        if isinstance(coro, Future):
            raise TypeError(
                f"{coro!r} needs no task: what it stands for is under way since the call; await it, or give it to "
                "asyncio.gather, asyncio.wait or flowpy.all_of"
            )
        refuse_as_completed(sys._getframe(1), coro)
        return self.spawn(coro, name=name, context=context)

    def spawn(
        self,
        coroutine: Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: Context | None = None,
        path: str | None = None,
        shielded: bool = False,
    ) -> Task[T]:
        """Make a task of the run.

        Args:
            coroutine: What it runs.
            name: Its name, for reports.
            context: The context to run in; default a copy of the current one.
            path: Its path, if it is not spawned by the task being stepped.
            shielded: Whether the ways out of the workflow function leave it alone.
        """
        if path is None:
            try:
                parent = self.run.task_here("spawning a task")
            except BaseException:
                coroutine.close()
                raise
            path = f"{parent.path}t{parent.take(chr(0) + 't')}."
            shielded = shielded or parent.shielded
        task = Task(self, coroutine, path, name=name, context=context, shielded=shielded)
        self.run.tasks[task] = None
        return task

    def get_task_factory(self) -> None:
        """None: tasks are always the run's own."""
        return

    def get_exception_handler(self) -> None:
        """None: errors with nowhere to go fail the run."""
        return

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """An error that nobody can await fails the run."""
        error, message = context.get("exception"), str(context.get("message", context))
        if isinstance(error, BaseException) and "never retrieved" not in message:
            self.run.fail(error)
        else:
            # "never retrieved" comes from a finalizer: when that runs must not change what the run decides.
            self.run.log_warning(f"{message}: {error!r}" if error is not None else message)

    default_exception_handler = call_exception_handler

    async def shutdown_asyncgens(self) -> None:
        """Nothing: generators are closed at once."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - asyncio's
        """Nothing: there is none."""

    def _close_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        """Close an async generator that nobody will go on with, at once and with decisions refused.

        asyncio would spawn a task for it whenever the collector comes by: a task number at a random moment.
        """
        name = getattr(generator, "__qualname__", repr(generator))
        task, self.task = self.task, None
        closing = generator.aclose()
        context = self.run.base_context.copy()
        # StopIteration, or what its clean-up raised: nobody is there to take it.
        with suppress(BaseException):
            context.run(closing.send, None)
        with suppress(BaseException):
            context.run(closing.close)
        self.task = task
        warnings.warn(
            f"async generator {name} was left before its end: its clean-up cannot decide anything; "
            "use `async with contextlib.aclosing(...)`",
            RuntimeWarning,
            stacklevel=2,
        )


def _name(entry: Any) -> str:
    """A task or callback, for a report."""
    if not isinstance(entry, Task):
        return repr(entry)
    line = suspended_at(entry.coroutine)
    return f"task {entry.get_name()}" + (f" at {line}" if line else "")

"""The way from a declared thing to the run that is executing.

Activities, workflows and signals know nothing of the runtime: they ask whatever ``current`` holds. The runtime sets it
around every step of workflow code.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol

from flowpy.errors import OutsideWorkflow

if TYPE_CHECKING:
    from flowpy.declare.activity import Activity
    from flowpy.declare.asynchronous import Asynchronous
    from flowpy.declare.promise import ChildPromise, Promise
    from flowpy.declare.signals import Signal
    from flowpy.declare.workflow import Workflow

__all__ = ["Calls", "RunningActivity", "calls_or_raise", "current", "running"]


class Calls(Protocol):
    """What declared things ask from the run that is executing."""

    def call_activity(
        self, activity: Activity[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Promise[Any]:
        """Schedules an activity with the arguments of the call, unbound, and returns the promise of its result."""
        ...

    def call_workflow(
        self, workflow: Workflow[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ChildPromise[Any]:
        """Starts a child workflow with the arguments of the call, unbound, and returns the promise of its result."""
        ...

    def call_asynchronous(
        self, function: Asynchronous[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Promise[Any]:
        """Runs a function of this run in a task of its own once the promises among its arguments are ready."""
        ...

    def receive(self, signal: Signal[Any], timeout: int | None) -> Promise[Any]:
        """Returns the promise of the next value of a signal; TimeoutError after ``timeout`` seconds."""
        ...

    def set_handler(self, signal: Signal[Any], function: Callable[..., Any]) -> None:
        """Calls a function for every value of a signal, those queued already first."""
        ...


current: Final[ContextVar[Calls | None]] = ContextVar("flowpy.current", default=None)
"""The run whose code is executing in this context, or None outside workflow code."""


class RunningActivity(Protocol):
    """What is known everywhere of the activity that is running."""

    @property
    def fields(self) -> dict[str, Any]:
        """What log records of it carry."""
        ...


running: Final[ContextVar[RunningActivity | None]] = ContextVar("flowpy.running", default=None)
"""The activity whose code is executing in this context, or None."""


def calls_or_raise(what: str, remedy: str) -> Calls:
    """Returns the run that is executing.

    Args:
        what: What was called, such as ``"flowpy.sleep"``.
        remedy: What to do instead, a sentence without its full stop.

    Raises:
        OutsideWorkflow: If no workflow code is executing here.
    """
    calls = current.get()
    if calls is None:
        raise OutsideWorkflow(f"{what} was called outside workflow code", remedy=remedy)
    return calls

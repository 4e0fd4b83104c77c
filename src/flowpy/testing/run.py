"""A handle on an execution in an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from flowpy.client import Run
from flowpy.declare.durations import Duration, seconds
from flowpy.declare.keywords import ChildPolicy
from flowpy.declare.signals import Signal
from flowpy.declare.workflow import Workflow
from flowpy.errors import ExecutionError, ResultNotReady, WorkError

if TYPE_CHECKING:
    from flowpy.testing.environment import Environment
from flowpy.testing.driver import MOST_RUNS

__all__ = ["EnvironmentRun"]

R = TypeVar("R")

_FOR_EVER: Final = (
    f"workflow {{!r}} has continued as new {MOST_RUNS:,} times and is still open: it seems to go on for ever. "
    "Say until when with result(timeout=...), or let time pass with swf.advance(...)"
)


class EnvironmentRun(Run[R], Generic[R]):
    """What ``Environment.start`` gives: a client's handle whose waiting passes on the virtual clock.

    Whatever it tells the run is handled before the call returns, as far as that can happen without time passing.

    Args:
        environment: The environment.
        workflow_id: The workflowId.
        run_id: The runId; None for whichever run of that id is open, else the one that closed last.
        workflow: The declared workflow.
    """

    def __init__(
        self,
        environment: Environment,
        workflow_id: str,
        run_id: str | None,
        workflow: Workflow[..., R] | None = None,
    ) -> None:
        super().__init__(environment.client, workflow_id, run_id, workflow)
        self._environment = environment

    def signal(self, signal: Signal[Any] | str, value: Any = None) -> None:
        """Send a signal; see ``flowpy.client.Run.signal``."""
        super().signal(signal, value)
        self._environment.settle()

    def cancel(self) -> None:
        """Ask the run to stop; see ``flowpy.client.Run.cancel``."""
        super().cancel()
        self._environment.settle()

    def terminate(self, reason: str = "", details: Any = None, child_policy: ChildPolicy | None = None) -> None:
        """End the run at once; see ``flowpy.client.Run.terminate``."""
        super().terminate(reason, details, child_policy)
        self._environment.settle()

    def result(self, timeout: Duration | None = None) -> R:
        """Let time pass until the run closes, and give the result; runs that continue as new are followed.

        Args:
            timeout: Longest wait in virtual time; default until the end.

        Returns:
            The result, decoded as the workflow's return type.

        Raises:
            WorkflowFailed, WorkflowCanceled, WorkflowTerminated, WorkflowTimedOut: It ended otherwise; the cause is
                what the code raised.
            RunBlocked: Nothing can happen any more but its own timeout; says who waits for what, and where.
            ResultNotReady: It is still open after ``timeout``; without one, it has continued as new 1,000 times, and
                seems to go on for ever.
        """
        limit = None if timeout is None else seconds(timeout, "timeout")
        until = None if limit is None else self._environment.clock() + limit
        self._environment.settle()
        # The one that is open, so that those before it are not asked for again each time.
        current: Run[R] = Run(self._client, self.workflow_id, self.run_id, self._workflow)
        followed: set[str] = set()
        while True:
            # Nothing may happen while an exception is handled: it would be the context of what workflow code raises.
            try:
                return current.result(timeout=0)
            except ResultNotReady as error:
                run_id = error.run_id
            except ExecutionError as error:
                raised = self._environment.raised(error.run_id)
                if isinstance(raised, WorkError) and raised.failure is not None and raised.failure.traceback:
                    error.add_note(f"{raised}; there:\n{raised.failure.traceback}")
                raise error from raised
            current = Run(self._client, self.workflow_id, run_id, self._workflow)
            followed.add(run_id)
            if until is None and len(followed) > MOST_RUNS:
                raise ResultNotReady(_FOR_EVER.format(self.workflow_id), workflow_id=self.workflow_id, run_id=run_id)
            if not self._environment.wait(run_id, until):
                message = f"workflow {self.workflow_id!r} run {run_id!r} is still open after {limit} s"
                raise ResultNotReady(message, workflow_id=self.workflow_id, run_id=run_id)

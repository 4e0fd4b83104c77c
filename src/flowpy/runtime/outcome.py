"""How a run ends: every way out of the function alike, one close, sent when nothing is open (laws L6, L7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flowpy.data.failures import encode_failure
from flowpy.data.limits import DATA
from flowpy.errors import ContinueAsNew, ContinueAsNewFailed, PayloadError, PayloadTooLarge, RunHeld
from flowpy.replay.divergence import CodeLine
from flowpy.replay.entities import Close, Site
from flowpy.runtime.activities import ActivityPromise
from flowpy.runtime.sites import raised_at

if TYPE_CHECKING:
    from flowpy.history.events import Event
    from flowpy.runtime.children import ChildCall
    from flowpy.runtime.lambdas import LambdaCall
    from flowpy.runtime.run import Run
    from flowpy.runtime.task import Task

COMPLETE = "CompleteWorkflowExecution"
FAIL = "FailWorkflowExecution"
CANCEL = "CancelWorkflowExecution"
CONTINUE = "ContinueAsNewWorkflowExecution"

RETRIED = ("UNHANDLED_DECISION", "CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED")
"""Causes for which a refused close is sent again by itself."""


class Outcome:
    """What a run has come to, and whether it may close.

    Attributes:
        lost: Whether a value that code has seen was not recorded: the run fails, whatever else happens.
        refusal: Cause and event of a close that SWF refused for good, until something new comes.
        kind: The closing decision, "" while the function runs.
        value: The result, the error or the continuation.
        left_at: Where the code called continue_as_new.
        judged: Whether failures that nobody observed were looked for: once, as a close that is refused is sent again.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.kind = ""
        self.value: Any = None
        self.refusal: tuple[str, int] | None = None
        self.lost = False
        self.left_at: Site = None
        self.judged = False

    def main_ended(self, main: Task[Any]) -> None:
        """The workflow function has ended."""
        if self.kind or self._run.stopped:
            return
        if main.cancelled():
            self._leave(CANCEL if self._run.cancel_requests else FAIL, main._make_cancelled_error())
            return
        error = main.exception()
        if error is None:
            self.kind, self.value = COMPLETE, main.result()
        elif isinstance(error, ContinueAsNew):
            self.kind, self.value, self.left_at = CONTINUE, error.call, raised_at(error)
        else:
            self._leave(FAIL, error)

    def fail(self, error: BaseException) -> None:
        """The run fails, whatever its function is doing: that is cancelled, and waited for."""
        if self.lost or self.kind in (FAIL, CANCEL):
            return
        main = self._run.main
        self._leave(FAIL, error)
        if main is not None and not main.done():
            main.cancel()

    def lose(self, error: BaseException) -> None:
        """The run fails at once: what is open cannot be known, so nothing is waited for."""
        self.kind, self.value, self.lost = FAIL, error, True

    def _leave(self, kind: str, error: BaseException) -> None:
        self.kind, self.value = kind, error
        self.cancel_open()

    def cancel_open(self) -> None:
        """Cancel what is open, in order of creation; what is shielded is only waited for."""
        run = self._run
        calls = [call.promise for call in waited_for(run) if not call.shielded and not call.detached]
        tasks = [task for task in run.tasks if task is not run.main and not task.shielded]
        for promise in sorted([*calls, *tasks], key=hash):
            promise.cancel()

    def refused(self, kind: str, cause: str, event: Event) -> None:
        """A closing decision failed. UNHANDLED_DECISION: what came is handled, then it is sent again."""
        if cause not in RETRIED and kind != CONTINUE:
            self.refusal = (cause, event["eventId"])
        if kind == CONTINUE and cause not in RETRIED:
            name = self._run.info.workflow_type
            self.kind, self.value = (
                FAIL,
                ContinueAsNewFailed(
                    f"SWF did not continue workflow {name} as new: {cause}", cause=cause, event_id=event["eventId"]
                ),
            )

    def check_refusal(self) -> None:
        """Hold a run whose close SWF refuses for good: sending it again at once would only fill the history.

        Raises:
            RunHeld: The last close was refused for want of a permission, and nothing has come since.
        """
        if self.refusal is not None:
            cause, event_id = self.refusal
            raise RunHeld(
                f"SWF refused to close the run ({cause}, event {event_id}): give the worker's role the permission; the "
                "close is sent again after the next signal or cancel request"
            )

    def close(self) -> Close | None:
        """The close the run is ready for, or None."""
        run = self._run
        if self.lost:
            return Close(FAIL, self._attributes)
        if not self.kind or run.tasks or is_waiting(run):
            return None
        if self.kind in (COMPLETE, CONTINUE):
            self._check_encodable()
            if not self.judged:
                self._judge()
        self._name_unreceived()
        return Close(self.kind, self._attributes, self._site())

    def _site(self) -> Site:
        """The line that led to the close; a return has none."""
        if self.kind == FAIL:
            return raised_at(self.value)
        return self.left_at if self.kind == CONTINUE else None

    def _judge(self) -> None:
        """A failure that nobody observed fails a run that is about to close with a result (law L6)."""
        self.judged = True
        unobserved = next((p for p in self._run.loop.failed if not p._observed), None)
        if unobserved is None:
            return
        self.kind, self.value = FAIL, unobserved._error
        line = CodeLine.of(getattr(unobserved._work, "site", None))
        where = f", made at {line}" if line is not None else ""
        unobserved._error.add_note(
            f"{unobserved!r}{where}: nothing ever awaited this promise, so its failure fails the run; await "
            "it, or detach() it if its failure does not matter"
        )

    def _name_unreceived(self) -> None:
        """One warning, at the close, for signals that nobody received."""
        names = sorted({received.name for received in self._run.signals.unreceived()})
        if names and self.kind != CONTINUE:
            self._run.log_warning(f"the run closes with signals that nobody received: {', '.join(names)}")

    def _check_encodable(self) -> None:
        """A result without a JSON form is an error of the code, and fails the run; one too long only holds it."""
        try:
            self._attributes()
        except PayloadTooLarge:
            pass
        except (PayloadError, TypeError) as error:
            self.kind, self.value = FAIL, error

    def _attributes(self) -> dict[str, Any]:
        run = self._run
        if self.kind == COMPLETE:
            what = f"result of workflow {run.info.workflow_type}"
            return {"result": run.converter.encode_within(self.value, DATA, what)}
        if self.kind == FAIL:
            reason, details = encode_failure(self.value, run.converter)
            return {"reason": reason, "details": details}
        if self.kind == CONTINUE:
            attributes: dict[str, Any] = self.value.attributes(run)
            return attributes
        return {}


def waited_for(run: Run) -> list[ActivityPromise | ChildCall | LambdaCall]:
    """Activities, children and Lambda functions the close waits for, in order of creation."""
    calls = run.open_calls | {call._number: call for call in _matched_as_made(run)}
    return [calls[number] for number in sorted(calls)]


def is_waiting(run: Run) -> bool:
    """Whether there are any; asked after every event once the function has ended, so they are not listed for it."""
    return bool(run.open_calls) or any(True for _ in _matched_as_made(run))


def _matched_as_made(run: Run) -> Iterator[ActivityPromise]:
    """Open activities that were matched with their answers as the code made them: only the kernel has them."""
    for task in run.execution.activities.values():
        if isinstance(task, ActivityPromise) and not task.let_go:
            yield task

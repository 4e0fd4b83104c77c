"""Tasks: coroutines of one run, stepped alike on every Python, each with the path that its ids begin with.

The semantics are those of Python 3.13's ``asyncio.Task``; the class is our own because those of 3.11 and 3.12 differ
in when a cancellation is taken back, and because a cancellation that was waited for (``on_cancel="wait"``) must be
raised at the await after the one that got the result.
"""

from __future__ import annotations

from asyncio import _register_task
from asyncio.exceptions import CancelledError
from asyncio.tasks import _current_tasks  # type: ignore[attr-defined] # what asyncio.current_task() looks into
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from flowpy.runtime.promise import CANCELLED, PENDING, Future, RunPromise
from flowpy.runtime.undead import TRIES

if TYPE_CHECKING:
    from flowpy.runtime.loop import Loop

T = TypeVar("T")


class Task(Future[T]):
    """A coroutine being run.

    Attributes:
        path: CONTRACTS §1, such as ``"t2.t1."``; ``""`` for the main task.
        shielded: Whether the ways out of the workflow function leave it alone.
        coroutine: The coroutine it steps.
    """

    def __init__(
        self,
        loop: Loop,
        coroutine: Coroutine[Any, Any, T],
        path: str,
        *,
        name: str | None = None,
        context: Context | None = None,
        shielded: bool = False,
    ) -> None:
        loop.number += 1
        super().__init__(loop, loop.number)
        self.path = path
        self.shielded = shielded
        self.coroutine = coroutine
        self.detached = False
        self._name = name or f"Task-{path or 'main'}"
        self.context = context if context is not None else copy_context()
        self._counts: dict[str, int] = {}
        self._waiter: Any = None
        self._cancels = 0
        self._disturbed = False  # stays True once it was cancelled or was to raise: most tasks never are
        self._must_cancel = False
        self._owes_cancel = False
        self._raise_next: BaseException | None = None
        self._log_destroy_pending = True  # asyncio.gather sets it on tasks that it made
        self._send = coroutine.send
        self._enter = self.context.run
        _register_task(self)  # type: ignore[arg-type]
        loop.ready.append(self)

    def take(self, kind: str) -> int:
        """The next number of a kind of call made by this task, from 1."""
        number = self._counts.get(kind, 0) + 1
        self._counts[kind] = number
        return number

    # --- asyncio.Task -----------------------------------------------------------------------

    def get_name(self) -> str:
        """Its name, for reports."""
        return self._name

    def set_name(self, value: object) -> None:
        """Give it a name; ids do not depend on it."""
        self._name = str(value)

    def get_coro(self) -> Coroutine[Any, Any, T]:
        """The coroutine it steps."""
        return self.coroutine

    def get_context(self) -> Context:
        """The context it runs in."""
        return self.context

    def cancelling(self) -> int:
        """How many cancellations were asked for and not taken back."""
        return self._cancels

    def uncancel(self) -> int:
        """Take back one cancellation; the last one also takes back what was not raised yet (as of 3.13)."""
        if self._cancels > 0:
            self._cancels -= 1
            if self._cancels == 0:
                self._must_cancel = self._owes_cancel = False
        return self._cancels

    def cancel(self, msg: Any | None = None) -> bool:
        """Raise CancelledError in the coroutine, at the await where it stands or at its next one."""
        if self._state is not PENDING:
            return False
        self._cancels += 1
        self._disturbed = True
        waiter = self._waiter
        if waiter is not None:
            if self._cancel_waiter(waiter, msg):
                return True
            give_back = getattr(getattr(waiter, "_work", None), "give_back", None)
            if give_back is not None:
                give_back()
        self._must_cancel = True
        self._cancel_message = msg
        return True

    def owe_cancel(self) -> None:
        """The await that was cancelled brought a result after all: cancel the one after it."""
        if self._cancels > 0:
            self._owes_cancel = True

    def detach(self) -> None:
        """Let the run close without waiting for this task."""
        self._observed = self.detached = True
        self.loop.run.task_detached(self)

    # --- stepping ---------------------------------------------------------------------------

    def step(self) -> None:
        """Run the coroutine, in its context, until it blocks again."""
        if self._state is not PENDING:
            return
        self._waiter = None
        loop, enter, send = self.loop, self._enter, self._send
        # What _enter_task and _leave_task do, at a fifth of their price: an entry that stays needs no new hash table.
        loop.task = _current_tasks[loop] = self
        try:
            if self._disturbed and (self._must_cancel or self._raise_next is not None):
                awaited = enter(self.coroutine.throw, self._error_to_raise())
            else:
                awaited = enter(send, None)
        except StopIteration as stop:
            if self._must_cancel:
                # Cancelled in its last step, right before it returned.
                self._must_cancel = False
                self.set_cancelled(self._cancel_message)
            else:
                self.set_result(stop.value)
        except CancelledError as error:
            self.set_cancelled(error=error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.set_exception(error)
        else:
            if (
                isinstance(awaited, RunPromise)
                and awaited._waiting is None
                and awaited.loop is loop
                and not self._disturbed
            ):
                # What _block_on does, for what is awaited most.
                awaited._observed = True
                awaited._waiting, self._waiter = self, awaited
            else:
                self._block_on(awaited)
        finally:
            loop.task = _current_tasks[loop] = None
            if self._state is not PENDING:
                enter(loop.run.task_ended, self)

    def _error_to_raise(self) -> BaseException:
        error, self._raise_next = self._raise_next, None
        if not self._must_cancel:
            assert error is not None
            return error
        self._must_cancel = False
        message = self._cancel_message
        return CancelledError() if message is None else CancelledError(message)

    def _block_on(self, awaited: Any) -> None:
        if isinstance(awaited, Future):
            blocking = awaited.loop is self.loop and awaited is not self
            if blocking:
                awaited.await_in(self)
        elif awaited is None:
            # A bare yield: asyncio.sleep(0).
            if self._owes_cancel:
                self._owes_cancel, self._must_cancel = False, True
            self.loop.ready.append(self)
            return
        else:
            blocking = getattr(awaited, "_asyncio_future_blocking", False) and awaited.get_loop() is self.loop
            if blocking:
                awaited._asyncio_future_blocking = False
                # Stepping enters its own context.
                awaited.add_done_callback(self._woken, context=Context())
        if not blocking:
            self._disturbed = True
            self._raise_next = RuntimeError(
                f"{self._name} awaited {awaited!r}, which does not belong to this workflow run: await promises, "
                "asyncio's primitives, or coroutines that do"
            )
            self.loop.ready.append(self)
            return
        self._waiter = awaited
        if (self._must_cancel or self._owes_cancel) and self._cancel_waiter(awaited, self._cancel_message):
            self._must_cancel = self._owes_cancel = False

    def _cancel_waiter(self, waiter: Any, msg: Any) -> bool:
        """Cancel what this task waits for; if that goes on ("wait"), the cancellation is owed should it succeed."""
        if not waiter.cancel(msg=msg):
            return False
        if isinstance(waiter, Future) and waiter._state is PENDING:
            waiter._line()
            waiter._owed = [*(waiter._owed or ()), self]
        return True

    def _woken(self, _future: Any) -> None:
        self.step()

    def kill(self) -> list[Any]:
        """Close the coroutine for good.

        Returns:
            The coroutines of its chain that refuse to die; collecting them would run their code again.
        """
        self._waiter = None
        chain = awaits(self.coroutine)
        for _ in range(TRIES):
            for coroutine in chain:
                # What it raises as it dies concerns nobody; RuntimeError says that it awaited again instead.
                with suppress(BaseException):
                    self.context.run(self._close, coroutine)
            chain = [one for coroutine in chain for one in awaits(coroutine)]
            if not chain:
                break
        if self._state is PENDING:
            self._state = CANCELLED
        return chain

    def _close(self, coroutine: Any) -> None:
        # asyncio's own context managers ask for the current task, in clean-up too.
        _current_tasks[self.loop] = self
        try:
            coroutine.close()
        finally:
            _current_tasks[self.loop] = None


def awaits(coroutine: Any) -> list[Any]:
    """A suspended coroutine and those it awaits, outermost first; none if it has ended."""
    chain: list[Any] = []
    while getattr(coroutine, "cr_frame", None) is not None and coroutine not in chain:
        chain.append(coroutine)
        coroutine = coroutine.cr_await
    return chain

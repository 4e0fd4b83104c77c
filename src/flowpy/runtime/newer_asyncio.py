"""The forms of Python 3.13 for the few asyncio functions that behave otherwise on 3.11 and 3.12 (law L8).

Only code on a run's loop is concerned: elsewhere the originals run, untouched. Measured differences: on 3.11
``wait_for`` makes a task and so takes a task number; up to 3.12 a cancellation that meets a failing TaskGroup is
swallowed, while 3.13 raises it at the next await, and subclasses of CancelledError (``WorkCanceled``) are not taken
for a cancellation.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import events, locks, taskgroups, tasks, timeouts
from typing import Any

from flowpy.runtime.promise import suspended


def _on_our_loop() -> bool:
    from flowpy.runtime.loop import Loop

    return isinstance(events._get_running_loop(), Loop)


def _replace_wait_for() -> None:
    original = tasks.wait_for

    async def wait_for(fut: Any, timeout: float | None) -> Any:  # noqa: ASYNC109 - asyncio's own signature
        if not _on_our_loop():
            return await original(fut, timeout)
        if fut is not None and not asyncio.isfuture(fut) and not asyncio.iscoroutine(fut):
            fut = _awaited(fut)
        if timeout is not None and timeout <= 0:
            fut = tasks.ensure_future(fut)
            if fut.done():
                return fut.result()
            fut.cancel()
            await asyncio.wait([fut])
            try:
                return fut.result()
            except asyncio.CancelledError as error:
                raise TimeoutError from error
        async with timeouts.timeout(timeout):
            return await fut

    wait_for.__doc__ = original.__doc__
    wait_for.__wrapped__ = original  # type: ignore[attr-defined]
    tasks.wait_for = asyncio.wait_for = wait_for


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _replace_taskgroup_exit() -> None:
    original = taskgroups.TaskGroup.__aexit__

    async def exit_group(self: Any, kind: Any, error: Any, traceback: Any) -> Any:
        if not _on_our_loop():
            return await original(self, kind, error, traceback)
        parent, counted = self._parent_task, self._parent_cancel_requested
        try:
            return await original(self, _plainly(kind), error, traceback)
        except BaseExceptionGroup:
            # 3.13 takes the group's own cancellation of its parent back also if it came while the group was left,
            # and then passes on one that came from outside, where older versions lose it.
            if self._parent_cancel_requested and not counted:
                parent.uncancel()
            if parent.cancelling():
                parent.uncancel()
                parent.cancel()
            raise

    exit_group.__doc__ = original.__doc__
    group: Any = taskgroups.TaskGroup
    group.__aexit__ = exit_group


def _replace_timeout_exit() -> None:
    original = timeouts.Timeout.__aexit__

    async def exit_timeout(self: Any, kind: Any, error: Any, traceback: Any) -> Any:
        return await original(self, _plainly(kind) if _on_our_loop() else kind, error, traceback)

    exit_timeout.__doc__ = original.__doc__
    timeout: Any = timeouts.Timeout
    timeout.__aexit__ = exit_timeout


def _plainly(kind: Any) -> Any:
    """CancelledError for its subclasses too: before 3.13 asyncio compares the class by identity."""
    if kind is not None and issubclass(kind, asyncio.CancelledError):
        return asyncio.CancelledError
    return kind


def _replace_condition_wait() -> None:
    original = locks.Condition.wait

    async def wait(self: Any) -> Any:
        try:
            return await original(self)
        except BaseException:
            # 3.13: a notification that the cancelled waiter had got goes on to the next, which looks for itself.
            if _on_our_loop() and self.locked():
                self.notify()
            raise

    wait.__doc__ = original.__doc__
    condition: Any = locks.Condition
    condition.wait = wait


def _gather_like_a_promise() -> None:
    """What ``asyncio.gather`` returns is CPython's own: here it hashes and waits as promises do.

    By itself it hashes by address, and its ``result()`` knows nothing of plain ``def`` workflows.
    """
    gathered: Any = vars(tasks)["_GatheringFuture"]
    original = gathered.result

    def number(self: Any) -> int:
        known: int | None = self.__dict__.get("_flowpy_number")
        if known is None:
            count = getattr(self.get_loop(), "number_future", None)
            known = self.__dict__["_flowpy_number"] = count() if count is not None else object.__hash__(self)
        return known

    def result(self: Any) -> Any:
        return suspended(self) if _on_our_loop() and not self.done() else original(self)

    gathered.__hash__ = number
    gathered.result = result


_installed: list[bool] = []


def install() -> None:
    """Put the newer forms in place, once for the process."""
    if _installed:
        return
    _installed.append(True)
    if sys.version_info < (3, 12):
        _replace_wait_for()
    if sys.version_info < (3, 13):
        _replace_taskgroup_exit()
        _replace_timeout_exit()
        _replace_condition_wait()
    _gather_like_a_promise()

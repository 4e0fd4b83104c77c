"""The one asyncio event loop on which ``async def`` activities run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any

from flowpy.worker.activity_context import ActivityContext, running

__all__ = ["ActivityLoop"]

_log = logging.getLogger("flowpy.worker")


class ActivityLoop:
    """An event loop on a daemon thread, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, function: Callable[..., Awaitable[Any]], context: ActivityContext, call: tuple[Any, ...]) -> Any:
        """Run an ``async def`` activity and wait, on the calling thread, for its end.

        Args:
            function: The activity's function.
            context: Its context; its cancel cancels the task.
            call: Positional and keyword arguments.

        Returns:
            What it returns.

        Raises:
            BaseException: What it raises; ``asyncio.CancelledError`` if it was cancelled.
        """
        args, kwargs = call
        outcome: Future[tuple[Any, BaseException | None]] = Future()
        loop = self._started()

        async def body() -> None:
            running.set(context)
            task = asyncio.current_task()
            assert task is not None

            def cancel() -> None:
                # A cancel may come after the last activity has ended and the loop with it.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(task.cancel, "the activity was asked to stop")

            context.when_canceled(cancel)
            try:
                outcome.set_result((await function(*args, **kwargs), None))
            except BaseException as error:
                # Kept as a value: SystemExit leaving a task would end the loop, and with it all activities.
                outcome.set_result((None, error))

        asyncio.run_coroutine_threadsafe(body(), loop)
        result, error = outcome.result()
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """End the loop; activities still running on it are abandoned."""
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                serve, name = self._serve, "flowpy-activities"
                threading.Thread(target=serve, args=(self._loop,), name=name, daemon=True).start()
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            while not _runs_to_its_end(loop) and self._loop is loop:
                pass
        finally:
            loop.close()


def _runs_to_its_end(loop: asyncio.AbstractEventLoop) -> bool:
    """Run a loop that is all activities'; False if something of one activity ended it, as asyncio has it."""
    try:
        loop.run_forever()
    except (SystemExit, KeyboardInterrupt) as error:
        _log.warning("a task that an async activity started raised %r; the other activities go on", error)
        return False
    return True

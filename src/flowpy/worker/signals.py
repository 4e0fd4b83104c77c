"""The signals that stop a worker process, and those that have ended one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["how_it_ended", "stop_signals"]


def how_it_ended(code: int) -> str:
    """How a process ended, for logs.

    Args:
        code: Its exit code, or a signal's number below 0. Most of the real-time signals have no name.

        >>> how_it_ended(3), how_it_ended(-9), how_it_ended(-40)
        ('exit code 3', 'killed by SIGKILL', 'killed by signal 40')
    """
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


@contextmanager
def stop_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Have SIGTERM and SIGINT call ``stop`` while a block runs; does nothing outside the main thread.

    Args:
        stop: Called in the signal handler, so it may take no lock that the main thread may hold.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

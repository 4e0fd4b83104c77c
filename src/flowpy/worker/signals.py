"""The signals that stop a worker process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stop_signals"]


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

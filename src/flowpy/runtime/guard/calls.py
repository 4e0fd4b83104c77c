"""Watching every call of workflow code: with ``sys.monitoring``, on Python 3.11 with ``sys.setprofile``."""

from __future__ import annotations

import sys
import threading
from typing import Final

from flowpy.runtime.guard.forbidden import Called, Forbidden

if sys.version_info >= (3, 12):
    from flowpy.runtime.guard.monitoring import Watch
else:
    from flowpy.runtime.guard.profiling import Watch

_lock: Final = threading.Lock()
_watch: Watch | None = None
_watchers = 0


def begin(called: Called) -> None:
    """Have forbidden calls told to a function, until ``end`` was called as often.

    Raises:
        CallError: Python lets nobody watch any more.
    """
    global _watch, _watchers  # noqa: PLW0603 - what watches calls is one for the process
    with _lock:
        if _watch is None:
            _watch = Watch(Forbidden(called))
        _watchers += 1


def end() -> None:
    """The counterpart of ``begin``: the last one gives everything back."""
    global _watch, _watchers  # noqa: PLW0603
    with _lock:
        _watchers -= 1
        if _watchers == 0 and _watch is not None:
            _watch.stop()
            _watch = None

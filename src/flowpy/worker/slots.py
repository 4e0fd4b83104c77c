"""Places for running activities."""

from __future__ import annotations

import threading

__all__ = ["Slots"]


class Slots:
    """A bounded number of places; waiting for one ends when the worker stops.

    Args:
        free: How many.
    """

    def __init__(self, free: int) -> None:
        self._free = free
        self._closed = False
        self._changed = threading.Condition()

    def take(self) -> bool:
        """Wait for a free place and take it; False if there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 or self._closed)
            if self._closed:
                return False
            self._free -= 1
            return True

    def give_back(self) -> None:
        """A place is free again."""
        with self._changed:
            self._free += 1
            self._changed.notify()

    def close(self) -> None:
        """Wake everybody who waits: no places are given out any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

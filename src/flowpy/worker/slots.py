"""Places for running work: nothing is polled while all are taken."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Slots"]


class Slots:
    """A bounded number of places; waiting for one ends when the worker stops.

    Args:
        places: How many.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self._free = places
        self._closed = False
        self._changed = threading.Condition()

    @property
    def used(self) -> int:
        """How many are taken."""
        return self.places - self._free

    @property
    def free(self) -> int:
        """Places that are free; less than none if tasks were taken without waiting."""
        return self._free

    def take(self) -> bool:
        """Wait for a free place and take it; False if there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 or self._closed)
            if self._closed:
                return False
            self._free -= 1
            return True

    def wait(self) -> bool:
        """Wait until a place is free, without taking it; False if there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 or self._closed)
            return not self._closed

    def occupy(self) -> Callable[[], None]:
        """Take a place whether one is free or not; gives what gives it back, which may be called more than once."""
        with self._changed:
            self._free -= 1
        returned = threading.Lock()

        def give_back() -> None:
            if returned.acquire(blocking=False):
                self.give_back()

        return give_back

    def give_back(self) -> None:
        """A place is free again."""
        with self._changed:
            self._free += 1
            # All, because one that only waits may leave the place to another.
            self._changed.notify_all()

    def close(self) -> None:
        """Wake everybody who waits: no places are given out any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

"""A meter that keeps what it is told, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["MemoryMeter"]


class MemoryMeter:
    """Keeps what is measured.

    >>> meter = MemoryMeter()
    >>> meter.count("polls", 1, {"kind": "decision"})
    >>> meter.count("polls", 1, {"kind": "activity"})
    >>> meter.total("polls"), meter.total("polls", kind="activity")
    (2, 1)
    """

    def __init__(self) -> None:
        self._counted: list[tuple[str, int, Mapping[str, str]]] = []
        self._recorded: list[tuple[str, float, Mapping[str, str]]] = []
        self._observed: dict[object, tuple[str, Callable[[], int], Mapping[str, str]]] = {}
        self._lock = threading.Lock()

    # --- Meter ------------------------------------------------------------------------------

    def count(self, name: str, number: int, labels: Mapping[str, str]) -> None:
        """So many more of something happened."""
        with self._lock:
            self._counted.append((name, number, dict(labels)))

    def record(self, name: str, value: float, labels: Mapping[str, str]) -> None:
        """One value of something that is measured each time."""
        with self._lock:
            self._recorded.append((name, value, dict(labels)))

    def observe(self, name: str, read: Callable[[], int], labels: Mapping[str, str]) -> Callable[[], None]:
        """Something goes up and down."""
        key = object()
        with self._lock:
            self._observed[key] = (name, read, dict(labels))

        def end() -> None:
            with self._lock:
                self._observed.pop(key, None)

        return end

    # --- for tests --------------------------------------------------------------------------

    @property
    def names(self) -> set[str]:
        """What was counted or recorded, or is observed."""
        with self._lock:
            return {name for each in (self._counted, self._recorded, self._observed.values()) for name, *_ in each}

    def total(self, name: str, **labels: str) -> int:
        """How many were counted under a name, of those with these labels."""
        with self._lock:
            return sum(number for named, number, has in self._counted if named == name and _fits(has, labels))

    def values(self, name: str, **labels: str) -> list[float]:
        """What was recorded under a name, oldest first, of that with these labels."""
        with self._lock:
            return [value for named, value, has in self._recorded if named == name and _fits(has, labels)]

    def read(self, name: str, **labels: str) -> int | None:
        """Where something that goes up and down is now, all of its name together; None if nothing is observed."""
        with self._lock:
            reads = [read for named, read, has in self._observed.values() if named == name and _fits(has, labels)]
        return sum(read() for read in reads) if reads else None


def _fits(has: Mapping[str, str], labels: dict[str, Any]) -> bool:
    return labels.items() <= has.items()

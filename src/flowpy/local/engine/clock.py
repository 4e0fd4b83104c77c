"""The clocks an engine can run on."""

from __future__ import annotations

import time
from typing import Protocol

from attrs import define

__all__ = ["Clock", "SystemClock", "VirtualClock"]


class Clock(Protocol):
    """Anything that tells the time in epoch seconds."""

    def now(self) -> float:
        """Epoch seconds; may stand still, an engine ignores steps backwards."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Epoch seconds of the machine's clock."""
        return time.time()


@define
class VirtualClock:
    """A clock that moves only when told to.

    Args:
        now: Epoch seconds to begin at.
    """

    _now: float = 1_700_000_000.0

    def now(self) -> float:
        """Epoch seconds."""
        return self._now

    def move_to(self, now: float) -> None:
        """Sets the time to epoch second `now`; never backwards."""
        self._now = max(self._now, now)

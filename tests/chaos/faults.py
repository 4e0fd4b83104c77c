"""Which faults a call meets: a plan made from a seed."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Final

from attrs import define, field, frozen

__all__ = ["KINDS", "Fate", "Plan"]

KINDS: Final = {
    "drop before": 3.0,
    "drop after": 3.0,
    "cut": 1.0,
    "delay": 4.0,
    "stall": 1.0,
    "duplicate": 3.0,
    "throttle": 3.0,
    "fail": 1.0,
}
"""What may become of a call, and how often each happens in relation to the others.

``drop before``: the service never gets it. ``drop after``: the service has acted, and the client never hears of it.
``cut``: the same, in the middle of the reply. ``delay``, ``stall``: it takes long, or longer than a decision task may.
``duplicate``: the service gets it twice, and the client one of the replies. ``throttle``, ``fail``: refused, unseen by
the service.
"""


@frozen
class Fate:
    """What becomes of one call.

    Attributes:
        kind: One of ``KINDS``, or "" for nothing special.
        seconds: How long it is held up before it reaches the service.
        after: How long its reply is held up.
        second: Of a duplicate: whether the client gets the reply to the second one.
    """

    kind: str = ""
    seconds: float = 0.0
    after: float = 0.0
    second: bool = False


@define
class Plan:
    """Fates by operation: the n-th call of an operation has the same in every run of a seed.

    Args:
        seed: The seed.
        rate: Share of calls that something happens to, 0 to 1.
        stall: Seconds that a call is held up if it stalls.
    """

    seed: int
    rate: float
    stall: float = 2.5
    met: Counter[str] = field(factory=Counter)
    _calls: Counter[str] = field(factory=Counter)
    _chance: dict[str, random.Random] = field(factory=lambda: defaultdict(random.Random))

    def fate(self, operation: str) -> Fate:
        """What becomes of the next call of an operation."""
        if operation not in self._chance:
            self._chance[operation].seed(f"{self.seed}/{operation}")
        chance = self._chance[operation]
        # As many numbers are drawn for every call, so that fates do not depend on each other.
        meets, where, long, side = (chance.random() for _ in range(4))
        if meets >= self.rate:
            return Fate()
        (kind,) = random.Random(where).choices([*KINDS], [*KINDS.values()])
        self.met[kind] += 1
        held = self.stall if kind == "stall" else 0.05 + long / 2 if kind == "delay" else 0.0
        return Fate(kind, held if side < 0.5 else 0.0, held if side >= 0.5 else 0.0, side < 0.5)

"""What the environment itself does at a time: the end of work that takes time."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from attrs import define, field

__all__ = ["Agenda"]


@define(eq=False)
class _Entry:
    at: float
    owner: object
    action: Callable[[], None]


@define
class Agenda:
    """Actions by the virtual time at which they are due; those of one time in the order in which they were added.

    Attributes:
        shuffle: Chooses among those that are due at one time; None keeps their order.
    """

    shuffle: Random | None = None
    _entries: list[_Entry] = field(factory=list, init=False)

    def add(self, at: float, owner: object, action: Callable[[], None]) -> None:
        """Add an action.

        Args:
            at: Epoch seconds.
            owner: What it belongs to, with which it is dropped.
            action: What to do.
        """
        self._entries.append(_Entry(at, owner, action))

    def drop(self, owner: object) -> None:
        """Drop all actions of an owner."""
        self._entries = [entry for entry in self._entries if entry.owner is not owner]

    def owners(self) -> list[object]:
        """Whoever has something on it, in order, each once."""
        return list({id(entry.owner): entry.owner for entry in self._entries}.values())

    def next_due(self) -> float:
        """When the next action is due, infinity if there is none."""
        return min((entry.at for entry in self._entries), default=math.inf)

    def take(self, now: float) -> Callable[[], None] | None:
        """An action that is due, taken off; None if none is."""
        due = [entry for entry in self._entries if entry.at <= now]
        if not due:
            return None
        first = min(entry.at for entry in due)
        # What belongs to one piece of work keeps its order.
        heads: dict[int, _Entry] = {}
        for entry in due:
            if entry.at == first:
                heads.setdefault(id(entry.owner), entry)
        choice = list(heads.values())
        chosen = choice[0] if self.shuffle is None else self.shuffle.choice(choice)
        self._entries.remove(chosen)
        return chosen.action

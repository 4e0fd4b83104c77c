"""What the engine asks of whatever keeps its state between calls."""

from __future__ import annotations

from typing import Protocol

from flowpy.local.engine.world import World

__all__ = ["MemoryStore", "Store"]


class Store(Protocol):
    """Keeps the state of one engine; called by one thread at a time.

    What a world's ``changes`` name is all that a transaction has changed.
    """

    def load(self, world: World) -> None:
        """Fills a new world with all that was committed."""
        ...

    def commit(self, world: World) -> None:
        """Keeps what the transaction changed, all of it or, if this raises, nothing."""
        ...

    def roll_back(self) -> bool:
        """Drops what the transaction changed.

        Returns:
            Whether the world must be loaded anew.
        """
        ...

    def close(self) -> None:
        """Lets go of files; nothing is called after it."""
        ...


class MemoryStore(Store):
    """Keeps nothing: the state is gone with the engine."""

    def load(self, world: World) -> None:
        pass

    def commit(self, world: World) -> None:
        if world.changes:
            world.changes.clear()

    def roll_back(self) -> bool:
        return False

    def close(self) -> None:
        pass

"""One transaction at a time: what it changed is kept as a whole, or undone as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

from flowpy.errors import ServiceError
from flowpy.local.engine.clock import Clock
from flowpy.local.engine.store import Store
from flowpy.local.engine.world import World

__all__ = ["Transactions"]


class Transactions:
    """A state, whoever keeps it, and the lock before both.

    Args:
        clock: Tells the time at which a new state begins.
        world: An empty state.
        store: Keeps it.

    Attributes:
        on_change: Called with nothing after a transaction that left something new to poll for. It is called outside
            the lock, on the thread of the transaction.
    """

    def __init__(self, clock: Clock, world: World, store: Store) -> None:
        self.clock = clock
        self.world = world
        self.on_change: Callable[[], None] | None = None
        self._store = store
        self._lock = RLock()
        self._depth = 0
        self._stale = False
        store.load(world)

    def close(self) -> None:
        """Lets go of the store; the engine answers no calls any more."""
        with self._lock:
            self._store.close()

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """One thread at a time; whoever waits for tasks is told afterwards."""
        stirred = False
        try:
            with self._lock:
                self._depth += 1
                try:
                    # A Lambda handler may call the engine: such a call is part of the transaction the handler runs in.
                    yield from self._transaction() if self._depth == 1 else (None,)
                finally:
                    self._depth -= 1
                    if not self._depth:
                        stirred, self.world.stirred = self.world.stirred, False
        finally:
            # Outside the lock, so that whoever is told may hold a lock of his own while he calls the engine.
            if stirred and self.on_change is not None:
                self.on_change()

    def _transaction(self) -> Iterator[None]:
        fault: ServiceError | None = None
        try:
            if self._stale:
                self._reload()
            try:
                yield
            except ServiceError as error:
                # An answer like another: what fell due before the call has happened.
                fault = error
            self._store.commit(self.world)
        except BaseException:
            self._stale = self._store.roll_back()
            raise
        if fault is not None:
            raise fault

    def _reload(self) -> None:
        old = self.world
        self.world = World(
            old.quotas,
            old.seed,
            self.clock.now(),
            refusals=old.refusals,
            lambda_functions=old.lambda_functions,
            wake_between=old.wake_between,
            region=old.region,
            throttle=old.throttle,
        )
        self._store.load(self.world)
        self._stale = False

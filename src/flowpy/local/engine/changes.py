"""What the transaction under way has touched, so that a store need look at nothing else."""

from __future__ import annotations

from attrs import define, field

from flowpy.local.engine.state import Domain, Effect, Execution, Registration

__all__ = ["Changes"]


@define(eq=False)
class Changes:
    """What has to be kept at the end of a transaction.

    Attributes:
        runs: Executions whose state or history changed, by runId.
        open: What is open of them, or was: runId, and the event that opened an activity, a timer, a child or a Lambda
            function.
        domains: Domains that are new or changed, by name; their types aside.
        types: Types that are new or changed, None for those deleted; by domain and (kind, name, version).
        effects: New effects, None for those that are over; by number.
    """

    runs: dict[str, Execution] = field(factory=dict)
    open: set[tuple[str, int]] = field(factory=set)
    domains: dict[str, Domain] = field(factory=dict)
    types: dict[tuple[str, tuple[str, str, str]], Registration | None] = field(factory=dict)
    effects: dict[int, Effect | None] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.runs or self.domains or self.types or self.effects)

    def touch_type(self, domain: Domain, registration: Registration) -> None:
        """A type is new, changed, or gone from its domain."""
        key = (registration.kind, registration.name, registration.version)
        self.types[domain.name, key] = domain.types.get(key)

    def add_effect(self, effect: Effect) -> None:
        """Something is left to be done in a later transaction."""
        self.effects[effect.number] = effect

    def end_effect(self, effect: Effect) -> None:
        """It has been done."""
        if self.effects.pop(effect.number, None) is None:
            self.effects[effect.number] = None

    def clear(self) -> None:
        """The next transaction begins."""
        self.runs.clear()
        self.open.clear()
        self.domains.clear()
        self.types.clear()
        self.effects.clear()

"""The retry policy of an activity.

What is decided from it is decided from the form recorded with each attempt, so that a changed policy takes effect with
the next attempt scheduled and never makes the code diverge from its history.
"""

from __future__ import annotations

import builtins
import hashlib
import math
from collections.abc import Iterable
from typing import Any, Final

from attrs import evolve, frozen

from flowpy.declare.durations import YEAR, Duration, exact_seconds
from flowpy.errors import DeclarationError

__all__ = ["Retry"]

_CATCH_ALL: Final = frozenset({"Exception", "BaseException"})
_NUMBERS: Final = ("initial", "coefficient", "maximum", "expiration", "jitter")
_STEEPEST: Final = 1000

Rule = type[BaseException] | str
"""An exception class, or the name of one, with or without its module."""


def _count(value: Any, what: str) -> int | None:
    """All attempts together; None is no limit."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise DeclarationError(
        f"{what}: {value!r} is not a count",
        remedy="give all attempts together, 1 or more, or None for no limit; attempts=1 is no retry",
    )


def _first_span(value: Any, what: str) -> float:
    """The first back-off, which must be a time."""
    span = exact_seconds(value, what)
    if span is None:
        raise DeclarationError(f"{what}: NONE is no back-off", remedy='give a duration such as "1s", or 0 for none')
    return span


def _longest(value: Any, what: str) -> float | None:
    """A limit in seconds with their fraction; None and NONE are no limit."""
    return None if value is None else exact_seconds(value, what)


def _number(value: Any, what: str, least: float, most: float) -> float:
    """A number within bounds."""
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
        return float(value)
    raise DeclarationError(f"{what}: {value!r} is not a number from {least:g} to {most:g}")


def _rules(value: Any, what: str) -> tuple[Rule, ...]:
    """Exception classes and names, as a tuple; a single one may stand alone."""
    several = isinstance(value, Iterable) and not isinstance(value, type | str)
    rules: tuple[Any, ...] = tuple(value) if several else (value,)
    for rule in rules:
        if not (isinstance(rule, str) and rule) and not (isinstance(rule, type) and issubclass(rule, BaseException)):
            raise DeclarationError(
                f"{what}: {rule!r} is neither an exception class nor the name of one",
                remedy='give such as (ConnectionError, "shop.errors.Busy")',
            )
    return rules


@frozen(init=False)
class Retry:
    """How often, when and after which errors an activity is tried again.

    Back-off before attempt k is ``initial * coefficient ** (k - 2)``, at most ``maximum``, varied by ``jitter`` and
    rounded up to whole seconds. It is a timer in the history; nothing waits in memory.

    Attributes:
        attempts: All attempts together, the first one included; None is no limit; 1 is no retry.
        initial: Back-off before the second attempt, seconds; fractions are kept until the end.
        coefficient: Growth from one back-off to the next, at least 1.
        maximum: Longest back-off, seconds, or None.
        expiration: No attempt starts later than this many seconds after the first was scheduled; None is no limit.
        jitter: Share of the back-off that varies, 0 to 1: 0.1 is from 90 % to 110 %.
        retry_on: Exception classes or names; only these are tried again. Empty: all.
        never_on: Exception classes or names that are never tried again; goes before ``retry_on``.

    Raises:
        DeclarationError: If a value is out of its range.
    """

    attempts: int | None
    initial: float
    coefficient: float
    maximum: float | None
    expiration: float | None
    jitter: float
    retry_on: tuple[Rule, ...]
    never_on: tuple[Rule, ...]

    def __init__(
        self,
        attempts: int | None = None,
        initial: Duration = "1s",
        coefficient: float = 2.0,
        maximum: Duration | None = None,
        expiration: Duration | None = None,
        jitter: float = 0.1,
        retry_on: Rule | Iterable[Rule] = (),
        never_on: Rule | Iterable[Rule] = (),
    ) -> None:
        self.__attrs_init__(
            attempts=_count(attempts, "Retry attempts"),
            initial=_first_span(initial, "Retry initial"),
            coefficient=_number(coefficient, "Retry coefficient", 1, _STEEPEST),
            maximum=_longest(maximum, "Retry maximum"),
            expiration=_longest(expiration, "Retry expiration"),
            jitter=_number(jitter, "Retry jitter", 0, 1),
            retry_on=_rules(retry_on, "Retry retry_on"),
            never_on=_rules(never_on, "Retry never_on"),
        )
        if self.maximum is not None and self.maximum < self.initial:
            raise DeclarationError(
                f"Retry maximum: {self.maximum:g} s is below initial, {self.initial:g} s",
                remedy="raise it or lower initial",
            )

    def control(self, first: int) -> dict[str, Any]:
        """Returns the policy as it is recorded with every attempt, under ``retry`` in its control.

        Args:
            first: Epoch seconds of the DecisionTaskStarted in which attempt 1 was scheduled.

        Returns:
            Numbers in seconds; an absent ``attempts``, ``maximum`` or ``expiration`` is no limit.
        """
        recorded = {name: getattr(self, name) for name in ("attempts", *_NUMBERS)}
        return {name: _plain(value) for name, value in recorded.items() if value is not None} | {"first": first}

    @classmethod
    def from_control(cls, control: Any, code: Retry | None) -> Retry:
        """Returns the policy recorded with an attempt, with the error rules of the code.

        Reading is lenient: a form that cannot be used as a whole leaves the code's policy in force.

        Args:
            control: What ``control`` made, or anything else that stood in its place.
            code: The policy the code has now; None is no retry.
        """
        fallback = code if code is not None else cls(attempts=1)
        if not isinstance(control, dict) or not control:
            return fallback
        # An absent limit is no limit, whereas an absent pace is just not known.
        recorded: dict[str, Any] = {name: control.get(name) for name in ("attempts", "maximum", "expiration")}
        recorded |= {name: control[name] for name in ("initial", "coefficient", "jitter") if name in control}
        try:
            return evolve(fallback, **recorded)
        except DeclarationError:
            return fallback

    def delay(self, attempt: int, run_id: str, id: str) -> int:
        """Returns the back-off before an attempt, the same in every replay.

        Args:
            attempt: The attempt to come, 2 or more.
            run_id: The run's runId.
            id: The activityId of the first attempt.

        Returns:
            Whole seconds, at most one year.
        """
        try:
            span = self.initial * self.coefficient ** (attempt - 2)
        except OverflowError:
            span = YEAR if self.initial else 0
        span = min(span, YEAR if self.maximum is None else self.maximum)
        digest = hashlib.sha256(f"{run_id}/{id}/{attempt}".encode()).digest()
        share = int.from_bytes(digest[:8], "big") / 2**64
        return min(math.ceil(span * (1 + self.jitter * (2 * share - 1))), YEAR)

    def allows(self, attempt_ended: int, first: float, now: float, delay: float) -> bool:
        """Returns whether attempts and time are left for another try.

        Args:
            attempt_ended: Number of the attempt that ended, 1 or more.
            first: Epoch seconds at which attempt 1 was scheduled.
            now: Epoch seconds of the decision.
            delay: Back-off before the next attempt, seconds.
        """
        if self.attempts is not None and attempt_ended >= self.attempts:
            return False
        return self.expiration is None or now + delay - first <= self.expiration

    def matches(self, error_names: Iterable[str]) -> bool:
        """Returns whether an error is one to try again after.

        Errors are known by their recorded names: ``retry_on=(OSError,)`` also takes ``ConnectionError``, because
        Python itself says what that is, but not a subclass defined by an application; name that one too.

        Args:
            error_names: Names of the error's type, such as ``["Busy", "shop.errors.Busy"]``.
        """
        names = _with_bases(error_names)
        if _any_matches(self.never_on, names):
            return False
        return not self.retry_on or _any_matches(self.retry_on, names)


def _plain(value: float) -> float:
    """A whole number without its ``.0``, to be read by people in the console."""
    return int(value) if value == int(value) else value


def _with_bases(names: Iterable[str]) -> set[str]:
    """Adds the bases of Python's own exceptions, which are the same wherever the code runs."""
    known = set(names)
    for name in tuple(known):
        found = getattr(builtins, name.removeprefix("builtins."), None)
        if isinstance(found, type) and issubclass(found, BaseException):
            known.update(base.__name__ for base in found.__mro__)
    return known


def _any_matches(rules: tuple[Rule, ...], names: set[str]) -> bool:
    return any(not names.isdisjoint(_names_of(rule)) or not _CATCH_ALL.isdisjoint(_names_of(rule)) for rule in rules)


def _names_of(rule: Rule) -> tuple[str, ...]:
    if isinstance(rule, str):
        return (rule,)
    return (rule.__name__, rule.__qualname__, f"{rule.__module__}.{rule.__qualname__}")

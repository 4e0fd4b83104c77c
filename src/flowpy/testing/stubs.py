"""Stubs: what an activity, a child workflow or a Lambda function does in a test."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from attrs import evolve, field, frozen

from flowpy.data.converter import Converter
from flowpy.declare.activity import Activity
from flowpy.declare.durations import Duration, seconds
from flowpy.declare.names import did_you_mean
from flowpy.declare.workflow import Workflow
from flowpy.errors import ActivityCancelRequested, CallError, DeclarationError
from flowpy.runtime.lambdas import LambdaFunction
from flowpy.testing.given import number, several
from flowpy.testing.outcomes import NOTHING, WAYS, Outcome, Target, check_outcome, check_target

__all__ = ["Stub", "Stubs"]


class Stub:
    """What calls of one thing end in, one after the other; made by ``Environment.stub``.

    Args:
        what: What is stubbed, for messages.
        declared: The declared activity, workflow or Lambda function, None as long as only its name is known.
        converter: Reads and writes values.
    """

    def __init__(self, what: str, declared: Target | None, converter: Converter) -> None:
        self.what = what
        self._declared = declared
        self._converter = converter
        self._outcomes: list[Outcome] = []
        self._drawn = 0

    def then(
        self,
        *,
        returns: Any = NOTHING,
        raises: BaseException | type[BaseException] = NOTHING,
        by: Callable[..., Any] = NOTHING,
        times_out: str = NOTHING,
        delay: Duration = 0,
        heartbeats: Sequence[Any] = (),
        times: int | None = None,
    ) -> Self:
        """Say how the calls after those told so far end.

        Args:
            returns: The result.
            raises: What it raises: an exception, or a class of them.
            by: A function of the same signature that does the work instead; what it asserts fails the test.
            times_out: The timeout that strikes: ``"START_TO_CLOSE"``, ``"HEARTBEAT"``, ``"SCHEDULE_TO_START"`` or
                ``"SCHEDULE_TO_CLOSE"`` for activities, ``"START_TO_CLOSE"`` for children and Lambda functions.
            delay: Virtual time that the work takes, such as ``"3d"``; the end comes after it.
            heartbeats: Details that an activity records meanwhile, evenly spread over the delay.
            times: How many calls end so; default all that follow, except that the next ``then`` ends one call.

        Returns:
            The same stub.

        Raises:
            DeclarationError: It does not fit what is stubbed: the message says what and why.
        """
        given = {"returns": returns, "raises": raises, "by": by, "times_out": times_out}
        ways = {way: value for way, value in given.items() if value is not NOTHING}
        if len(ways) > 1 or not (ways or delay or heartbeats):
            raise DeclarationError(
                f"stub of {self.what}: it says {' and '.join(ways) or 'nothing'}",
                remedy=f"say one of {', '.join(WAYS)}"
                + ("" if ways else "; with delay or heartbeats alone the real function runs"),
            )
        if times is not None:
            number(times, f"stub of {self.what}: times", "number of calls")
        details = several(heartbeats, f"stub of {self.what}: heartbeats", "give [details, …]", "list of details")
        way, value = next(iter(ways.items()), ("", None))
        outcome = Outcome(way, value, seconds(delay, "delay") or 0, tuple(details), times)
        if self._declared is not None:
            check_outcome(self.what, self._declared, outcome, self._converter)
        if self._outcomes and self._outcomes[-1].left is None:
            self._outcomes[-1] = evolve(self._outcomes[-1], left=1)
        self._outcomes.append(outcome)
        return self

    def fit(self, declared: Target) -> None:
        """Take the object that a name stands for.

        Raises:
            DeclarationError: What was told does not fit it.
        """
        if self._declared is None:
            for outcome in self._outcomes:
                check_outcome(self.what, declared, outcome, self._converter)
            self._declared = declared

    def draw(self) -> Outcome:
        """How the next call ends.

        Raises:
            CallError: All that was told is used up.
        """
        self._drawn += 1
        for position, outcome in enumerate(self._outcomes):
            if outcome.left is None:
                return outcome
            if outcome.left > 0:
                self._outcomes[position] = evolve(outcome, left=outcome.left - 1)
                return outcome
        raise CallError(
            f"{self.what} was called {self._drawn} times, and its stub says how the first {self._drawn - 1} calls end",
            remedy="add .then(...), or leave out times=... of the last",
        )


@frozen
class Stubs:
    """All stubs of a test.

    Attributes:
        converter: Reads and writes values.
        failures: What stubs asserted in vain.
    """

    converter: Converter
    failures: list[BaseException] = field(factory=list, init=False)
    _by_type: dict[tuple[str, str, str], Stub] = field(factory=dict, init=False)
    _by_name: dict[str, Stub] = field(factory=dict, init=False)

    def add(self, target: Target | str) -> Stub:
        """Begin a stub, in place of the one there was.

        Args:
            target: What to stub, or its name.

        Raises:
            DeclarationError: It is nothing that can be stubbed.
        """
        if isinstance(target, str):
            stub = self._by_name[target] = Stub(target, None, self.converter)
            return stub
        check_target("stub", target)
        stub = self._by_type[_key(target)] = Stub(target.name, target, self.converter)
        return stub

    def find(self, target: Target) -> Stub | None:
        """The stub of something that is called, by object before by name."""
        stub = self._by_type.get(_key(target))
        if stub is None:
            stub = self._by_name.get(target.name)
            if stub is not None:
                stub.fit(target)
        return stub

    def unused(self, called: Iterable[str]) -> dict[str, str]:
        """The names that were stubbed and never called, each with the advice which name may be meant.

        Args:
            called: The names of all that was called.
        """
        names = set(called)
        known = {*self._by_name, *(name for _, name, _ in self._by_type)}
        return {name: did_you_mean(name, names - known) for name in self._by_name if name not in names}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Keep what a stub's function asserts: it is the test's, not a failure of the work."""
        try:
            yield
        except AssertionError as error:
            self.failures.append(error)
            raise
        except (Exception, CancelledError, ActivityCancelRequested, GeneratorExit):
            raise
        except BaseException as error:
            # pytest.fail, pytest.skip, Ctrl-C.
            self.failures.append(error)
            raise

    def raise_failures(self) -> None:
        """Raise what a stub asserted in vain.

        Raises:
            BaseException: The first of them.
        """
        if self.failures:
            raise self.failures.pop(0)


def _key(target: Target) -> tuple[str, str, str]:
    kind = next(kind.__name__ for kind in (Activity, Workflow, LambdaFunction) if isinstance(target, kind))
    return kind, target.name, getattr(target, "version", "")

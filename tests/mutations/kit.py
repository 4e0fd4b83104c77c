"""Changes a sample workflow and lets the testing kit look at it, each part of the kit for itself.

A mutation is a change of a sample's text. The kit is used as its users do: histories that the sample as it stands has
made are replayed with the changed one; a test of the changed one is run, in an ``Environment`` and in a strict one; its
histories are replayed under other hash seeds; ``flowpy check`` reads it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from attrs import frozen

import flowpy
from flowpy.check import check_paths
from flowpy.declare.workflow import Workflow
from flowpy.testing import Environment, Replayer
from flowpy.testing.hash_seeds import HashSeeds

ROOT: Final = Path(__file__).parents[2]
SEED: Final = 7

AND: Final = " + "
"""Between what is said of one history and of another."""

_STANDS: Final = "; strict: input changed"

Edits = tuple[tuple[str, str], ...]
Scenario = Callable[[Any, Environment], None]
"""A test of a sample, given its module."""


@frozen(eq=False)
class Sample:
    """A module with workflows, and how it is tested.

    Attributes:
        path: Its file.
        scenarios: Tests of it, by name.
        before: Edits that make it what it was before it had patches: some runs under way are from then.
    """

    path: Path
    scenarios: dict[str, Scenario]
    before: Edits = ()

    @property
    def text(self) -> str:
        """Its text as it stands."""
        return self.path.read_text(encoding="utf-8")


@frozen
class Seen:
    """What each part of the kit says of a change, "" where it says nothing.

    Attributes:
        replay: Replays of stored histories: the guesses of their reports; what warnings are about, and the guess of
            strict mode, which takes them for errors.
        test: A test in an environment, whose histories are replayed up to each decision: the guess.
        strict: The same test in strict mode, with the guard: the rule that a call breaks.
        seeds: Its histories replayed under other hash seeds: the guess.
        check: ``flowpy check``: rules.
    """

    replay: str = ""
    test: str = ""
    strict: str = ""
    seeds: str = ""
    check: str = ""

    @property
    def is_flagged(self) -> bool:
        """Whether anything is more than a warning that the recorded value stands."""
        replay = [each for each in self.replay.split(AND) if each and not each.endswith(_STANDS)]
        return bool(replay or self.test or self.strict or self.seeds or self.check)


def changed(text: str, edits: Edits) -> str:
    """A text with each edit made; each must fit at exactly one place."""
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the sample"
        text = text.replace(old, new)
    return text


def loaded(text: str, path: Path) -> ModuleType:
    """The module that a text is, in a file of its own."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workflows(module: ModuleType) -> list[Workflow[..., Any]]:
    """What a module declares."""
    return [value for value in vars(module).values() if isinstance(value, Workflow)]


@frozen
class Kit:
    """The parts of the kit, at work on one changed sample.

    Attributes:
        sample: What was changed.
        histories: Its stored histories.
        hash_seeds: Processes with other hash seeds.
    """

    sample: Sample
    histories: tuple[dict[str, Any], ...]
    hash_seeds: HashSeeds

    def look_at(self, text: str, path: Path) -> Seen:
        """Have every part look at a text."""
        module = loaded(text, path)
        checks = (Environment.check, self.hash_seeds.check)
        try:
            test, seeds = self._test(module, None, *checks)
            (strict,) = self._test(module, SEED, Environment.check)
            check = [finding.rule_id for finding in check_paths([str(path)])]
            return Seen(_said(self._replay(module)), test, strict, seeds, _said(check))
        finally:
            del sys.modules[path.stem]

    def _replay(self, module: ModuleType) -> Iterator[str]:
        for history in self.histories:
            replayed = Replayer(workflows(module)).replay(history, check=False)
            if replayed.error is not None:
                yield _guessed(replayed.error)
            elif replayed.warnings:
                refused = Replayer(workflows(module), strict=True).replay(history, check=False)
                assert refused.error is not None
                about = ", ".join(dict.fromkeys(warning.what for warning in replayed.warnings))
                yield f"warns of {about}; strict: {_guessed(refused.error)}"

    def _test(self, module: ModuleType, seed: int | None, *checks: Callable[[Environment], None]) -> list[str]:
        """Run the sample's tests; what each of the checks at their ends says, or the end that no test came to."""
        found: list[list[str]] = [[] for _ in checks]
        for scenario in self.sample.scenarios.values():
            environment = Environment(strict=seed is not None, seed=seed)
            raised: list[str] = []
            try:
                scenario(module, environment)
            except flowpy.ExecutionError as error:
                # That a run fails is for the test to see; that it was refused something, the kit says.
                raised = [_guessed(error.__cause__)] if isinstance(error.__cause__, flowpy.CallError) else []
            except flowpy.UnknownResource:
                pass  # the test tells something to a run that has ended
            except (flowpy.FlowpyError, TypeError) as error:
                raised = [_guessed(error)]
            for said, check in zip(found, checks, strict=True):
                try:
                    check(environment)
                except flowpy.FlowpyError as error:
                    said.append(_guessed(error))
            found[0] += raised
            environment.close()
        return [_said(each) for each in found]


def recorded(sample: Sample, edits: Edits, path: Path) -> tuple[dict[str, Any], ...]:
    """The histories that the tests of a sample make."""
    module = loaded(changed(sample.text, edits), path)
    found: list[dict[str, Any]] = []
    for scenario in sample.scenarios.values():
        with Environment() as swf:
            scenario(module, swf)
            found += swf.histories()
    del sys.modules[path.stem]
    return tuple(found)


def _said(found: Iterable[str]) -> str:
    return AND.join(dict.fromkeys(found))


def _guessed(error: BaseException) -> str:
    """The kind of an error: its guess, its rule, or its class."""
    if isinstance(error, flowpy.NotDeterministic) and error.rule:
        return error.rule
    if isinstance(error, flowpy.NonDeterminismError):
        return "differs" if error.divergence is None else str(error.divergence.guess)
    return type(error).__name__

"""What the pytest plugin does in one run of pytest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import define, field

from flowpy.data.converter import Converter
from flowpy.errors import DeclarationError, FlowpyError
from flowpy.runtime.replaying import Replay
from flowpy.testing.environment import Environment
from flowpy.testing.hash_seeds import HashSeeds
from flowpy.testing.recorded import replay_recorded

__all__ = ["Session", "file_name", "session_of", "shown"]

_LONGEST: Final = 180
_ODD: Final = re.compile(r"[^\w.+=@-]+")
"""What no file name should have."""


@define
class Session:
    """The plugin's options, and what it holds for as long as pytest runs.

    Attributes:
        strict: Whether environments are strict.
        seed: What they leave to chance.
        folder: Where histories are recorded, None if they are not.
        hash_seeds: Replays under other hash seeds.
    """

    strict: bool
    seed: int
    folder: Path | None
    hash_seeds: HashSeeds
    _environments: dict[str, list[Environment]] = field(factory=dict, init=False)

    def environment(self, item: pytest.Item, converter: Converter) -> Iterator[Environment]:
        """The environment of a test, closed at its end."""
        seed = self.seed if self.strict else None
        environment = Environment(strict=self.strict, seed=seed, converter=converter)
        self._environments.setdefault(item.nodeid, []).append(environment)
        try:
            yield environment
        finally:
            self._environments.pop(item.nodeid, None)
            environment.close()

    def replay(self, workflow: Any, source: Any, **options: Any) -> Replay:
        """What the fixture ``replay`` is."""
        return replay_recorded(workflow, source, **{"strict": self.strict, **options})

    def check(self, item: pytest.Item) -> None:
        """Replay the histories that a test made, and record them if they are to be.

        Raises:
            pytest.fail.Exception: One does not replay.
        """
        for environment in self._environments.get(item.nodeid, ()):
            found = self._found(environment)
            if found:
                # The report says all; the frames that found it out say nothing, nor does a second report as context.
                pytest.fail(found, pytrace=False)
            if self.folder is not None:
                _record(environment.histories(), self.folder, item.nodeid)

    def _found(self, environment: Environment) -> str:
        """The report on a history that does not replay, "" if all do."""
        try:
            environment.check()
            self.hash_seeds.check(environment)
        except FlowpyError as error:
            return shown(error)
        return ""

    def name_seed(self, item: pytest.Item) -> None:
        """Have the report of a failure say what chance decided."""
        if self.strict and item.nodeid in self._environments:
            item.add_report_section("call", "flowpy", f"strict, --flowpy-seed={self.seed}")

    def close(self) -> None:
        """End the processes that it has started."""
        self.hash_seeds.close()


_KEY: Final = pytest.StashKey[Session]()


def session_of(config: pytest.Config) -> Session:
    """The session of a run of pytest."""
    session = config.stash.get(_KEY, None)
    if session is None:
        option = config.option
        folder = config.rootpath / config.getini("flowpy_histories") if option.flowpy_record else None
        try:
            seeds = HashSeeds.of(option.flowpy_hash_seeds, config.rootpath)
        except DeclarationError as error:
            raise pytest.UsageError(f"--flowpy-hash-seeds: {error}") from error
        session = config.stash[_KEY] = Session(option.flowpy_strict, option.flowpy_seed, folder, seeds)
    return session


def shown(error: BaseException) -> str:
    """An error with its notes, as text."""
    return "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])


def _record(histories: list[dict[str, Any]], folder: Path, nodeid: str) -> None:
    """Write the histories of a test, one file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, history in enumerate(histories, 1):
        name = file_name(nodeid) + (f"~{number}" if number > 1 else "")
        text = json.dumps(history, indent=1, ensure_ascii=False, default=lambda moment: moment.isoformat())
        (folder / f"{name}.history.json").write_text(text + "\n", encoding="utf-8")


def file_name(nodeid: str) -> str:
    """A file name for a test, such as ``tests.test_order.test_declined`` for ``tests/test_order.py::test_declined``.

    No two tests have the same one.
    """
    test, bracket, parameters = nodeid.partition("[")
    parameters = parameters.removesuffix("]")
    name = _ODD.sub(".", test.replace(".py::", ".").replace("::", ".") + bracket + parameters).lstrip(".")
    if len(name) <= _LONGEST and not _ODD.search(parameters):
        return name
    return f"{name[:_LONGEST]}-{hashlib.sha256(nodeid.encode()).hexdigest()[:16]}"

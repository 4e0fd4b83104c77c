"""``*.history.json`` files as pytest's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowpy.errors import FlowpyError
from flowpy.testing.recorded import replay_recorded, workflows_in
from flowpy.testing.session import session_of, shown

__all__ = ["HistoryFile", "HistoryItem"]


class HistoryFile(pytest.File):
    """A file with one recorded history."""

    def collect(self) -> Iterator[HistoryItem]:
        """The one test that it is."""
        yield HistoryItem.from_parent(self, name="replay")


class HistoryItem(pytest.Item):
    """Replays a recorded history with the workflow of its type."""

    def runtest(self) -> None:
        """Replay it.

        Raises:
            UsageError: It is not said where the workflows are, or they are not there.
            FlowpyError: It does not replay.
        """
        modules: list[str] = self.config.getini("flowpy_workflows")
        if not modules:
            raise pytest.UsageError(
                "which workflow is it of? Name the modules that declare workflows: flowpy_workflows = shop.workflows"
            )
        try:
            workflows = workflows_in(modules)
        except ModuleNotFoundError as error:
            if not any(f"{name}.".startswith(f"{error.name}.") for name in modules):
                raise  # a module of theirs imports what is not there
            raise pytest.UsageError(
                f"there is no module {error.name!r}, which flowpy_workflows names: correct it, or say with the option "
                "pythonpath of pytest where it is"
            ) from error
        replay_recorded(workflows, self.path, strict=session_of(self.config).strict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong with it, without the frames that found out."""
        error = excinfo.value
        if isinstance(error, FlowpyError | pytest.UsageError):
            return shown(error)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it stands, for reports."""
        return self.path, None, f"replay of {self.path.name}"

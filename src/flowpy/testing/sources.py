"""What histories are read from in tests: files, runs, pages, folders, executions that a client lists."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from flowpy.client.client import Client
from flowpy.client.description import Description
from flowpy.errors import DeclarationError, HistoryError
from flowpy.history.reader import History, read_history
from flowpy.testing.given import of_kind
from flowpy.words import an

__all__ = ["ExecutionHandle", "each_source", "named", "read_source"]


@runtime_checkable
class ExecutionHandle(Protocol):
    """What can fetch its own history, such as ``client.run(workflow_id, run_id)`` or a ``HistoryBuilder``."""

    workflow_id: str
    run_id: str

    def history(self) -> list[dict[str, Any]]:
        """The events recorded so far."""
        ...


def read_source(source: Any, workflow_id: str | None = None, run_id: str | None = None) -> History:
    """Read a history.

    Args:
        source: A handle on a run, or whatever ``read_history`` takes.
        workflow_id: workflowId instead of what the source says.
        run_id: runId likewise.

    Raises:
        HistoryError: It is no history.
        DeclarationError: It is an execution that was only listed.
    """
    if isinstance(source, Description):
        remedy = "give replay_all(..., client=...), which reads its history, or client.run(workflow_id, run_id)"
        raise DeclarationError(f"workflow {source.workflow_id!r} is only listed", remedy=remedy)
    if isinstance(source, ExecutionHandle):
        workflow_id, run_id = workflow_id or source.workflow_id, run_id or source.run_id
        source = source.history()
    return read_history(source, workflow_id=workflow_id, run_id=run_id)


def each_source(sources: Any, client: Client | None) -> Iterator[Any]:
    """Many sources one by one: the files of a folder, handles of listed executions, all others as they are.

    Raises:
        HistoryError: The folder has no file ending in ``.json``, or does not exist.
        DeclarationError: It is neither a folder nor has it sources, or the client is none.
    """
    if client is not None:
        of_kind(client, Client, "client", "give flowpy.Client(domain, ...)")
    if isinstance(sources, (str, os.PathLike)):
        folder = Path(sources)
        files = sorted(folder.rglob("*.json"))
        if not files:
            there = "has no file ending in .json" if folder.is_dir() else "is no folder (one history: replay(...))"
            raise HistoryError(f"{folder} {there}", remedy=f"relative paths start at {Path.cwd()}")
        yield from files
        return
    if not isinstance(sources, Iterable):
        raise DeclarationError(
            f"sources: {sources!r} is no list", remedy="give a folder, or a list of what replay() takes"
        )
    for source in sources:
        if isinstance(source, Description) and client is not None:
            yield client.run(source.workflow_id, source.run_id)
        else:
            yield source


def named(source: Any) -> str:
    """A source in a few words, for messages."""
    if isinstance(source, ExecutionHandle):
        return f"workflow {source.workflow_id!r} run {source.run_id!r}"
    if isinstance(source, (str, os.PathLike)):
        text = os.fsdecode(source)
        return "the text given" if text.lstrip().startswith(("{", "[")) else text
    return an(type(source).__name__)

"""Histories on disk and on standard output, in every form that flowpy reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from flowpy.cli.printing import plain

__all__ = ["FORMS", "PAGE", "TIMES", "file_name", "lines", "write"]

PAGE: Final = 1_000
"""Events in each page of the form ``pages``, as SWF gives them."""

TIMES: Final[dict[str, Callable[[datetime], Any]]] = {
    "iso": plain,
    "seconds": lambda time: round(time.timestamp(), 3),
    "milliseconds": lambda time: round(time.timestamp() * 1000),
}
"""How times are written: as the AWS CLI 2 does, as the wire and the AWS CLI 1, as Java."""

_TELLING: Final = 14
_ODD: Final = re.compile(r"[^\w.+=@-]+")


def lines(
    workflow_id: str, run_id: str, events: Iterable[dict[str, Any]], form: str = "object", times: str = "iso"
) -> Iterator[str]:
    """Write a history; only `lines` comes as the events do.

    Args:
        workflow_id: Whose it is.
        run_id: Likewise.
        events: Its events as boto3 gives them.
        form: ``object`` with ``events`` and whose they are, ``events`` as a list, ``pages`` of 1,000, ``lines``.
        times: A name of `TIMES`.

    Yields:
        Lines without their ends.
    """
    written = TIMES[times]

    def default(value: Any) -> Any:
        return written(value) if isinstance(value, datetime) else plain(value)

    if form == "lines":
        yield from (json.dumps(event, ensure_ascii=False, default=default) for event in events)
        return
    shaped = FORMS[form]({"workflowId": workflow_id, "runId": run_id}, list(events))
    yield json.dumps(shaped, ensure_ascii=False, indent=1, default=default)


def _pages(execution: dict[str, str], events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    starts = range(0, len(events), PAGE)
    pages: list[dict[str, Any]] = [{"events": events[start : start + PAGE]} for start in starts]
    for number, page in enumerate(pages[:-1], 1):
        page["nextPageToken"] = f"page {number + 1} of {execution['runId']}"
    return pages


FORMS: Final[dict[str, Callable[[dict[str, str], list[dict[str, Any]]], Any]]] = {
    "object": lambda execution, events: {"workflowExecution": execution, "events": events},
    "events": lambda _, events: events,
    "pages": _pages,
    "lines": lambda _, events: events,
}
"""What is made of an execution and its events."""


def write(
    file: Path,
    workflow_id: str,
    run_id: str,
    events: Iterable[dict[str, Any]],
    form: str = "object",
    times: str = "iso",
) -> None:
    """Write a history into a file; it is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in lines(workflow_id, run_id, events, form, times))
        part.replace(file)
    except OSError as error:
        error.filename = str(file)  # the other name is no concern of anybody's
        raise
    finally:
        part.unlink(missing_ok=True)


def file_name(workflow_id: str, run_id: str) -> str:
    """A file name for an execution: its workflowId, and as much of its runId as tells its runs apart."""
    return f"{_ODD.sub('.', workflow_id)[:80]}-{_ODD.sub('.', run_id)[:_TELLING]}.history.json"

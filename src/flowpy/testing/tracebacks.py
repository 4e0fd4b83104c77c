"""Tracebacks for those who test workflows: their own lines, without flowpy's between them."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Final

from flowpy.errors import FlowpyError

__all__ = ["shorten"]

_FLOWPY: Final = str(Path(__file__).resolve().parent.parent)


def shorten(error: BaseException) -> None:
    """Leave flowpy's frames out of the traceback of an error and of those that led to it.

    Left alone is what may be a mistake of flowpy's own: an error of another kind that its code raised.

    Args:
        error: The error; it is changed in place.
    """
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        pending += (one.__cause__, one.__context__)
        _shorten(one)


def _shorten(error: BaseException) -> None:
    steps: list[TracebackType] = []
    step = error.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    theirs = [step for step in steps if not step.tb_frame.f_code.co_filename.startswith(_FLOWPY)]
    if not theirs or (theirs[-1] is not steps[-1] and not isinstance(error, FlowpyError)):
        return
    made: TracebackType | None = None
    for step in reversed(theirs):
        made = TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
    error.__traceback__ = made

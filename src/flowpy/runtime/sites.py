"""Where user code made a call: found while it runs, turned into a line only for a report."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from flowpy.replay.divergence import CodeLine
from flowpy.replay.entities import Site

if TYPE_CHECKING:
    from flowpy.runtime.task import Task

# With the separator: a folder beside flowpy whose name begins alike is the user's.
_FLOWPY = f"{Path(__file__).resolve().parent.parent}{os.sep}"
_ASYNCIO = f"{Path(asyncio.__file__).resolve().parent}{os.sep}"
_OURS = (_FLOWPY, _ASYNCIO)
_RUN = str(Path(__file__).resolve().with_name("run.py"))
callers: Final[dict[int, CodeType]] = {}
"""Code that made calls before, by identity: neither flowpy's nor asyncio's, and no finalizer. Code objects are kept so
that none has the identity of another; hashing one would take longer than finding where the call was made."""
_MOST: Final = 4_096


def call_site(depth: int = 3) -> Site:
    """The nearest frame of user code.

    Args:
        depth: How many frames up it most likely stands; further ones of flowpy and asyncio are passed over.

    Returns:
        None if the runtime itself made the call, such as a cancellation as the run ends.
    """
    try:
        frame = sys._getframe(depth)
    except ValueError:
        return None
    code = frame.f_code
    while id(code) not in callers:
        if not code.co_filename.startswith(_OURS):
            if code.co_name != "__del__":
                if len(callers) >= _MOST:
                    callers.clear()
                callers[id(code)] = code
            break
        back = frame.f_back
        # Below the run that is being fed stands the worker, or a test: their code made no call.
        if back is None or (code.co_name == "feed" and code.co_filename == _RUN):
            return None
        frame, code = back, back.f_code
    return (code, frame.f_lasti)


def raised_at(error: BaseException) -> Site:
    """The innermost line of user code in the traceback of an error."""
    site, step = None, error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            site = (code, step.tb_lasti)
        step = step.tb_next
    return site


def waiting_sites(tasks: Iterable[Task[Any]]) -> list[Site]:
    """Where tasks that are suspended stand in user code."""
    return [site for task in tasks if (site := _waits_at(task.coroutine)) is not None]


def standing_at(coroutine: Any) -> tuple[list[CodeLine], str]:
    """Where a suspended coroutine stands: its lines of user code, outermost first, and what it called last.

    Returns:
        The lines, and the qualified name of the innermost function of asyncio that awaits, such as ``Queue.get``; ""
        if there is none.
    """
    lines: list[CodeLine] = []
    asyncio_function = ""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "ag_frame", None)
        if frame is None:
            break
        for each in _greenlet_frames(frame.f_locals.get("plain")) or [frame]:
            code = each.f_code
            line = CodeLine.of((code, each.f_lasti)) if not code.co_filename.startswith(_OURS) else None
            if line is not None:
                lines.append(line)
            elif code.co_filename.startswith(_ASYNCIO):
                asyncio_function = code.co_qualname
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None)
    return lines, asyncio_function


def _greenlet_frames(plain: Any) -> list[FrameType]:
    """The frames of a suspended greenlet, outermost first."""
    frames: list[FrameType] = []
    frame: FrameType | None = getattr(plain, "gr_frame", None)
    while frame is not None:
        frames.insert(0, frame)
        frame = frame.f_back
    return frames


def suspended_at(suspended: Any) -> CodeLine | None:
    """The line of user code where a coroutine or greenlet stands."""
    frame = _plain_frame(suspended)
    return CodeLine.of((frame.f_code, frame.f_lasti) if frame is not None else _waits_at(suspended))


def _plain_frame(plain: Any) -> FrameType | None:
    """The innermost frame of user code of a suspended greenlet."""
    frame: FrameType | None = getattr(plain, "gr_frame", None)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame


def _waits_at(coroutine: Any) -> Site:
    """The innermost frame of user code along what awaits what; a plain function stands in its greenlet."""
    site: Site = None
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "ag_frame", None)
        if frame is None:
            return site
        frame = _plain_frame(frame.f_locals.get("plain")) or frame
        if not frame.f_code.co_filename.startswith(_OURS):
            site = (frame.f_code, frame.f_lasti)
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None)
    return site

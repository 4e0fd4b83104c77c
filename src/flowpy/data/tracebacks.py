"""Tracebacks as text that can be sent and shortened."""

from __future__ import annotations

import re
import traceback
from typing import Any, Final

__all__ = ["chunks_of", "ends_of", "middle_dropped", "safe_text", "text_of"]

_SHOWN: Final = 256
_MEMBERS: Final = 10
_DEPTH: Final = 5
_FRAME: Final = re.compile(r"^(?=[ \t|]*File |[ \t]*at )", re.MULTILINE)


def safe_text(value: Any) -> str:
    """Make text that UTF-8 can carry: half a surrogate pair becomes its escape.

    Args:
        value: Text; anything else is turned into text first.

    Returns:
        The same text wherever possible.
    """
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def text_of(error: BaseException) -> str:
    """Give ``str(error)``, whatever it does."""
    try:
        return safe_text(str(error))
    except Exception as broken:
        return f"(its text cannot be had: {type(broken).__name__})"


def chunks_of(error: BaseException, last_line: str, notes: list[str], depth: int = 0) -> list[str]:
    """Format where an exception was raised.

    Args:
        error: The exception; its causes are not included, members of a group are.
        last_line: ``TypeName: message``; shortened.
        notes: Lines to add to those of ``add_note``.
        depth: How many groups it is a member of.

    Returns:
        Pieces of text, one per frame. Never raises.
    """
    chunks: list[str] = []
    if error.__traceback__ is not None:
        chunks.append("Traceback (most recent call last):\n")
        chunks.extend(_frames(error))
    chunks.append(_short(last_line) + "\n")
    own_notes = getattr(error, "__notes__", None)
    if isinstance(own_notes, list):
        chunks.extend(_short(note) + "\n" for note in own_notes[:_MEMBERS] if isinstance(note, str))
    chunks.extend(note + "\n" for note in notes)
    if isinstance(error, BaseExceptionGroup) and depth < _DEPTH:
        for number, member in enumerate(error.exceptions[:_MEMBERS], 1):
            chunks.append(f"  +-- member {number} of {len(error.exceptions)}\n")
            line = f"{type(member).__name__}: {text_of(member)}"
            chunks.extend(_indented(chunk) for chunk in chunks_of(member, line, [], depth + 1))
    return [safe_text(chunk) for chunk in chunks]


def _frames(error: BaseException) -> list[str]:
    try:
        return traceback.format_tb(error.__traceback__)
    except Exception as broken:  # source files that changed, odd loaders
        return [f"  (frames cannot be shown: {type(broken).__name__})\n"]


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _indented(text: str) -> str:
    return "".join(f"  | {line}" for line in text.splitlines(keepends=True))


def middle_dropped(text: str, frames: int) -> str:
    """Shorten a traceback by leaving out frames from its middle.

    Args:
        text: A traceback, Python's or another language's.
        frames: How many frames to keep, half of them at each end; at least 2.

    Returns:
        The first and the last frames, what comes after the last, and a line saying how many are missing.
    """
    starts = [match.start() for match in _FRAME.finditer(text)]
    missing = len(starts) - frames
    if missing <= 0:
        return text
    last = frames // 2
    return f"{text[: starts[frames - last]]}  … {missing} frames left out …\n{text[starts[-last] :]}"


def ends_of(text: str, length: int) -> str:
    """Shorten text that has no frames to drop, keeping both ends."""
    return text if len(text) <= length else f"{text[: length // 2]}\n…\n{text[-(length // 2) :]}"

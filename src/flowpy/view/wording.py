"""Times and texts as people read them."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Final

__all__ = ["clock", "cut", "elapsed", "printable", "width_of", "wrapped"]

_AS_PICTURE: Final = "\ufe0f"
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def elapsed(seconds: float) -> str:
    """A span of time in its two largest units.

    >>> elapsed(93_784), elapsed(3_600), elapsed(0.25), elapsed(12.5), elapsed(0)
    ('1d 2h', '1h', '250ms', '12.5s', '0s')

    Args:
        seconds: How long; less than nothing counts as nothing.
    """
    if seconds < 0.9995:
        return f"{round(max(seconds, 0) * 1000)}ms" if seconds >= 0.0005 else "0s"
    if seconds < 59.95:
        return f"{round(seconds, 1):g}s"
    left = round(seconds)
    parts = []
    for size, unit in _UNITS:
        number, left = divmod(left, size)
        parts.append(f"{number}{unit}" if number else "")
    first = next(index for index, part in enumerate(parts) if part)
    return " ".join(part for part in parts[first : first + 2] if part)


def clock(seconds: float) -> str:
    """A time of day with its date, UTC.

    >>> clock(1_796_026_084)
    '2026-11-30 08:08:04 UTC'

    Args:
        seconds: Epoch seconds.
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def printable(text: str) -> str:
    r"""A text in one line without anything that a terminal or a document could take for a command.

    >>> printable("a\x1b[31m\nb")
    'a [31m b'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def width_of(text: str) -> int:
    """Cells that a text takes in a terminal: some characters take two, some none."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def cut(text: str, width: int, *, middle: bool = False) -> str:
    """A text cut to a width, with ``…`` where something is missing.

    >>> cut("workflow", 5), cut("日本語", 5), cut("t1.charge_card-7", 9, middle=True)
    ('work…', '日本…', 't1.c…rd-7')

    Args:
        text: One line.
        width: Cells at most.
        middle: Whether to keep the end too, as of ids that begin alike.
    """
    if width_of(text) <= width:
        return text
    if width < 1:
        return ""
    end = (width - 1) // 2 if middle else 0
    last = _fitting(text[::-1], end)[::-1]
    return f"{_fitting(text, width - 1 - width_of(last))}…{last}"


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines, broken at spaces; words that are too long are broken where they have to be.

    >>> wrapped("waits for 日本語", 9), wrapped("charge_card", 6)
    (['waits for', '日本語'], ['charge', '_card'])

    Args:
        text: One line.
        width: Cells of a line at most.
    """
    lines = [""]
    for number, word in enumerate(text.split(" ")):
        joined = f"{lines[-1]} {word}" if number else word
        if width_of(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        rest = word
        while width_of(rest) > width:
            lines[-1] = _fitting(rest, width) or rest[0]
            rest = rest[len(lines[-1]) :]
            lines.append("")
        lines[-1] = rest
    return lines


def _fitting(text: str, width: int) -> str:
    """As much of the beginning of a text as fits."""
    kept = []
    for char in text:
        width -= _width(char)
        if width < 0:
            break
        kept.append(char)
    return "".join(kept)


def _width(char: str) -> int:
    # A variation selector takes none either, but makes a picture of the character before it, which takes one more.
    if unicodedata.category(char) in ("Mn", "Me") and char != _AS_PICTURE:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1

"""Payloads as a person reads them: JSON laid out, whatever cannot be seen made visible, long ones cut."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, Final

from attrs import frozen

__all__ = ["Payload", "payload_of", "visible"]

_MOST: Final = 20_000
_LINE: Final = 72
_PLAIN: Final = frozenset("\n\t")
_NEW_LINE: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\n")
"""A new line in a text of JSON, not a backslash before the letter n."""


@frozen
class Payload:
    """A payload to be shown.

    Attributes:
        text: What is shown of it.
        left_out: How many characters are not.
    """

    text: str
    left_out: int = 0

    @property
    def is_long(self) -> bool:
        """Whether it takes more than a line."""
        return "\n" in self.text or len(self.text) > 80


def payload_of(value: Any, most: int = _MOST) -> Payload:
    r"""Lays out a payload.

    >>> payload_of('{"cents":4200}').text
    '{"cents": 4200}'
    >>> payload_of("no JSON at all", most=7)
    Payload(text='no JSON', left_out=7)

    Args:
        value: Text as SWF has it, or a structure of an event.
        most: Characters shown at most.
    """
    text = visible(_laid_out(value))
    return Payload(text[:most], max(0, len(text) - most))


def visible(text: str) -> str:
    r"""Text whose invisible characters, such as those that turn the direction of writing, are written as escapes.

    >>> print(visible("abc\u202ecba"))
    abc\u202ecba
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _PLAIN else f"\\u{ord(char):04x}" for char in text)


def _laid_out(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
        if isinstance(value, str) and not isinstance(parsed, dict | list):
            return value
        line = json.dumps(parsed, ensure_ascii=False, default=str)
        if len(line) <= _LINE:
            return line
        # A traceback is read by people: its lines stand below each other.
        return _NEW_LINE.sub(r"\1\n    ", json.dumps(parsed, indent=2, ensure_ascii=False, default=str))
    except (ValueError, RecursionError):
        return str(value)

"""Inputs that carry the trace they belong to, from whoever starts or schedules to whoever runs.

The form is ``{"$flowpy": "traced", "version": 1, "context": {…}, "input": …}`` around the input as it would be without:
W3C Trace Context's headers by name, and nothing else. Every reader takes it off, whether it has telemetry or not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flowpy.data.jsontext import MAX_READ_DEPTH, dump, scan, too_deep
from flowpy.data.limits import DATA

__all__ = ["traced", "untraced"]

_HEAD: Final = re.compile(r'\s*\{\s*"\$flowpy"\s*:\s*"traced"\s*,\s*"version"\s*:\s*1\s*,\s*"context"\s*:\s*(?=\{)')
_MIDDLE: Final = re.compile(r'\s*,\s*"input"\s*:\s*(?=\S)')
_NONE: Final[Mapping[str, str]] = {}


def traced(text: str, context: Mapping[str, str], limit: int = DATA) -> str:
    """Put the context of a trace around an input.

    Args:
        text: The input, JSON text of any form; one that carries a context keeps it.
        context: Headers of W3C Trace Context by name; without any the input stays as it is.
        limit: The most characters that SWF takes.

    Returns:
        The input to send; the text as it is if it would become too long, since the work matters more than its trace.

        >>> traced('["o-7"]', {"traceparent": "00-1f-2e-01"})
        '{"$flowpy": "traced", "version": 1, "context": {"traceparent": "00-1f-2e-01"}, "input": ["o-7"]}'
    """
    if not context or _HEAD.match(text):
        return text
    made = f'{{"$flowpy": "traced", "version": 1, "context": {dump(dict(context))}, "input": {text}}}'
    return made if len(made) <= limit else text


def untraced(text: str | None) -> tuple[str | None, Mapping[str, str]]:
    """Take the context of a trace off an input.

    Args:
        text: The input as recorded, or None.

    Returns:
        The input as it would be without, and the context; text of another form as it is, and no context.

        >>> untraced('{"$flowpy": "traced", "version": 1, "context": {"traceparent": "00-1f"}, "input": [1]}')
        ('[1]', {'traceparent': '00-1f'})
        >>> untraced('[1]')
        ('[1]', {})
    """
    # What is no text at all is left to who reads it, and knows which event to blame.
    if not isinstance(text, str) or (head := _HEAD.match(text)) is None or too_deep(text, MAX_READ_DEPTH):
        return text, _NONE
    try:
        context, end = scan(text, head.end())
    except (StopIteration, ValueError, RecursionError):
        return text, _NONE
    middle = _MIDDLE.match(text, end)
    stripped = text.rstrip()
    if middle is None or not stripped.endswith("}") or not _is_context(context):
        return text, _NONE
    return stripped[middle.end() : -1].rstrip(), context


def _is_context(context: Any) -> bool:
    return isinstance(context, dict) and all(isinstance(value, str) for value in context.values())

"""The executionContext: what a decision says about the code that made it, and the state a workflow publishes."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.jsontext import parse
from flowpy.errors import PayloadNotDecodable

__all__ = ["CONTRACT", "Context", "decode_context", "encode_context"]

CONTRACT = 1
"""Version of the forms that flowpy writes into histories; a run keeps its first one for life."""


@frozen
class Context:
    """An executionContext as read.

    Attributes:
        flowpy: Contract version; 1 if absent or written by something else.
        python: Python version that made the decision, such as ``"3.12"``, or None.
        state: What the workflow published, as a plain JSON value, or None.
    """

    flowpy: int = CONTRACT
    python: str | None = None
    state: Any = None


def encode_context(state: Any, python: str, converter: Converter = DEFAULT) -> str:
    """Write an executionContext.

    Args:
        state: What the workflow published, or None.
        python: Version of the Python that runs, major and minor: ``"3.12"``.
        converter: Writes ``state``.

    Returns:
        JSON text; at most 32,768 characters may be sent (``limits.CONTEXT``), which is not checked here.

    Raises:
        PayloadNotEncodable: ``state`` has no JSON form.
    """
    written = converter.text(state, "the state given to set_state")
    return f'{{"flowpy": {CONTRACT}, "python": {json.dumps(python)}, "state": {written}}}'


def decode_context(text: str | None) -> Context:
    """Read an executionContext of any origin.

    Args:
        text: The text recorded with DecisionTaskCompleted, or None.

    Returns:
        What it says; contract version 1 if it is absent, unreadable or of another framework. Never raises.
    """
    try:
        plain = parse(text)
    except (PayloadNotDecodable, TypeError):
        return Context()
    if not isinstance(plain, dict) or type(plain.get("flowpy")) is not int:
        return Context()
    python = plain.get("python")
    return Context(plain["flowpy"], python if isinstance(python, str) else None, plain.get("state"))

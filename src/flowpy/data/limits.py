"""How long a text SWF takes, in characters, and the check made before anything is sent."""

from __future__ import annotations

from typing import Final

from flowpy.errors import PayloadTooLarge

__all__ = ["CONTEXT", "CONTROL", "DATA", "DETAILS", "HEARTBEAT", "IDENTIFIER", "REASON", "SURE", "check_length"]

DATA: Final = 32_768
"""Characters of an input, a result, a control, a marker's or a failure's details."""

DETAILS: Final = DATA
"""Characters of the details of a failure, a cancel or a marker."""

CONTROL: Final = DATA
"""Characters of a ``control``."""

CONTEXT: Final = DATA
"""Characters of an ``executionContext``."""

HEARTBEAT: Final = 2_048
"""Characters of the details of a heartbeat."""

REASON: Final = 256
"""Characters of the ``reason`` of a failure."""

IDENTIFIER: Final = 256
"""Characters of a name or an id."""


SURE: Final = DATA // 8
"""Characters of a payload that fits wherever ``DATA`` do, whatever bytes they are and however they are encoded."""


def check_length(text: str, limit: int, what: str) -> str:
    """Give the text back if SWF takes it.

    Args:
        text: What is about to be sent.
        limit: The most characters allowed, such as ``DATA``.
        what: What the text is, for the message: ``result of activity charge-1``.

    Returns:
        ``text``, unchanged: nothing is ever cut.

    Raises:
        PayloadTooLarge: The text is longer than ``limit``.
    """
    if len(text) > limit:
        raise PayloadTooLarge(
            f"{what} is {len(text):,} characters long as JSON and SWF takes {limit:,}",
            remedy="keep the data elsewhere (S3, a database) and pass a reference to it",
        )
    return text

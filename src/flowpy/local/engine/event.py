"""An event of a history."""

from __future__ import annotations

from typing import Any

__all__ = ["Event"]


class Event(dict[str, Any]):
    """An event as boto3 gives it, which never changes, with room for its text.

    Attributes:
        text: What it looks like on the wire, once somebody has needed it; "" before.
    """

    __slots__ = ("text",)

    def __init__(self, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.text = ""

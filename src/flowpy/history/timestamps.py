"""Event times in every form that dumps of SWF histories have."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

from flowpy.words import an

__all__ = ["instant"]

# Seconds reach this in the year 5138, milliseconds had passed it by 1973: no SWF history is in doubt.
_MILLISECONDS: Final = 1e11
_DOTNET: Final = re.compile(r"/Date\((-?\d+)(?:[+-]\d{4})?\)/")


def instant(value: Any) -> datetime:
    """Read a time.

    Args:
        value: Epoch seconds (int, float, or their text, also with an exponent), epoch milliseconds (any number over
            10^11, as Java dumps them), ISO 8601 text with an offset, ``Z`` or none, ``/Date(ms)/`` of .NET, or a
            datetime. Without an offset UTC is assumed.

    Returns:
        An aware datetime: one that was aware is given back as it is, all others are in UTC.

    Raises:
        ValueError: Anything else, or a time outside the years 1 to 9999.
    """
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _from_number(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    message = f"{an(type(value).__name__)} is no time"
    raise ValueError(message)


def _from_number(value: float) -> datetime:
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError) as error:
        message = f"{value!r:.40} is outside the range of times"
        raise ValueError(message) from error


def _from_text(text: str) -> datetime:
    if found := _DOTNET.fullmatch(text):
        return _from_number(int(found[1]) / 1000)
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        return _from_number(number)
    try:
        return instant(datetime.fromisoformat(text)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        message = f"{text!r:.60} is neither ISO 8601 nor a number of seconds"
        raise ValueError(message) from error

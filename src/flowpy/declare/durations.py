"""Durations as users write them, and as SWF takes them.

SWF takes whole seconds as text, or ``NONE`` for "never times out". Users may write seconds, a ``timedelta`` or
text such as ``"90s"``, ``"5m"``, ``"1h30m"``, ``"30d"``, ``"2w"``. Fractions are rounded up, so that nothing ever
happens earlier than it was asked for.
"""

from __future__ import annotations

import functools
import math
import re
from datetime import timedelta
from typing import Any, Final

from flowpy.errors import DurationError
from flowpy.words import an

__all__ = ["NONE", "YEAR", "Duration", "exact_seconds", "seconds", "swf_duration"]

NONE: Final = "NONE"
"""SWF's word for a timeout that never strikes."""

YEAR: Final = 31_536_000
"""The longest duration, in seconds: SWF closes every execution after one year."""

Duration = float | timedelta | str
"""Seconds, a ``timedelta``, or text such as ``"90s"``, ``"1h30m"``, ``"2w"``, plain digits (seconds) or ``NONE``."""

_UNITS: Final = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1, "": 1}
# Nine digits are over a year in any unit: longer numbers are not worth reading. Microseconds are a timedelta's finest.
_PART: Final = re.compile(r"\s*([0-9]{1,9})(?:\.([0-9]{1,6}))?\s*([wdhms]?)\s*")
_FORMS: Final = 'give seconds, a timedelta, text such as "90s", "5m", "1h30m", "30d", "2w", or flowpy.NONE'


def seconds(value: Duration, what: str) -> int | None:
    """Returns a duration in whole seconds, rounded up.

    Args:
        value: The duration; see ``Duration``.
        what: What it is for, such as ``"start_to_close_timeout"``; begins the error message.

    Returns:
        Seconds from 0 to 31,536,000, or None for ``NONE``.

    Raises:
        DurationError: If it is negative, not a number, unreadable or over a year.
    """
    exact = _exact(value, what)
    return None if exact is None else math.ceil(exact)


def exact_seconds(value: Duration, what: str) -> float | None:
    """Returns a duration in seconds with its fraction, or None for ``NONE``.

    Args:
        value: The duration; see ``Duration``.
        what: What it is for; begins the error message.

    Raises:
        DurationError: As ``seconds`` does.
    """
    exact = _exact(value, what)
    return None if exact is None else float(exact)


def swf_duration(value: Duration, what: str) -> str:
    """Returns a duration as SWF writes it: ``"300"`` or ``"NONE"``.

    Args:
        value: The duration; see ``Duration``.
        what: What it is for; begins the error message.

    Raises:
        DurationError: As ``seconds`` does.
    """
    whole = seconds(value, what)
    return NONE if whole is None else str(whole)


def _exact(value: Any, what: str) -> float | None:
    """The duration without rounding, checked; None for ``NONE``."""
    if isinstance(value, str):
        if value == NONE:
            return None
        number = _parsed(value)
    elif isinstance(value, timedelta):
        number = value.total_seconds()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = value
    else:
        raise DurationError(f"{what}: {value!r} is {an(type(value).__name__)}, not a duration", remedy=_FORMS)
    if number is None or number != number:  # noqa: PLR0124 (only NaN differs from itself, and it may be a huge int)
        raise DurationError(f"{what}: cannot read {value!r} as a duration", remedy=_FORMS)
    if number < 0:
        raise DurationError(f"{what}: {value!r} is negative; durations start at 0 seconds")
    if number > YEAR:
        raise DurationError(
            f"{what}: {value!r} is over a year, and SWF closes every execution after one; "
            f"the longest is {YEAR:,} seconds (365d); numbers are seconds, not milliseconds"
        )
    return number


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> float | None:
    """Adds up the parts of a text such as ``1h30m``, each unit at most once, the larger ones first.

    Cached, because ``.options(start_to_close_timeout="1h")`` stands in workflow code and runs in every replay.
    """
    microseconds, position, smallest = 0, 0, math.inf
    while part := _PART.match(text, position):
        whole, fraction, unit = part.groups()
        if (not unit and part.span() != (0, len(text))) or _UNITS[unit] >= smallest:
            break
        smallest = _UNITS[unit]
        microseconds += int(whole + (fraction or "").ljust(6, "0")) * _UNITS[unit]
        position = part.end()
    return microseconds / 1_000_000 if position and position == len(text) else None

"""Words of messages that depend on a name which is put into them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["an"]

_SPELT: Final = re.compile(r"[A-Z]{2}")
"""How a name begins whose first letters are read one by one, as in UUID."""

_SOUNDS_LIKE_YOU: Final = re.compile(r"u(ni|se|til)|eu|one\b", re.IGNORECASE)


def an(noun: str) -> str:
    """Put the article before a name, most often that of a type.

    Args:
        noun: What is named, such as ``int``.

    Returns:
        It with ``a`` or ``an`` in front, as it is read aloud.

    >>> an("int"), an("str"), an("UUID"), an("IOBase"), an("Union")
    ('an int', 'a str', 'a UUID', 'an IOBase', 'a Union')
    """
    word = noun.lstrip("_")
    if _SPELT.match(word):
        vowel = word[0] in "AEFHILMNORSX"
    else:
        vowel = word[:1].lower() in ("a", "e", "i", "o", "u") and not _SOUNDS_LIKE_YOU.match(word)
    return f"{'an' if vowel else 'a'} {noun}"

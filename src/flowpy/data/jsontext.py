"""JSON text and plain JSON values: bounded reading, fast writing, comparison.

A *plain* value here is what ``json`` itself gives: dict, list, str, int, float, bool or None.
"""

from __future__ import annotations

import json
import json.encoder
import math
import re
from collections.abc import Callable, Iterator
from json.encoder import encode_basestring as quote
from json.scanner import make_scanner
from typing import Any, Final, NoReturn

from flowpy.data.redaction import shown
from flowpy.errors import PayloadNotDecodable

__all__ = [
    "MAX_READ_DEPTH",
    "MAX_WRITE_DEPTH",
    "alike",
    "clip",
    "dump",
    "fault",
    "parse",
    "quote",
    "same",
    "scan",
    "too_deep",
]

MAX_WRITE_DEPTH: Final = 100
"""Levels of nesting a value may have when it is written."""

MAX_READ_DEPTH: Final = 150
"""Levels of nesting read: more than is written, for the lists and records that values travel in."""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)

scan: Final[Callable[[str, int], tuple[Any, int]]] = make_scanner(_decoder)  # type: ignore[arg-type] # typeshed's own class
"""Reads one JSON value from a position; StopIteration or ValueError if there is none."""

# The closing quote is optional so that an open string swallows the rest: linear on any input.
_STRINGS_AND_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?+|[\[{]|[\]}]', re.DOTALL)


def clip(value: Any, length: int = 60) -> str:
    """Show a value in a message, unless values are hidden: its JSON text, shortened in the middle to ``length``."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = object.__repr__(value)
    return shown(text if len(text) <= length else f"{text[: length - 20]} … {text[-16:]}")


def parse(text: str | None, what: str = "value") -> Any:
    """Read a whole JSON text; None and the empty text are null.

    Args:
        text: JSON as recorded, or None where SWF recorded nothing.
        what: What is read, for the message.

    Returns:
        The plain value.

    Raises:
        PayloadNotDecodable: It is not JSON, has ``NaN`` or ``Infinity``, or is nested over 150 levels deep.
    """
    if not text:
        return None
    if len(text) > 2 * MAX_READ_DEPTH and too_deep(text, MAX_READ_DEPTH):
        raise PayloadNotDecodable(f"{what} is nested more than {MAX_READ_DEPTH} levels deep: {clip(text)}")
    try:
        value, end = scan(text, 0)
        return value if end == len(text) else _decoder.decode(text)
    except StopIteration:
        pass
    except (ValueError, RecursionError) as error:
        raise _not_json(text, what, error) from None
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(text, what, error) from None


def _not_json(text: str, what: str, error: Exception) -> PayloadNotDecodable:
    return PayloadNotDecodable(f"{what} is not JSON ({error}): {clip(text)}")


def too_deep(text: str, limit: int) -> bool:
    """Say whether arrays and objects are nested more than ``limit`` levels deep, without reading them."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for match in _STRINGS_AND_BRACKETS.finditer(text):
        first = text[match.start()]
        if first in "[{":
            depth += 1
            if depth > limit:
                return True
        elif first != '"':
            depth -= 1
    return False


def _make_dump() -> Callable[[Any], str]:
    """Make the writer once: ``json.dumps`` would make one on every call."""
    encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    write: Any = encoder.iterencode
    if make is not None:
        write = make(None, encoder.default, quote, None, ": ", ", ", False, False, False)
    join = "".join

    def dump(plain: Any) -> str:
        """Write a plain value as JSON text.

        Args:
            plain: A plain value, nested at most ``MAX_WRITE_DEPTH`` levels or so.

        Returns:
            Text with ``", "`` and ``": "`` between and characters outside ASCII as they are.

        Raises:
            ValueError: NaN, infinity, a lone surrogate or an enormous int is in it; see ``fault``.
        """
        text = join(write(plain, 0))
        if not text.isascii():
            text.encode()  # lone surrogates cannot be sent; UnicodeEncodeError is a ValueError
        return text

    return dump


dump: Final = _make_dump()


def fault(plain: Any) -> tuple[str, str]:
    """Find what ``dump`` refused.

    Args:
        plain: The plain value it was given.

    Returns:
        Where it is (such as ``[2].name``) and what is wrong with it.
    """
    for path, scalar in _scalars(plain, ""):
        if isinstance(scalar, str):
            try:
                scalar.encode()
            except UnicodeEncodeError:
                return path, f"{scalar!a:.80} has half of a surrogate pair, which is no Unicode text"
        elif isinstance(scalar, float) and not math.isfinite(scalar):
            return path, f"{scalar} has no JSON form; pass None or text instead"
        elif isinstance(scalar, int):
            try:
                str(scalar)
            except ValueError as error:
                return path, f"an int of {scalar.bit_length():,} bits: {error}"
    return "", "it has no JSON form"


def _scalars(plain: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield f"{path} (a key)", key
            yield from _scalars(value, f"{path}.{key}")
    elif isinstance(plain, list):
        for index, value in enumerate(plain):
            yield from _scalars(value, f"{path}[{index}]")
    else:
        yield path, plain


def same(text_a: str | None, text_b: str | None) -> bool:
    """Say whether two payloads are the same JSON value.

    The order of keys, white space and the way a number is written (``1`` and ``1.0``) do not count; ``true``
    is not ``1``. What is not JSON is compared as text.

    Args:
        text_a: One payload, or None if absent.
        text_b: The other.

    Returns:
        True if they are the same.
    """
    if text_a == text_b:
        return True
    if text_a is None or text_b is None:
        return False
    try:
        return alike(parse(text_a), parse(text_b))
    except PayloadNotDecodable:
        return False


def alike(a: Any, b: Any) -> bool:
    """Say whether two plain values are the same JSON value: ``1`` is ``1.0``, and neither is ``true``."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(alike, a, b))
    return isinstance(a, bool) is isinstance(b, bool) and bool(a == b)

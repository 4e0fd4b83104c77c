"""Fast decoders of the types JSON has itself, where replay spends its time."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final

from flowpy.data.jsontext import scan

__all__ = ["FAST", "Decoder"]

Decoder = Callable[[str | None], Any]

_SHORT: Final = 200


def _exactly(*kinds: type) -> Callable[[Decoder], Decoder]:
    """Make decoders of short texts of some JSON types; all else, and every error, is left to the slow path."""
    allowed = frozenset(kinds)

    def make(slow: Decoder) -> Decoder:
        def decode(text: str | None) -> Any:
            try:
                if len(text) < _SHORT:  # type: ignore[arg-type] # None is a TypeError, and slow
                    value, end = scan(text, 0)  # type: ignore[arg-type]
                    if type(value) in allowed and end == len(text):  # type: ignore[arg-type]
                        return value
            except (ValueError, TypeError, StopIteration):
                pass
            return slow(text)

        return decode

    return make


def _float_decoder(slow: Decoder) -> Decoder:
    def decode(text: str | None) -> Any:
        try:
            if len(text) < _SHORT:  # type: ignore[arg-type]
                value, end = scan(text, 0)  # type: ignore[arg-type]
                if type(value) is float and end == len(text) and isfinite(value):  # type: ignore[arg-type]
                    return value
        except (ValueError, TypeError, StopIteration):
            pass
        return slow(text)

    return decode


def _null_decoder(slow: Decoder) -> Decoder:
    return lambda text: None if text is None or text == "null" else slow(text)


FAST: Final[dict[Any, Callable[[Decoder], Decoder]]] = {
    int: _exactly(int),
    str: _exactly(str),
    bool: _exactly(bool),
    float: _float_decoder,
    type(None): _null_decoder,
    None: _null_decoder,
    Any: _exactly(int, str, bool, float, list, type(None)),
}
"""By annotation: given the decoder that does everything, makes one that answers the common texts itself."""

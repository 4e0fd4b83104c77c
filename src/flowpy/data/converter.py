"""The converter: Python values to JSON text and back, directed by type annotations.

What is written can be read by anybody: plain JSON without class names. What is read is built only from the
annotation of whoever reads, so a payload can never choose a class, and nothing is imported (never pickle).
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_origin

from flowpy.data.decoders import FAST, Decoder
from flowpy.data.encoding import JSON_SCALARS, Encoder, Unencodable
from flowpy.data.jsontext import clip, dump, fault, parse, quote, same
from flowpy.data.payloads import PLAIN, Payloads
from flowpy.data.scalars import EXACT, Misfit, type_name
from flowpy.errors import DeclarationError, PayloadNotDecodable, PayloadNotEncodable

if TYPE_CHECKING:
    from flowpy.data.structuring import Structurer

__all__ = ["DEFAULT", "MARK", "Converter"]

MARK: Final = "$flowpy"
"""First key of an object that is flowpy's own: ``value``, ``offload`` or ``codec``."""

_T = TypeVar("_T")
_SEALED: Final = ("codec", "offload")
_OPENING: Final = f'{{"{MARK}":'


class Converter:
    """Encodes and decodes payloads.

    Written are: None, bool, int, float, str; list, tuple, named tuple, deque; set and frozenset (sorted by their
    JSON text); dict and other mappings with keys that are str, int or written as text; dataclasses, attrs classes
    and TypedDicts as objects; enums by value; datetime, date and time as ISO 8601; timedelta in seconds; UUID,
    Decimal and paths as text; bytes as base64; and the types registered.

    Read is whatever the annotation says, strictly: text is no number, ``true`` is no int, an int may be a float,
    an array is an array. Without an annotation, or with Any, the plain JSON value is given.

    Example:
        >>> converter = Converter()
        >>> converter.encode({"day": datetime.date(2025, 1, 31)})
        '{"day": "2025-01-31"}'
        >>> converter.decode('{"day": "2025-01-31"}', dict[str, datetime.date])
        {'day': datetime.date(2025, 1, 31)}

    Args:
        payloads: What is done to the text on its way into histories (compression, encryption, stores); default nothing.

    Attributes:
        payloads: The same.
    """

    def __init__(self, *, payloads: Payloads = PLAIN) -> None:
        if not isinstance(payloads, Payloads):
            raise DeclarationError(
                f"Converter: payloads={payloads!r} is none", remedy="give Payloads(codecs=…, stores=…)"
            )
        self.payloads = payloads
        self._encoder = Encoder()
        self._registered: dict[type, Callable[[Any], Any]] = {}
        self._readers: dict[Any, Callable[[Any], Any]] = dict(EXACT)
        self._decoders: dict[Any, Decoder] = {}
        self._structurer: Structurer | None = None

    def register(self, type_: type[_T], *, encode: Callable[[_T], Any], decode: Callable[[Any], _T]) -> None:
        """Teach this converter a type; do so before anything is declared with it.

        Args:
            type_: The class. Subclasses are written the same way.
            encode: Gives a value that has a JSON form.
            decode: Gives an instance from the plain JSON value; raise ValueError if it does not fit.

        Raises:
            DeclarationError: It is a type that JSON has itself.
        """
        if type_ in JSON_SCALARS or type_ in (list, dict):
            raise DeclarationError(
                f"{type_.__name__} has a JSON form that cannot be changed", remedy="register a class of your own"
            )
        self._encoder.register(type_, encode)
        self._registered[type_] = decode
        self._readers = dict(EXACT)
        self._decoders.clear()
        self._structurer = None

    def encode(self, value: Any, what: str = "value") -> str:
        """Write a value as a payload.

        Args:
            value: Anything listed above.
            what: What the value is, for the message: ``result of activity charge-1``.

        Returns:
            JSON text. An object that begins with the key ``$flowpy`` is wrapped. Its length is not checked here,
            because it may still be encrypted or kept elsewhere; see ``check_length``.

        Raises:
            PayloadNotEncodable: It, or something inside it, has no JSON form; the message says where.
        """
        text = self.text(value, what)
        if text.startswith(_OPENING):
            return f'{_OPENING} "value", "value": {text}}}'
        return text

    def encode_within(self, value: Any, limit: int, what: str) -> str:
        """Write a value as a payload that can be sent.

        Args:
            value: Anything ``encode`` takes.
            limit: The most characters SWF takes, such as ``limits.DATA``.
            what: What the value is, for the message.

        Returns:
            JSON text, as ``encode``.

        Raises:
            PayloadNotEncodable: As ``encode``.
            PayloadTooLarge: It does not fit, whatever this converter's payloads are made of.
        """
        return self.payloads.check(self.encode(value, what), limit, what)

    def text(self, value: Any, what: str = "value") -> str:
        """Write a value as JSON that goes inside another JSON text, where nothing needs wrapping.

        Args:
            value: Anything ``encode`` takes.
            what: What the value is, for the message.

        Returns:
            JSON text.

        Raises:
            PayloadNotEncodable: As ``encode``.
        """
        kind = type(value)
        plain, remedy = value, ""
        try:
            if kind is str:
                if value.isascii():
                    return quote(value)
            elif kind is int:
                return int.__repr__(value)
            elif value is None:
                return "null"
            elif kind is bool:
                return "true" if value else "false"
            elif kind is float:
                if isfinite(value):
                    return float.__repr__(value)
            elif kind is not list or not JSON_SCALARS.issuperset(map(type, value)):
                plain = self._encoder.plain(value)
            return dump(plain)
        except Unencodable as error:
            path, message, remedy = error.path, error.message, error.remedy
        except ValueError:
            path, message = fault(plain)
        except RecursionError:
            path, message = "", "it is nested too deep"
        raise PayloadNotEncodable(f"cannot write {what}{path} as JSON: {message}", remedy=remedy)

    def plain(self, value: Any, what: str = "value") -> Any:
        """Turn a value into plain JSON values: what reading its text without an annotation gives.

        Args:
            value: Anything ``encode`` takes.
            what: What the value is, for the message.

        Returns:
            dict, list, str, int, float, bool or None, sharing nothing mutable with ``value``.

        Raises:
            PayloadNotEncodable: As ``encode``.
        """
        return parse(self.text(value, what), what)

    def decode(self, text: str | None, type: Any = Any, what: str = "value") -> Any:
        """Read a payload as a type.

        Args:
            text: The payload; None or empty is null.
            type: The annotation; Any gives the plain JSON value.
            what: What is read, for the message.

        Returns:
            A value of that type.

        Raises:
            PayloadNotDecodable: It is no JSON or does not fit; the message names the place, the type expected and
                the value found.
        """
        return self.build(self.unwrap(parse(text, what), what), type, what)

    def decoder(self, type: Any) -> Decoder:
        """Give the function that reads payloads as a type; made once per type.

        Args:
            type: The annotation.

        Returns:
            A function of a payload that does what ``decode`` does, faster.
        """
        try:
            decoder = self._decoders.get(type)
            if decoder is None:
                decoder = self._decoders[type] = self._make_decoder(type)
        except TypeError:  # an annotation that cannot be hashed is not cached
            return lambda text: self.decode(text, type)
        return decoder

    def build(self, plain: Any, type: Any, what: str = "value") -> Any:
        """Turn a plain JSON value into a value of a type.

        Args:
            plain: What ``parse`` or ``json.loads`` gives.
            type: The annotation.
            what: What is read, for the message.

        Returns:
            A value of that type.

        Raises:
            PayloadNotDecodable: It does not fit.
        """
        if type is Any:
            return plain
        try:
            return self._reader(type)(plain)
        except Misfit as error:
            path, message = "", str(error)
        except Exception as error:
            path, message = self._structure().explain(error)
        raise PayloadNotDecodable(
            f"{what}{path} does not fit its type {type_name(type)}: {message}{_seen(message, plain)}"
        )

    def unwrap(self, plain: Any, what: str = "value") -> Any:
        """Take flowpy's own wrapping off a plain JSON value.

        Args:
            plain: A whole payload.
            what: What is read, for the message.

        Returns:
            The value meant.

        Raises:
            PayloadUnavailable: It is kept in a store or encoded, and cannot be opened here.
            PayloadNotDecodable: It is of an unknown kind.
        """
        if type(plain) is not dict or next(iter(plain), None) != MARK:
            return plain
        if plain[MARK] in _SEALED:
            text = dump(plain)
            opened = self.payloads.open(text, what)
            if opened is not text:
                plain = parse(opened, what)
                if type(plain) is not dict or next(iter(plain), None) != MARK:
                    return plain
        if plain[MARK] == "value" and "value" in plain:
            return plain["value"]
        raise PayloadNotDecodable(
            f"{what} begins with {MARK} and is of an unknown kind ({clip(plain[MARK])}), or lacks a member: a newer "
            "flowpy wrote it, or another tool"
        )

    def same(self, text_a: str | None, text_b: str | None) -> bool:
        """Say whether two payloads are the same JSON value, whatever their white space and order of keys.

        Args:
            text_a: One payload, or None if absent.
            text_b: The other.

        Returns:
            True if they are the same; see ``flowpy.data.same``.
        """
        return same(text_a, text_b)

    def _make_decoder(self, type_: Any) -> Decoder:
        def slow(text: str | None) -> Any:
            return self.decode(text, type_)

        make = FAST.get(type_)
        return slow if make is None else make(slow)

    def _reader(self, type_: Any) -> Callable[[Any], Any]:
        try:
            reader = self._readers.get(type_)
            if reader is None:
                reader = self._readers[type_] = self._structure().hook(type_)
        except TypeError:  # an annotation that cannot be hashed is not cached; its notes are what cannot, mostly
            return self._structure().hook(type_.__origin__ if get_origin(type_) is Annotated else type_)
        return reader

    def _structure(self) -> Structurer:
        if self._structurer is None:
            from flowpy.data.structuring import Structurer

            self._structurer = Structurer(self._registered)
        return self._structurer


def _seen(message: str, plain: Any) -> str:
    return "" if "found" in message else f" (in {clip(plain)})"


DEFAULT: Final = Converter()
"""The converter used where none is given."""

"""From Python values to plain JSON values, by the type of the value.

Fast where it counts: lists and dicts of scalars are recognised with a set operation and passed on as they are.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from flowpy.data.jsontext import MAX_WRITE_DEPTH, clip, dump, fault
from flowpy.words import an

__all__ = ["JSON_SCALARS", "Encoder", "Unencodable"]

_Handler = Callable[[Any, int], Any]

JSON_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""The types JSON has itself and that hold nothing."""

_TEXT: Final = frozenset({str})


class Unencodable(Exception):
    """Carries the way to the value that has no JSON form, from the inside out."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.path = ""

    def inside(self, step: str) -> Unencodable:
        """Put one more step in front of the path."""
        self.path = step + self.path
        return self


class Encoder:
    """Turns values into plain JSON values; one handler per type, found once."""

    def __init__(self) -> None:
        self._registered: dict[type, Callable[[Any], Any]] = {}
        self._handlers: dict[type, _Handler] = {}

    def register(self, type_: type, encode: Callable[[Any], Any]) -> None:
        """Encode instances of a type, and of its subclasses, by a function.

        Args:
            type_: The class.
            encode: Gives a value that has a JSON form.
        """
        self._registered[type_] = encode
        self._handlers.clear()

    def plain(self, value: Any, depth: int = 0) -> Any:
        """Turn a value into a plain JSON value.

        Args:
            value: Anything.
            depth: How many levels of nesting are around it.

        Returns:
            dict, list, str, int, float, bool or None; the value itself if it is plain already.

        Raises:
            Unencodable: It, or something inside it, has no JSON form.
        """
        kind = type(value)
        if kind in JSON_SCALARS:
            return value
        handler = self._handlers.get(kind)
        if handler is None:
            handler = self._handlers[kind] = self._find(kind)
        if depth >= MAX_WRITE_DEPTH:
            raise Unencodable(f"nested more than {MAX_WRITE_DEPTH} levels deep, or it contains itself")
        return handler(value, depth + 1)

    def _find(self, kind: type) -> _Handler:
        for base in kind.__mro__:
            if base in self._registered:
                return self._by_function(self._registered[base])
        if issubclass(kind, enum.Enum):
            return self._enum
        if dataclasses.is_dataclass(kind):
            return self._record(tuple(field.name for field in dataclasses.fields(kind) if field.init))
        if attrs.has(kind):
            return self._record(tuple(field.name for field in attrs.fields(kind) if field.init))
        for base in kind.__mro__:
            if base in _TO_TEXT:
                return self._by_function(_TO_TEXT[base])
            name = _CONTAINERS.get(base)
            if name is not None:
                handler: _Handler = getattr(self, name)
                return handler
        return self._object if issubclass(kind, Mapping) else self._refuse

    def _by_function(self, encode: Callable[[Any], Any]) -> _Handler:
        def handler(value: Any, depth: int) -> Any:
            replacement = encode(value)
            if type(replacement) in JSON_SCALARS:
                return replacement
            return self.plain(replacement, depth)

        return handler

    def _enum(self, value: enum.Enum, depth: int) -> Any:
        return self.plain(value.value, depth)

    def _record(self, names: tuple[str, ...]) -> _Handler:
        def handler(value: Any, depth: int) -> dict[str, Any]:
            plain: dict[str, Any] = {}
            for name in names:
                try:
                    plain[name] = self.plain(getattr(value, name), depth)
                except Unencodable as error:
                    raise error.inside(f".{name}") from None
            return plain

        return handler

    def _array(self, values: Any, depth: int) -> list[Any]:
        if type(values) is list and JSON_SCALARS.issuperset(map(type, values)):
            return values
        plain: list[Any] = []
        for index, value in enumerate(values):
            try:
                plain.append(self.plain(value, depth))
            except Unencodable as error:
                raise error.inside(f"[{index}]") from None
        return plain

    def _object(self, value: Any, depth: int) -> dict[str, Any]:
        if (
            type(value) is dict
            and _TEXT.issuperset(map(type, value))
            and JSON_SCALARS.issuperset(map(type, value.values()))
        ):
            return value
        plain: dict[str, Any] = {}
        for key, item in value.items():
            name = key if type(key) is str else self._key(key, depth)
            if name in plain:
                raise Unencodable(f"two of its keys are both written as {name!r}")
            try:
                plain[name] = self.plain(item, depth)
            except Unencodable as error:
                raise error.inside(f".{name}") from None
        return plain

    def _key(self, key: Any, depth: int) -> str:
        try:
            plain = self.plain(key, depth)
        except Unencodable:
            plain = None
        if type(plain) is str:
            return plain
        if type(plain) is int:
            return str(plain)
        raise Unencodable(
            f"its key {key!r:.60} is {an(type(key).__qualname__)}: keys must be str, int, or what is written as text "
            "(UUID, date, Enum …)"
        )

    def _set(self, values: Any, depth: int) -> list[Any]:
        # Sorted by their text: set order differs from process to process, and history is compared.
        items = self._array(list(values), depth)
        try:
            return sorted(items, key=dump)
        except ValueError:
            path, message = fault(items)
            raise Unencodable(message).inside(path) from None

    def _refuse(self, value: Any, _: int) -> Any:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise Unencodable(
            f"{an(kind)} has no JSON form",
            remedy="pass a dataclass, an attrs class or plain data, or register the type with "
            "Converter.register(type, encode=…, decode=…)",
        )


def _float_seconds(value: dt.timedelta) -> float:
    seconds = value.total_seconds()
    try:
        exact = dt.timedelta(seconds=seconds) == value
    except OverflowError:
        exact = False
    if not exact:
        raise Unencodable(f"{clip(str(value))} is too long for seconds as a float without losing microseconds")
    return seconds


_TO_TEXT: Final[dict[type, Callable[[Any], Any]]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: lambda value: base64.b64encode(value).decode("ascii"),
    bytearray: lambda value: base64.b64encode(value).decode("ascii"),
    dt.datetime: dt.datetime.isoformat,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: _float_seconds,
    decimal.Decimal: str,
    uuid.UUID: str,
    pathlib.PurePath: str,
}

_CONTAINERS: Final[dict[type, str]] = {
    list: "_array",
    tuple: "_array",
    deque: "_array",
    set: "_set",
    frozenset: "_set",
    dict: "_object",
}

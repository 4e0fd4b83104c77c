"""Strict reading of scalars: which JSON value is which Python value."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import enum
import math
import pathlib
import uuid
from collections.abc import Callable
from typing import Any, Final, NoReturn

from flowpy.data.jsontext import alike, clip

__all__ = ["EXACT", "SCALARS", "Misfit", "misfit", "type_name"]


class Misfit(ValueError):
    """A plain JSON value that does not fit the type it is read as."""


def type_name(type_: Any) -> str:
    """Name a type or annotation the way it is written in code."""
    if type_ is None or type_ is type(None):
        return "None"
    if isinstance(type_, type) and not hasattr(type_, "__origin__") and not getattr(type_, "__args__", None):
        return type_.__qualname__
    return repr(type_).replace("typing.", "")


def misfit(plain: Any, type_: Any, hint: str = "") -> NoReturn:
    """Raise Misfit, naming the type expected and the value found."""
    raise Misfit(f"expected {type_name(type_)}{f' ({hint})' if hint else ''}, found {clip(_shown(plain))}")


def _shown(plain: Any) -> Any:
    return f'"{plain}"' if isinstance(plain, str) else plain


def read_int(plain: Any) -> int:
    """An int and nothing else: neither ``true`` nor ``5.0``."""
    return plain if type(plain) is int else misfit(plain, int)


def read_float(plain: Any) -> float:
    """A finite number; an int becomes a float."""
    if type(plain) is float and math.isfinite(plain):
        return plain
    if type(plain) is int:
        try:
            return float(plain)
        except OverflowError:
            pass
    misfit(plain, float)


def read_str(plain: Any) -> str:
    """Text and nothing else."""
    return plain if type(plain) is str else misfit(plain, str)


def read_bool(plain: Any) -> bool:
    """``true`` or ``false`` and nothing else."""
    return plain if type(plain) is bool else misfit(plain, bool)


def read_none(plain: Any) -> None:
    """``null`` and nothing else."""
    if plain is not None:
        misfit(plain, None)


EXACT: Final[dict[Any, Callable[[Any], Any]]] = {
    int: read_int,
    float: read_float,
    str: read_str,
    bool: read_bool,
    type(None): read_none,
    None: read_none,
}
"""The scalars JSON has itself."""


def _subclassed(base: type, read: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Read a base type or a class made from it: ``class Cents(int)``, an enum with a base."""

    def structure(plain: Any, type_: Any) -> Any:
        if type_ is base:
            return read(plain)
        if issubclass(type_, enum.Enum):
            return read_enum(plain, type_)
        return type_(read(plain))

    return structure


def read_enum(plain: Any, type_: Any) -> Any:
    """Find the member whose value is written as this plain value; ``true`` is not ``1``."""
    for member in type_.__members__.values():
        if member.value == plain and isinstance(member.value, bool) is isinstance(plain, bool):
            return member
    if issubclass(type_, enum.Flag) and type(plain) is int:
        return type_(plain)
    for member in type_.__members__.values():
        if _written_alike(member.value, plain):
            return member
    misfit(plain, type_, "one of " + ", ".join(clip(_shown(m.value), 20) for m in list(type_)[:8]))


def _written_alike(value: Any, plain: Any) -> bool:
    from flowpy.data.encoding import Encoder, Unencodable

    try:
        return alike(Encoder().plain(value), plain)
    except Unencodable:
        return False


def _from_text(parse: Callable[[Any, str], Any], example: str) -> Callable[[Any, Any], Any]:
    def structure(plain: Any, type_: Any) -> Any:
        if type(plain) is not str:
            misfit(plain, type_, example)
        try:
            return parse(type_, plain)
        except (ValueError, ArithmeticError):
            misfit(plain, type_, example)

    return structure


def _iso_format(type_: Any, text: str) -> Any:
    return type_.fromisoformat(text)


def _date_and_time(type_: Any, text: str) -> Any:
    if len(text) <= len("2025-01-31"):
        raise ValueError("a date, not a date and time")
    return type_.fromisoformat(text)


def _made_from(type_: Any, text: str) -> Any:
    return type_(text)


_decimal_text = _from_text(_made_from, 'text such as "12.50"')


def _decimal(plain: Any, type_: Any) -> Any:
    return type_(plain) if type(plain) is int else _decimal_text(plain, type_)


def _timedelta(plain: Any, type_: Any) -> Any:
    try:
        return type_(seconds=read_float(plain))
    except (Misfit, OverflowError):
        misfit(plain, type_, "a number of seconds")


def _bytes(plain: Any, type_: Any) -> Any:
    if type(plain) is not str:
        misfit(plain, type_, "base64 text")
    try:
        return type_(base64.b64decode(plain, validate=True))
    except ValueError:
        misfit(plain, type_, "base64 text")


def _path(plain: Any, type_: Any) -> Any:
    return type_(plain) if type(plain) is str else misfit(plain, type_, "text")


SCALARS: Final[dict[Any, Callable[[Any, Any], Any]]] = {
    int: _subclassed(int, read_int),
    float: _subclassed(float, read_float),
    str: _subclassed(str, read_str),
    bool: lambda plain, _: read_bool(plain),
    bytes: _bytes,
    bytearray: _bytes,
    dt.datetime: _from_text(_date_and_time, 'ISO 8601, such as "2025-01-31T12:00:00+00:00"'),
    dt.date: _from_text(_iso_format, 'ISO 8601, such as "2025-01-31"'),
    dt.time: _from_text(_iso_format, 'ISO 8601, such as "12:00:00"'),
    dt.timedelta: _timedelta,
    decimal.Decimal: _decimal,
    uuid.UUID: _from_text(_made_from, "text of 32 hex digits"),
    pathlib.Path: _path,
    pathlib.PurePath: _path,
}
"""Strict hooks by class; each takes the plain value and the class asked for, which may be a subclass."""

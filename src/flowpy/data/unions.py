"""Unions: which member a plain JSON value is read as.

The order in which a union is written cannot count: ``A | B == B | A`` in Python, and types are cached. So the
members are ranked: what JSON has itself, then what has a form of its own, then text. Of several records the one
whose fields fit best is taken, by looking at their names and scalars only: trying each to the bottom would take
time exponential in the depth of a payload.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pathlib
import types
import uuid
from collections.abc import Callable
from typing import Any, Final, Literal, Union, get_args, get_origin

from flowpy.data.records import fields_of
from flowpy.data.scalars import EXACT, misfit, type_name

__all__ = ["hook", "is_union"]

_Read = Callable[[Any], Any]

_RANKS: Final[dict[Any, int]] = {
    type(None): 0,
    bool: 1,
    int: 2,
    float: 3,
    dt.timedelta: 4,
    Literal: 5,
    uuid.UUID: 7,
    dt.datetime: 8,
    dt.date: 9,
    dt.time: 10,
    str: 20,
    decimal.Decimal: 21,
    pathlib.Path: 22,
    pathlib.PurePath: 23,
    bytes: 24,
    bytearray: 25,
    Any: 30,
    object: 31,
}
_ENUM: Final = 6
_OTHER: Final = 11


def is_union(type_: Any) -> bool:
    """Say whether it is ``A | B``, ``Union[A, B]`` or ``Optional[A]``."""
    return get_origin(type_) in (Union, types.UnionType)


def hook(type_: Any, reader: Callable[[Any], _Read]) -> Callable[[Any, Any], Any]:
    """Make the hook of a union.

    Args:
        type_: The union.
        reader: Gives the function that reads a member.

    Returns:
        A cattrs hook; Misfit if no member takes the value.
    """
    members = sorted(get_args(type_), key=_rank)
    if len(members) == 2 and members[0] is type(None):
        return _optional(reader(members[1]))
    records = [(fields, reader(member)) for member in members if (fields := fields_of(member)) is not None]
    others = [reader(member) for member in members if fields_of(member) is None]

    def structure(plain: Any, _: Any) -> Any:
        best: _Read | None = None
        if records and type(plain) is dict:
            fields, best = min(records, key=lambda record: _misfits(record[0], plain))
            if not _misfits(fields, plain)[0]:
                return best(plain)
        for read in others:
            try:
                return read(plain)
            except Exception:  # noqa: S112 - the next member may take it
                continue
        return misfit(plain, type_) if best is None else best(plain)

    return structure


def _optional(read: _Read) -> Callable[[Any, Any], Any]:
    return lambda plain, _: None if plain is None else read(plain)


def _rank(member: Any) -> tuple[int, str]:
    origin = get_origin(member) or member
    if isinstance(member, type) and issubclass(member, enum.Enum):
        return _ENUM, type_name(member)
    return _RANKS.get(origin, _OTHER), f"{getattr(member, '__module__', '')}.{type_name(member)}"


def _misfits(fields: dict[str, tuple[Any, bool]], plain: dict[str, Any]) -> tuple[int, int]:
    """Count what does not fit (fields missing, scalars of the wrong type), and the keys that are unknown."""
    wrong = 0
    for name, (annotation, required) in fields.items():
        if name in plain:
            wrong += not _may_be(annotation, plain[name])
        else:
            wrong += required
    return wrong, len(plain.keys() - fields.keys())


def _may_be(annotation: Any, plain: Any) -> bool:
    if annotation in EXACT:
        try:
            EXACT[annotation](plain)
        except ValueError:
            return False
    elif get_origin(annotation) is Literal:
        return any(getattr(value, "value", value) == plain for value in get_args(annotation))
    return True

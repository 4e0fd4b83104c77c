"""What the fields of dataclasses, attrs classes, TypedDicts and named tuples are."""

from __future__ import annotations

import dataclasses
from typing import Any, get_origin, get_type_hints

import attrs

__all__ = ["fields_of", "is_named_tuple", "is_record", "is_typed_dict"]


def is_record(type_: Any) -> bool:
    """Say whether it is a dataclass or an attrs class, also a generic one with arguments."""
    origin = get_origin(type_) or type_
    return isinstance(origin, type) and (dataclasses.is_dataclass(origin) or attrs.has(origin))


def is_typed_dict(type_: Any) -> bool:
    """Say whether it is a TypedDict, also one of typing_extensions."""
    origin = get_origin(type_) or type_
    return isinstance(origin, type) and issubclass(origin, dict) and hasattr(origin, "__required_keys__")


def is_named_tuple(type_: Any) -> bool:
    """Say whether it is a named tuple."""
    return isinstance(type_, type) and issubclass(type_, tuple) and hasattr(type_, "_field_defaults")


def fields_of(type_: Any) -> dict[str, tuple[Any, bool]] | None:
    """List the fields of a record or TypedDict.

    Args:
        type_: Any annotation.

    Returns:
        By name the annotation (Any if it cannot be resolved) and whether it must be present; None for other types.
    """
    origin = get_origin(type_) or type_
    if is_typed_dict(type_):
        required = {name: name in origin.__required_keys__ for name in origin.__annotations__}
    elif is_record(type_):
        required = _required(origin)
    else:
        return None
    try:
        hints = get_type_hints(origin)
    except Exception:
        hints = {}
    return {name: (hints.get(name, Any), needed) for name, needed in required.items()}


def _required(origin: Any) -> dict[str, bool]:
    if attrs.has(origin):
        return {field.name: field.default is attrs.NOTHING for field in attrs.fields(origin) if field.init}
    missing = dataclasses.MISSING
    return {
        field.name: field.default is missing and field.default_factory is missing
        for field in dataclasses.fields(origin)
        if field.init
    }

"""Whether an event has the members SWF gives it: read from the service's own model, which botocore ships."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from botocore.loaders import Loader

from flowpy.history.events import attributes_key
from flowpy.words import an

__all__ = ["causes_of", "faults_of"]

_TYPES: Final[dict[str, type[Any]]] = {"string": str, "integer": int, "long": int, "structure": dict, "list": list}


def faults_of(event_type: str, attributes: dict[str, Any]) -> list[str]:
    """What in the attributes of an event SWF could not have written, in words; none if all is well.

    Args:
        event_type: One of the 54.
        attributes: Its attributes, as boto3 gives them.
    """
    shapes = _shapes()
    member = shapes["HistoryEvent"]["members"][attributes_key(event_type)]
    found: list[str] = []
    _check(member["shape"], attributes, "", found)
    return found


def causes_of(decision_type: str) -> list[str]:
    """The causes with which SWF refuses a decision; none if there is no such decision.

    Args:
        decision_type: Such as ``ScheduleActivityTask``.
    """
    shapes = _shapes()
    failed = shapes.get(f"{decision_type}FailedEventAttributes", {"members": {}})
    cause = failed["members"].get("cause") if decision_type in shapes["DecisionType"]["enum"] else None
    return [] if cause is None else list(shapes[cause["shape"]]["enum"])


@cache
def _shapes() -> dict[str, Any]:
    shapes: dict[str, Any] = Loader().load_service_model("swf", "service-2")["shapes"]
    return shapes


def _check(name: str, value: Any, path: str, found: list[str]) -> None:
    shape = _shapes()[name]
    kind = shape["type"]
    if not isinstance(value, _TYPES[kind]):
        found.append(f"{path or 'the attributes'} must be {an(kind)}, not {value!r:.60}")
    elif kind == "structure":
        _check_members(shape, value, path, found)
    elif kind == "list":
        for number, each in enumerate(value):
            _check(shape["member"]["shape"], each, f"{path}[{number}]", found)
    elif "enum" in shape and value not in shape["enum"]:
        found.append(f"{path} {value!r:.60} is none of {', '.join(shape['enum'])}")
    elif kind == "string" and not shape.get("min", 0) <= len(value) <= shape.get("max", len(value)):
        found.append(f"{path} has {len(value)} characters; SWF takes {shape.get('min', 0)} to {shape.get('max')}")


def _check_members(shape: dict[str, Any], value: dict[str, Any], path: str, found: list[str]) -> None:
    members = shape["members"]
    prefix = f"{path}." if path else ""
    found += [f"{prefix}{name} is missing" for name in shape.get("required", ()) if name not in value]
    for name, each in value.items():
        if name in members:
            _check(members[name]["shape"], each, f"{prefix}{name}", found)
        else:
            found.append(f"{prefix}{name} is unknown; there are {', '.join(members)}")

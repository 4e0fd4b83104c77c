"""Checks requests against the service's own model, with its messages (swf-semantics §0, §1.8).

The model is the one botocore ships, so what is required, how long and which values are allowed is written down
nowhere here. What the documentation adds to the model is in ``_RULES`` and the tables after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any, Final

from botocore.loaders import Loader

from flowpy.local.engine import faults

__all__ = ["check"]

Check = Callable[[Any, str, list[str]], None]
Shape = dict[str, Any]

_IDENTIFIER: Final = (r"(?!arn\Z)[^:/|\x00-\x1f\x7f-\x9f]*", r"(?!arn$)[^:/|\u0000-\u001f\u007f-\u009f]*")
_TRIMMED: Final = (rf"(?!\s){_IDENTIFIER[0]}(?<!\s)", rf"(?!\s){_IDENTIFIER[1]}(?<!\s)")
_TAG: Final = (r"[\w .:/=+\-@]*", r"[\p{L}\p{Z}\p{N}_.:/=+\-@]*")
_DURATION: Final = (r"(NONE|\d{1,8})?", r"(NONE|\d{1,8})?")
_RULES: Final = {
    **dict.fromkeys(("Name", "Version", "WorkflowId", "ActivityId", "TimerId", "FunctionId"), _IDENTIFIER),
    **dict.fromkeys(("DomainName", "TaskListName"), _TRIMMED),
    **dict.fromkeys(("ResourceTagKey", "ResourceTagValue"), _TAG),
    **dict.fromkeys(("DurationInSeconds", "DurationInSecondsOptional"), _DURATION),
    "DurationInDays": (r"NONE|[0-8]?\d|90", r"NONE|[0-8]?\d|90"),
    "TaskPriority": (r"(-?\d{1,10})?", r"(-?\d{1,10})?"),
}
"""What strings of these shapes look like: as Python reads it, as the message prints it."""

_FINITE: Final = re.compile(r"startToFireTimeout$|^executionStartToCloseTimeout$|^defaultExecutionStartToCloseTimeout$")
"""Paths of the durations that may not be NONE."""

_LAMBDA_TIMEOUT: Final = re.compile(r"scheduleLambdaFunctionDecisionAttributes\.startToCloseTimeout$")
_PRIORITIES: Final = range(-(2**31), 2**31)
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "boolean": (bool,),
    "structure": (dict,),
    "list": (list,),
    "timestamp": (datetime, int, float, str),
}


def check(operation: str, request: dict[str, Any]) -> None:
    """Checks the request of an operation.

    Raises:
        InvalidRequest: ValidationException listing all that is wrong, or SerializationException for a wrong JSON type.
    """
    errors: list[str] = []
    _checks()[operation](request, "", errors)
    if errors:
        plural = "error" if len(errors) == 1 else "errors"
        raise faults.invalid(f"{len(errors)} validation {plural} detected: {'; '.join(errors)}")


@cache
def _checks() -> dict[str, Check]:
    model = Loader().load_service_model("swf", "service-2")
    # The model has one shape for the names of types and of task lists; only the latter have no blanks around them.
    shapes = model["shapes"] | {"TaskListName": model["shapes"]["Name"]}
    shapes["TaskList"] = shapes["TaskList"] | {"members": {"name": {"shape": "TaskListName"}}}
    return {name: _compile(operation["input"]["shape"], shapes) for name, operation in model["operations"].items()}


def _complain(errors: list[str], value: Any, path: str, constraint: str) -> None:
    shown = "null" if value is None else f"'{value}'"
    errors.append(f"Value {shown} at '{path}' failed to satisfy constraint: Member must {constraint}")


def _compile(name: str, shapes: dict[str, Shape]) -> Check:
    shape = shapes[name]
    kind = shape["type"]
    inner = {"structure": _structure, "list": _list}.get(kind, _scalar)(name, shapes)
    types = _TYPES[kind]

    def checked(value: Any, path: str, errors: list[str]) -> None:
        # To Python a bool is an int; in JSON it is not.
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise faults.not_serializable(path, kind)
        inner(value, path, errors)

    return checked


def _structure(name: str, shapes: dict[str, Shape]) -> Check:
    members = {member: _compile(shape["shape"], shapes) for member, shape in shapes[name]["members"].items()}
    required = shapes[name].get("required", ())
    needed = _needed(shapes) if name == "Decision" else {}

    def checked(value: Any, path: str, errors: list[str]) -> None:
        prefix = f"{path}." if path else ""
        for member in (*required, *needed.get(value.get("decisionType"), ())):
            if member not in value:
                _complain(errors, None, prefix + member, "not be null")
        for member, given in value.items():
            if member in members:
                members[member](given, prefix + member, errors)

    return checked


def _needed(shapes: dict[str, Shape]) -> dict[Any, tuple[str]]:
    """The attributes without which a decision of each type makes no sense."""
    needed: dict[Any, tuple[str]] = {}
    for decision_type in shapes["DecisionType"]["enum"]:
        member = f"{decision_type[0].lower()}{decision_type[1:]}DecisionAttributes"
        if shapes[shapes["Decision"]["members"][member]["shape"]].get("required"):
            needed[decision_type] = (member,)
    return needed


def _list(name: str, shapes: dict[str, Shape]) -> Check:
    item, longest = _compile(shapes[name]["member"]["shape"], shapes), shapes[name].get("max")

    def checked(value: Any, path: str, errors: list[str]) -> None:
        if longest is not None and len(value) > longest:
            _complain(errors, value, path, f"have length less than or equal to {longest}")
        for number, given in enumerate(value, 1):
            item(given, f"{path}.{number}.member", errors)

    return checked


def _scalar(name: str, shapes: dict[str, Shape]) -> Check:
    shape = shapes[name]
    is_text = shape["type"] == "string"
    least, most, enum = shape.get("min"), shape.get("max"), shape.get("enum")
    what = "length" if is_text else "value"
    pattern, printed = _RULES.get(name, ("", ""))
    matches = re.compile(pattern, re.DOTALL).fullmatch if pattern else None
    is_duration, is_priority = name.startswith("DurationInSeconds"), name == "TaskPriority"

    def checked(value: Any, path: str, errors: list[str]) -> None:
        size = len(value) if is_text else value
        if least is not None and size < least:
            _complain(errors, value, path, f"have {what} greater than or equal to {least}")
        if most is not None and size > most:
            _complain(errors, value, path, f"have {what} less than or equal to {most}")
        if enum is not None and value not in enum:
            _complain(errors, value, path, f"satisfy enum value set: [{', '.join(enum)}]")
        if matches is not None and not matches(value):
            _complain(errors, value, path, f"satisfy regular expression pattern: {printed}")
        elif is_duration:
            _check_duration(value, path, errors)
        elif is_priority and value and int(value) not in _PRIORITIES:
            _complain(errors, value, path, "be a number of 32 bits")

    return checked


def _check_duration(value: str, path: str, errors: list[str]) -> None:
    if value == "NONE" and _FINITE.search(path):
        _complain(errors, value, path, r"satisfy regular expression pattern: \d{1,8}")
    if value and _LAMBDA_TIMEOUT.search(path) and not (value.isdigit() and 1 <= int(value) <= 900):
        _complain(errors, value, path, "have value between 1 and 900")

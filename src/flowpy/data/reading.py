"""Reading failures of any origin: flowpy's own, cut ones, plain text, Java, Lambda, other Python frameworks.

Nothing is imported, looked up or built: what a payload says about types stays text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from flowpy.data.converter import DEFAULT
from flowpy.data.failures import MAX_CAUSES, Failure
from flowpy.data.jsontext import dump, parse
from flowpy.errors import PayloadError, PayloadNotDecodable

__all__ = ["decode_failure"]

_TYPE_AND_MESSAGE: Final = re.compile(r"([A-Za-z_][\w.$]*): (.*)", re.DOTALL)
_TYPE_ALONE: Final = re.compile(r"[a-z_.$\d]*[A-Z][\w.$]*")
_CUT_FIELD: Final = re.compile(r'"(type|module|message|traceback)"\s*:\s*"((?:[^"\\]|\\.)*+)')

_MESSAGE_KEYS: Final = ("message", "errorMessage", "detailMessage", "localizedMessage")
_TYPE_KEYS: Final = ("type", "errorType", "error_type", "error", "exception")
_TRACEBACK_KEYS: Final = ("traceback", "stackTrace", "stack_trace", "trace")


def decode_failure(reason: str | None, details: str | None) -> Failure:
    """Read what was recorded of a failure.

    Args:
        reason: The reason, or None.
        details: The details, or None; JSON of flowpy's form, of another framework's, cut off, or any text.

    Returns:
        As much as can be told: fields that are absent are ``""`` or None. Text that is not JSON is kept word for
        word, as the message if there is no reason, else as the traceback. Never raises.
    """
    by_reason = _from_reason(reason or "")
    if not details:
        return by_reason
    try:
        plain = parse(details)
    except PayloadNotDecodable:
        return _from_text(details, by_reason)
    try:
        plain = DEFAULT.unwrap(plain, "the record of this failure")
    except PayloadError as problem:  # whoever can fetch it did so before; a pointer is no message
        return Failure(by_reason.type, "", by_reason.message, f"({problem})")
    found = _from_plain(plain, MAX_CAUSES)
    if found is None:
        return Failure(by_reason.type, "", by_reason.message or details, "" if not by_reason.message else details)
    return Failure(
        found.type or by_reason.type,
        found.module,
        found.message or (by_reason.message if not found.type or found.type == by_reason.type else ""),
        found.traceback,
        found.cause,
        found.data,
        found.heartbeat,
    )


def _from_reason(reason: str) -> Failure:
    match = _TYPE_AND_MESSAGE.fullmatch(reason)
    if match:
        return Failure(type=match[1], message=match[2])
    if _TYPE_ALONE.fullmatch(reason):
        return Failure(type=reason)
    return Failure(message=reason)


def _from_text(details: str, by_reason: Failure) -> Failure:
    """Read details that are no JSON: a record that was cut off, or words."""
    if details.lstrip().startswith("{"):
        # The cause comes after these fields, so the first of each name is the outermost's.
        fields: dict[str, str] = {}
        for match in _CUT_FIELD.finditer(details.partition('"cause"')[0]):
            fields.setdefault(match[1], _unescaped(match[2]))
        if fields:
            return Failure(
                fields.get("type", by_reason.type),
                fields.get("module", ""),
                fields.get("message", by_reason.message),
                fields.get("traceback", ""),
            )
    if by_reason.message or by_reason.type:
        return Failure(by_reason.type, "", by_reason.message, details)
    return Failure(message=details)


def _unescaped(text: str) -> str:
    for end in range(len(text), max(-1, len(text) - 8), -1):  # the cut may have split an escape of six characters
        try:
            return str(json.loads(f'"{text[:end]}"', strict=False))
        except ValueError:
            continue
    return text


def _from_plain(plain: Any, depth: int) -> Failure | None:
    """Read a JSON value as a failure, or give None if it says nothing of one."""
    if isinstance(plain, str):
        return Failure(message=plain)
    if isinstance(plain, list) and len(plain) == 2 and isinstance(plain[0], str) and isinstance(plain[1], dict):
        # Java's Flow Framework: [class name, fields].
        return _from_plain({**plain[1], "type": plain[0]}, depth)
    if isinstance(plain, list) and plain and isinstance(plain[0], dict) and "__obj" in plain[0]:
        # botoflow: [exception, traceback].
        return _from_tagged(plain[0], plain[1] if len(plain) > 1 else None)
    if not isinstance(plain, dict):
        return None
    if "__obj" in plain:
        return _from_tagged(plain, None)
    type_, message = _first_text(plain, _TYPE_KEYS), _first_text(plain, _MESSAGE_KEYS)
    traceback = _text(next((plain[key] for key in _TRACEBACK_KEYS if plain.get(key)), ""))
    if not (type_ or message or traceback):
        return None
    cause = plain.get("cause")
    return Failure(
        type_,
        _first_text(plain, ("module",)),
        message,
        traceback,
        _from_plain(cause, depth - 1) if cause and depth else None,
        plain.get("data"),
        plain.get("heartbeat"),
    )


def _from_tagged(tagged: dict[str, Any], traceback: Any) -> Failure:
    """Read an object that names a class as ``module:Class``; the name is text and no more."""
    named, *state = tagged["__obj"] if isinstance(tagged["__obj"], list) and tagged["__obj"] else [""]
    module, _, name = named.rpartition(":") if isinstance(named, str) else ("", "", "")
    message = state[0] if state else ""
    return Failure(name, module, _text(message), _text(traceback) if traceback is not None else "")


def _first_text(plain: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((plain[key] for key in keys if isinstance(plain.get(key), str) and plain[key]), "")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in value)
    try:
        return dump(value)
    except ValueError:
        return json.dumps(value)

"""SWF's JSON on the wire: what comes in, what goes out, what faults look like (swf-semantics §8).

Nothing here knows HTTP servers or sockets; the server and the in-process boto3 client share it.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from flowpy.errors import InvalidRequest, ServiceError
from flowpy.local.engine.event import event_text

__all__ = ["MOST_BYTES", "answer_bytes", "fault_bytes", "operation_of", "read_request", "region_of", "too_large"]

MOST_BYTES: Final = 1_048_576
"""The longest request SWF reads."""

_MOST_DEPTH: Final = 32
"""Objects and lists inside of each other; the deepest request there is has six."""

_SCOPE: Final = re.compile(r"Credential=[^/,]*/[^/,]*/([A-Za-z0-9-]{1,40})/")
_STATUS: Final = {
    "InternalFailure": 500,
    "InternalError": 500,
    "InternalServerError": 500,
    "ServiceUnavailable": 503,
    "ServiceUnavailableException": 503,
}
_NAMESPACES: Final = {
    "ValidationException": "com.amazon.coral.validate#",
    "ThrottlingException": "com.amazon.coral.availability#",
}
_TIME_FILTERS: Final = ("startTimeFilter", "closeTimeFilter")
_LAST_SECOND: Final = 253_402_300_799.0
"""The end of the year 9999."""


def operation_of(target: str) -> str:
    """The operation that a ``X-Amz-Target`` names, whichever of the service's two prefixes it has."""
    return target.rpartition(".")[2]


def region_of(authorization: str) -> str | None:
    """The region in the credential scope of an ``Authorization`` header, None if there is none."""
    found = _SCOPE.search(authorization)
    return found[1].lower() if found else None


def _malformed(what: str) -> ServiceError:
    return InvalidRequest(what, fault="SerializationException")


def too_large() -> ServiceError:
    """The request is longer than `MOST_BYTES`."""
    return _malformed(f"Request size exceeds limit: {MOST_BYTES} bytes")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def read_request(body: bytes) -> dict[str, Any]:
    """The members of a request; none for an empty body.

    Raises:
        InvalidRequest: SerializationException, for anything but a JSON object in UTF-8.
    """
    if len(body) > MOST_BYTES:
        raise too_large()
    try:
        request = _decode(body.decode()) if body else {}
        if b"\\ud" in body or b"\\uD" in body:
            # Half a surrogate pair is no text: no store and no other JSON reader would take it.
            json.dumps(request, ensure_ascii=False).encode()
    except UnicodeError:
        raise _malformed("The request is not UTF-8 text") from None
    except RecursionError:
        raise _malformed("The request is nested too deep") from None
    except ValueError as error:
        raise _malformed(f"The request is no JSON: {error}") from None
    if not isinstance(request, dict):
        raise _malformed("The request is no JSON object")
    if body.count(b"{") + body.count(b"[") > _MOST_DEPTH and _is_deep(request):
        raise _malformed("The request is nested too deep")
    for name in _TIME_FILTERS:
        if isinstance(request.get(name), dict):
            request[name] = {member: _epoch(name, member, value) for member, value in request[name].items()}
    return request


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_MOST_DEPTH):
        level = [
            member
            for each in level
            if isinstance(each, dict | list)
            for member in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def _epoch(name: str, member: str, value: Any) -> Any:
    """A timestamp, which SDKs write as seconds or, leniently, as ISO 8601 text; epoch seconds."""
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value)
            value = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = float(value)
            if math.isfinite(value) and abs(value) <= _LAST_SECOND:
                return value
        elif value is None:
            return None
    except (ValueError, OverflowError):
        pass
    raise _malformed(f"Value at '{name}.{member}' is not a timestamp")


def _seconds(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{type(value).__name__} is nothing the service answers with")


_encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True, default=_seconds).encode


def answer_bytes(answer: dict[str, Any]) -> bytes:
    """The body of an answer: members in order, timestamps as epoch seconds; nothing for an operation without output."""
    if not answer:
        return b""
    if "events" not in answer:
        return _encode(answer).encode()
    # A history is asked for again and again as it grows: each of its events is written out once.
    events = ",".join([event_text(event) for event in answer["events"]])
    rest = _encode({name: member for name, member in answer.items() if name != "events"})
    # "events" comes before every other member that stands beside it.
    return f'{{"events":[{events}]{"," if len(rest) > 2 else ""}{rest[1:]}'.encode()


def fault_bytes(error: ServiceError) -> tuple[int, bytes]:
    """HTTP status and body of a fault."""
    fault = error.fault or "InternalFailure"
    default = "com.amazonaws.swf.base.model#" if fault.endswith("Fault") else "com.amazon.coral.service#"
    kind = _NAMESPACES.get(fault, default) + fault
    return _STATUS.get(fault, 400), _encode({"__type": kind, "message": str(error)}).encode()

"""Failures: exceptions as the ``reason`` and ``details`` of SWF, always valid and always short enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from attrs import evolve, frozen

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.jsontext import MAX_WRITE_DEPTH, dump, parse, too_deep
from flowpy.data.limits import DETAILS, REASON
from flowpy.data.tracebacks import chunks_of, ends_of, middle_dropped, safe_text, text_of
from flowpy.errors import ApplicationError, PayloadNotEncodable

__all__ = ["Failure", "encode_failure", "failure_of", "failure_text", "is_not_begun", "not_begun"]

MAX_CAUSES: Final = 25
"""Causes kept behind the outermost failure; a longer chain is cut at its inner end."""

_NOT_BEGUN: Final = ("flowpy.worker", "ActivityNotBegun")
_NAME: Final = 256
_FRAMES_KEPT: Final = (40, 20, 10, 6, 4, 2)


@frozen
class Failure:
    """What is recorded of an exception; says everything and imports nothing.

    Attributes:
        type: Name of the exception's type, ``""`` if unknown.
        module: The module it was defined in, or ``""``.
        message: Its text.
        traceback: Where it was raised, as text.
        cause: The failure behind it, or None.
        data: The data of an ApplicationError, a plain JSON value, or None.
        heartbeat: Details of the last heartbeat of the activity that failed, a plain JSON value, or None.
    """

    type: str = ""
    module: str = ""
    message: str = ""
    traceback: str = ""
    cause: Failure | None = None
    data: Any = None
    heartbeat: Any = None

    def chain(self) -> Iterator[Failure]:
        """Give this failure and those behind it, outermost first."""
        failure: Failure | None = self
        while failure is not None:
            yield failure
            failure = failure.cause

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.type and self.message else self.type or self.message


def encode_failure(
    error: BaseException, converter: Converter = DEFAULT, *, heartbeat: str | None = None
) -> tuple[str, str]:
    """Write an exception as SWF's reason and details.

    Whatever the exception is (its text raises, it holds a lock, its causes go in a circle), this succeeds.

    Args:
        error: The exception.
        converter: Writes the data of an ApplicationError.
        heartbeat: Details of the activity's last heartbeat, as JSON, for the attempt that follows.

    Returns:
        The reason, ``TypeName: message`` of at most 256 characters, and the details, a JSON object of at most
        32,768, made to fit by dropping first frames from the middle of the tracebacks, then data, then inner
        causes, then the heartbeat, last the end of the message.
    """
    failure = failure_of(error, converter)
    return failure_text(failure if heartbeat is None else evolve(failure, heartbeat=parse(heartbeat)))


def failure_text(failure: Failure, room: int = DETAILS) -> tuple[str, str]:
    """Write a failure record as SWF's reason and details.

    Args:
        failure: The record.
        room: Characters the details may have.

    Returns:
        Reason and details, as ``encode_failure``.
    """
    return (str(failure) or "failure")[:REASON], _fitting(failure, room)


def not_begun(why: str) -> tuple[str, str]:
    """Write that a worker gives an activity task back which it could not begin (contract §2).

    Args:
        why: What kept it from it, with no value of the user's: it is sent as it is, by a worker that may lack the keys.

    Returns:
        Reason and details, as ``encode_failure``.
    """
    module, type_ = _NOT_BEGUN
    return failure_text(Failure(type=type_, module=module, message=safe_text(why)))


def is_not_begun(failure: Failure | None) -> bool:
    """Whether a failure says that the activity's code did not run: no attempt of its own."""
    return failure is not None and (failure.module, failure.type) == _NOT_BEGUN


def failure_of(error: BaseException, converter: Converter = DEFAULT) -> Failure:
    """Make the record of an exception and of what caused it.

    Args:
        error: The exception.
        converter: Makes the data of an ApplicationError plain.

    Returns:
        The record. Where the chain reaches an error that carries a recorded failure itself (an activity's, a
        child's), that record goes on as its cause.
    """
    seen: set[int] = set()
    records: list[Failure] = []
    recorded: Any = None
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(records) <= MAX_CAUSES:
        seen.add(id(current))
        records.append(_record(current, converter))
        recorded = _attribute(current, "failure")
        current = None if isinstance(recorded, Failure) else _cause(current)
    if isinstance(recorded, Failure):
        records.extend(list(recorded.chain())[: MAX_CAUSES + 1 - len(records)])
    failure = records[-1]
    for record in reversed(records[:-1]):
        failure = evolve(record, cause=failure)
    return failure


def _cause(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def _attribute(error: BaseException, name: str) -> Any:
    try:
        return getattr(error, name, None)
    except Exception:  # a property of the user's may raise anything
        return None


def _record(error: BaseException, converter: Converter) -> Failure:
    kind = type(error)
    module = str(kind.__module__)
    given = _attribute(error, "type") if isinstance(error, ApplicationError) else None
    name = safe_text(given) if isinstance(given, str) and given else kind.__name__
    data, notes = _data(error, converter)
    message = _message(error)
    return Failure(
        type=safe_text(name)[:_NAME],
        module=safe_text("flowpy" if module == "flowpy.errors" else module)[:_NAME],
        message=message,
        traceback="".join(chunks_of(error, f"{name}: {message}" if message else name, notes)),
        data=data,
    )


def _message(error: BaseException) -> str:
    message = text_of(error)
    if isinstance(error, BaseExceptionGroup):
        members = [f"{type(member).__name__}: {text_of(member)}" for member in error.exceptions[:10]]
        return f"{message}: {'; '.join(members)}"
    return message


def _data(error: BaseException, converter: Converter) -> tuple[Any, list[str]]:
    """Give the data that goes with an error, and notes on what could not go."""
    if isinstance(error, ApplicationError):
        try:
            return converter.plain(error.data, "the data of the error"), []
        except PayloadNotEncodable as problem:
            return None, [f"(data left out: {problem})"]
        except Exception as problem:
            return None, [f"(data left out: {type(problem).__name__} while writing it)"]
    response = _attribute(error, "response")
    # botocore makes classes such as NoSuchKey at run time; their code and message are all that can travel.
    if isinstance(response, dict) and isinstance(response.get("Error"), dict):
        found = response["Error"]
        return {"code": safe_text(found.get("Code", "")), "message": safe_text(found.get("Message", ""))}, []
    return None, []


def _fitting(failure: Failure, room: int) -> str:
    """Write the record so that it fits, dropping as little as possible in the order of the contract."""
    whole = [
        evolve(record, type=record.type[:_NAME], module=record.module[:_NAME])
        for record in list(failure.chain())[: MAX_CAUSES + 1]
    ]
    records = list(whole)
    text = _write(records)
    for frames in _FRAMES_KEPT:
        if len(text) <= room:
            return text
        records = [evolve(record, traceback=middle_dropped(record.traceback, frames)) for record in whole]
        text = _write(records)
    for index in reversed(range(len(records))):
        if len(text) > room and records[index].data is not None:
            records[index] = evolve(records[index], data=None)
            text = _write(records)
    while len(text) > room and len(records) > 1:
        records.pop()
        text = _write(records)
    if len(text) > room and records[0].heartbeat is not None:
        records[0] = evolve(records[0], heartbeat=None)
        text = _write(records)
    return text if len(text) <= room else _cut(records[0], len(text) - room)


def _cut(record: Failure, excess: int) -> str:
    """Write one record that is still too long by itself: its message, or a line of its source, is enormous."""
    traceback = ends_of(record.traceback, _NAME * 4)
    excess = max(0, excess - (len(record.traceback) - len(traceback)))
    # Every character takes at least one place in the text, so leaving out the excess is always enough.
    kept = max(0, len(record.message) - excess - _NAME)
    left_out = len(record.message) - kept
    message = f"{record.message[:kept]}… ({left_out} characters left out)" if excess else record.message
    return _write([evolve(record, traceback=traceback, message=message)])


def _write(records: list[Failure]) -> str:
    text = "null"
    for record in reversed(records):
        fields = {
            "type": record.type,
            "module": record.module,
            "message": record.message,
            "traceback": record.traceback,
        }
        text = f'{dump(fields)[:-1]}, "cause": {text}, "data": {_dump_data(record.data)}}}'
    # Of the activity that failed, not of what caused that.
    if records[0].heartbeat is not None:
        text = f'{text[:-1]}, "heartbeat": {_dump_data(records[0].heartbeat)}}}'
    return text


def _dump_data(data: Any) -> str:
    try:
        text = dump(data)
    except (ValueError, TypeError, RecursionError):
        return "null"
    return "null" if too_deep(text, MAX_WRITE_DEPTH) else text

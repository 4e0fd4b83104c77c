"""From a path, a file, text or objects to parsed JSON documents."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from flowpy.errors import HistoryError
from flowpy.words import an

__all__ = ["HistorySource", "documents", "located"]

HistorySource: TypeAlias = Any
"""What a history is read from: see ``flowpy.history.read_history``."""

_DECODER: Final = json.JSONDecoder()
_BLANK: Final = re.compile(r"[ \t\r\n\x1e\ufeff]*")
_EVENT_ID: Final = re.compile(r'"[eE]ventId"\s*:\s*(\d{1,9})')
_BYTE_ORDER_MARKS: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}
_RECORD_AGAIN: Final = (
    "Record it again with `aws swf get-workflow-execution-history` or "
    "`json.dump(client.get_workflow_execution_history(…), file, default=str)`"
)


def documents(source: HistorySource) -> tuple[str, Iterable[Any]]:
    """Open a source.

    Args:
        source: Whatever ``read_history`` takes.

    Returns:
        How to call the source in messages, and its documents: each a page, a list of events or one event, unchecked.

    Raises:
        HistoryError: A source that cannot be read, or is no JSON; also raised while the documents are iterated.
    """
    if isinstance(source, Mapping):
        return "the history given", (source,)
    if isinstance(source, os.PathLike):
        return _file(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "the bytes given", _parse(bytes(source))
    if isinstance(source, str):
        return _text_or_path(source)
    if callable(read := getattr(source, "read", None)):
        return str(getattr(source, "name", "the file given")), _read(read)
    if isinstance(source, Iterable):
        return "the history given", _each(source)
    remedy = (
        "Give a path, JSON text or bytes, an open file, a page as boto3 returns it, or an iterable of pages or events."
    )
    raise HistoryError(f"{an(type(source).__name__)} is no history.", remedy=remedy)


def located(error: HistoryError, where: str) -> HistoryError:
    """Give the same error with the place in front."""
    return HistoryError(f"{where}: {error.what}", event_id=error.event_id, remedy=error.remedy)


def _each(source: Iterable[Any]) -> Iterator[Any]:
    # Only what the caller wrote may name a file; text inside a document is never taken for a path.
    for item in source:
        if isinstance(item, (str, bytes, os.PathLike)):
            where, found = documents(item)
            try:
                yield from found
            except HistoryError as error:
                raise located(error, where) from error.__cause__
        else:
            yield item


def _text_or_path(source: str) -> tuple[str, Iterable[Any]]:
    text = source.lstrip(" \t\r\n\x1e\ufeff")
    if text.startswith(("{", "[")):
        return "the text given", _parse(source)
    if not text or "\n" in text or "\0" in text:
        raise HistoryError(f"{source!r:.60} is neither a path nor JSON text.", remedy="Give one of the two.")
    return _file(source)


def _file(path: str | os.PathLike[Any]) -> tuple[str, Iterable[Any]]:
    where = os.fsdecode(path)
    try:
        return where, _parse(Path(where).read_bytes())
    except (OSError, ValueError) as error:
        remedy = f"Check the path (relative ones start at {Path.cwd()})."
        raise HistoryError(f"{where}: cannot be read: {error}.", remedy=remedy) from error


def _read(read: Callable[[], str | bytes]) -> Iterator[Any]:
    try:
        content = read()
    except UnicodeDecodeError as error:
        raise _not_text(error) from error
    yield from _parse(content)


def _decode(content: bytes) -> str:
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(error) from error


def _not_text(error: UnicodeDecodeError) -> HistoryError:
    before = error.object[: error.start].decode("utf-8", "replace")
    event_id = _last_event_id(before)
    message = (
        f"is not {error.encoding} text: byte 0x{error.object[error.start]:02x} at offset {error.start}"
        f"{_near(event_id)}."
    )
    return HistoryError(message, event_id=event_id, remedy="Convert the file to UTF-8.")


def _parse(content: str | bytes) -> Iterator[Any]:
    """Parse the JSON documents of a text: one, or several one after another."""
    text = content if isinstance(content, str) else _decode(content)
    start = _skip(text, 0)
    if start == len(text):
        message = "is empty."
        raise HistoryError(message, remedy=_RECORD_AGAIN)
    while start < len(text):
        try:
            document, end = _DECODER.raw_decode(text, start)
        except RecursionError as error:
            message = "JSON nested too deeply to be a history."
            raise HistoryError(message, remedy=_RECORD_AGAIN) from error
        except ValueError as error:
            raise _malformed(text, start, error) from error
        yield document
        start = _skip(text, end)


def _skip(text: str, start: int) -> int:
    blank = _BLANK.match(text, start)
    return blank.end() if blank else start


def _malformed(text: str, start: int, error: ValueError) -> HistoryError:
    if not isinstance(error, json.JSONDecodeError):
        message = f"is not JSON: {error}."
        return HistoryError(message, remedy=_RECORD_AGAIN)
    event_id = _last_event_id(text[: error.pos])
    place = f"line {error.lineno}, column {error.colno}{_near(event_id)}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        what = f"ends in the middle of a JSON document at {place}: it was cut off"
    elif text[start : start + 2] in {"{'", "[{'"} or "datetime.datetime(" in text[error.pos : error.pos + 30]:
        what = f"is a printed Python object, not JSON, at {place}"
    else:
        what = f"is not JSON at {place}: {error.msg}"
    message = f"{what}."
    return HistoryError(message, remedy=_RECORD_AGAIN, event_id=event_id)


def _last_event_id(text: str) -> int | None:
    found = _EVENT_ID.findall(text)
    return int(found[-1]) if found else None


def _near(event_id: int | None) -> str:
    return "" if event_id is None else f", in or after event {event_id}"

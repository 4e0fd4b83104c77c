"""Redaction: a production history becomes one that can be stored, and still replays."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection
from typing import Any, Final

from attrs import frozen

from flowpy.data.converter import MARK
from flowpy.data.jsontext import dump, parse
from flowpy.data.traced import untraced
from flowpy.errors import DeclarationError, PayloadNotDecodable
from flowpy.history.events import Event, attributes, attributes_key
from flowpy.history.reader import History
from flowpy.replay.answers import PATCH, SIDE_EFFECT
from flowpy.testing.replacing import KeyedReplacement, Replace, Scalar
from flowpy.testing.sources import read_source
from flowpy.words import an

__all__ = ["redact"]

Names = tuple[str, ...]

_TYPE: Final = re.compile(r"[A-Za-z_$][\w.$]*")
_REASON: Final = re.compile(r"([A-Za-z_][\w.$]*): (.*)", re.DOTALL)
_TYPE_ALONE: Final = re.compile(r"[a-z_.$\d]*[A-Z][\w.$]*")
_MEMBER: Final = re.compile(r"[A-Za-z_][\w.\-]*")
_OWN_CONTROL: Final = re.compile(
    r"(?:[ts]\d+\.)*(?:(?:signal|cancel)-\d+|[^\s{}\[\]\"]+-\d+\.cancel)(?:-[0-9a-f]{16})?"
)
_ACCOUNT: Final = re.compile(r"\d{12}")
_TYPE_MEMBERS: Final = frozenset(("type", "module", "errorType", "error_type", "error", "exception"))
_INPUT_FORM: Final = frozenset(("args", "kwargs", "signals"))


def redact(
    source: Any,
    *,
    key: str | bytes | None = None,
    keep: Collection[str] = (),
    replace: Replace | None = None,
    workflow_id: str | None = None,
) -> dict[str, Any]:
    """Replace the values in a history so that it can be stored, and keep what a replay needs.

    Replaced are the texts and numbers in inputs, results, details, reasons, controls, markers and the published state,
    identities and tags, and the account in a Lambda role. They become others of the same type and shape; equal values
    become equal ones. Kept are: event types, ids, times, timeouts, task lists, names of types, signals, markers and
    members (keys that could not be one are replaced), types of errors, true, false and null, and flowpy's own forms:
    retry policies, ids in markers, contexts.

    Code that goes one way or the other by a value, or makes an ``activity_id`` or ``workflow_id`` of it, needs that
    value kept: replay what was made before you store it.

    Args:
        source: Whatever ``replay`` takes: a run, a path, pages.
        key: Equal values become equal ones in all histories redacted with the same key; keep it secret. Default a new
            one each time.
        keep: Names whose values stay: of activity and workflow types, signals, markers, Lambda functions; attributes
            of events such as ``tagList``; members of JSON objects.
        replace: Gives what stands for a text or number, instead of the keyed hash: called with the value and the names
            that lead to it, such as ``("charge", "input", "card")``; has to give the same type.
        workflow_id: The workflowId to store instead of the run's own; those of children made from it follow.

    Returns:
        JSON values as ``json.dump`` writes and ``read_history`` reads them, with ``workflowExecution`` if known.

    Raises:
        HistoryError: The source is no history.
        DeclarationError: ``replace`` gave another type, or was given together with ``key``; ``keep`` is a text.

    Example:
        >>> from flowpy.testing import HistoryBuilder
        >>> stored = redact(HistoryBuilder("order", "o-7", {"name": "Ann", "paid": True}), key="secret")
        >>> stored["events"][0]["workflowExecutionStartedEventAttributes"]["input"]
        '["y-3", {"name": "Rtp", "paid": true}]'
    """
    if replace is not None and key is not None:
        raise DeclarationError("redact: the key is for the keyed hash, not for replace=...", remedy="leave it out")
    if isinstance(keep, str | bytes) or not isinstance(keep, Collection):
        raise DeclarationError(f"redact: keep={keep!r} is no set of names", remedy=f"give keep={{{keep!r}}}")
    secret = secrets.token_bytes(32) if key is None else key.encode() if isinstance(key, str) else key
    history = read_source(source)
    redaction = _Redaction(history, frozenset(keep), replace or KeyedReplacement(secret))
    events = [redaction.event(event) for event in history.events]
    stored: dict[str, Any] = {}
    if history.workflow_id and history.run_id:
        stored["workflowExecution"] = {"workflowId": history.workflow_id, "runId": history.run_id}
    stored["events"] = events
    if workflow_id is not None and history.workflow_id:
        stored = _renamed(stored, history.workflow_id, workflow_id)
    return stored


@frozen
class _Redaction:
    history: History
    keep: frozenset[str]
    replace: Replace

    def event(self, event: Event) -> dict[str, Any]:
        """The event with its values replaced, as JSON values."""
        kind = event["eventType"]
        told = {**event, "eventTimestamp": event["eventTimestamp"].isoformat()}
        name = attributes_key(kind)
        if name not in event:
            return told
        owner = self._owner(event)
        told[name] = {each: self._attribute(kind, owner, each, value) for each, value in event[name].items()}
        return told

    def _owner(self, event: Event) -> str:
        """Name of the type, signal, marker or function that an event is about; of the run's type if of none."""
        told = attributes(event)
        opened = told.get("scheduledEventId") or told.get("initiatedEventId")
        if opened:
            told = {**attributes(self.history.events[opened - 1]), **told}
        for name in ("activityType", "workflowType"):
            if isinstance(told.get(name), dict):
                return str(told[name]["name"])
        for name in ("signalName", "markerName", "name"):
            if isinstance(told.get(name), str):
                return str(told[name])
        return self.history.workflow_type[0]

    def _attribute(self, kind: str, owner: str, name: str, value: Any) -> Any:
        names = (owner, name)
        if self.keep.intersection(names):
            return value
        if name == "tagList" and isinstance(value, list):
            return [self._value(tag, names) for tag in value]
        if not isinstance(value, str) or not value:
            return value
        return self._text(kind, owner, name, value)

    def _text(self, kind: str, owner: str, name: str, text: str) -> str:
        names = (owner, name)
        make: Callable[[str, Names], str] | None = {
            "input": self._input,
            "result": self._payload,
            "reason": self._reason,
            "control": self._control,
            "executionContext": self._context,
            "identity": self._words,
            "message": self._words,
            "lambdaRole": lambda role, names: _ACCOUNT.sub(lambda found: self._words(found[0], names), role),
            "details": self._failure if kind.endswith("Failed") else self._payload,
        }.get(name)
        if kind == "WorkflowExecutionTerminated" and name == "reason":
            make = self._words  # somebody wrote it; no error has a type here
        if kind == "MarkerRecorded" and name == "details":
            return self._marker(owner, text, names)
        return text if make is None else make(text, names)

    # --- texts --------------------------------------------------------------------------------

    def _payload(self, text: str, names: Names) -> str:
        return self._with(text, names, self._value)

    def _input(self, text: str, names: Names) -> str:
        plain, _ = untraced(text)  # of which trace it was is of no use to a test
        return self._with(plain or "", names, self._arguments)

    def _failure(self, text: str, names: Names) -> str:
        return self._with(text, names, self._record)

    def _context(self, text: str, names: Names) -> str:
        def context(plain: Any, names: Names) -> Any:
            if isinstance(plain, dict) and "flowpy" in plain:
                return {**plain, "state": self._value(plain.get("state"), (*names, "state"))}
            return self._value(plain, names)

        return self._with(text, names, context)

    def _marker(self, marker: str, text: str, names: Names) -> str:
        def details(plain: Any, names: Names) -> Any:
            if marker == SIDE_EFFECT and isinstance(plain, dict):
                kept = {"id": plain.get("id")}
                if "failure" in plain:
                    return {**kept, "failure": self._record(plain["failure"], names)}
                return {**kept, "value": self._value(plain.get("value"), names)}
            return self._value(plain, names)

        return text if marker == PATCH else self._with(text, names, details)

    def _control(self, text: str, names: Names) -> str:
        if _OWN_CONTROL.fullmatch(text):
            return text

        def control(plain: Any, names: Names) -> Any:
            return plain if isinstance(plain, dict) and plain.keys() == {"retry"} else self._value(plain, names)

        return self._with(text, names, control)

    def _reason(self, text: str, names: Names) -> str:
        named = _REASON.fullmatch(text)
        if named:
            return f"{named[1]}: {self._words(named[2], names)}"
        return text if _TYPE_ALONE.fullmatch(text) else self._words(text, names)

    def _words(self, text: str, names: Names) -> str:
        return str(self._scalar(text, names)) if text else text

    def _with(self, text: str, names: Names, change: Callable[[Any, Names], Any]) -> str:
        try:
            plain = parse(text)
        except PayloadNotDecodable:
            return self._words(text, names)
        made = change(plain, names)
        try:
            return dump(made)
        except ValueError:  # a number like 1e400, which Python reads as infinity and JSON does not have
            return self._words(text, names)

    # --- JSON values --------------------------------------------------------------------------

    def _arguments(self, plain: Any, names: Names) -> Any:
        """An input: of the form with names, the signals that it carries keep theirs."""
        if not (isinstance(plain, dict) and isinstance(plain.get("args"), list) and plain.keys() <= _INPUT_FORM):
            return self._value(plain, names)
        made = {key: self._value(plain[key], names) for key in ("args", "kwargs") if key in plain}
        if isinstance(plain.get("signals"), list):
            made["signals"] = [self._signal(each, names) for each in plain["signals"]]
        return made

    def _signal(self, plain: Any, names: Names) -> Any:
        if not isinstance(plain, dict) or not isinstance(plain.get("name"), str):
            return self._value(plain, names)
        path = (*names, plain["name"])
        text = plain.get("input")
        if not isinstance(text, str) or self.keep.intersection(path):
            return plain
        return {**plain, "input": self._payload(text, path)}

    def _record(self, plain: Any, names: Names) -> Any:
        """A failure: its types are what retries go by."""
        if isinstance(plain, list) and len(plain) == 2 and _is_type(plain[0]) and isinstance(plain[1], dict):
            return [plain[0], self._record(plain[1], names)]
        if not isinstance(plain, dict) or MARK in plain:
            return self._value(plain, names)
        made = {}
        for key, value in plain.items():
            if key in _TYPE_MEMBERS and _is_type(value):
                made[key] = value
            elif key == "cause":
                made[key] = self._record(value, names)
            else:
                made[key] = self._value(value, (*names, key))
        return made

    def _value(self, plain: Any, names: Names) -> Any:
        if self.keep.intersection(names):
            return plain
        if isinstance(plain, list):
            return [self._value(each, names) for each in plain]
        if isinstance(plain, dict):
            return dict(self._member(key, value, names, own=MARK in plain) for key, value in plain.items())
        if plain is None or isinstance(plain, bool):
            return plain
        return self._scalar(plain, names)

    def _member(self, key: str, value: Any, names: Names, *, own: bool) -> tuple[str, Any]:
        if own and key in (MARK, "name", "size"):
            return key, value
        made = key if key == MARK or _MEMBER.fullmatch(key) else self._words(key, names)
        return made, self._value(value, (*names, key))

    def _scalar(self, value: Scalar, names: Names) -> Scalar:
        made = self.replace(value, names)
        if type(made) is not type(value):
            raise DeclarationError(
                f"redact: replace gave {an(type(made).__name__)} for {an(type(value).__name__)} "
                f"({' → '.join(names)}): the code that reads it would not"
            )
        return made


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and bool(_TYPE.fullmatch(value))


def _renamed(value: Any, old: str, new: str, name: str = "") -> Any:
    """Everything with the run's workflowId, and with those of children that begin with it, under another name."""
    if isinstance(value, dict):
        return {key: _renamed(each, old, new, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, old, new) for each in value]
    if name == "workflowId" and (value == old or value.startswith(f"{old}.")):
        return f"{new}{value[len(old) :]}"
    return value

"""SWF's replies as botocore gives them, read in a fraction of the time.

botocore looks for each of the 57 members of HistoryEvent in every event and makes every time one of the local zone:
together many times the cost of the JSON. Here the JSON's own dicts become the reply: what botocore would leave out
(nulls, members that its model does not know) is dropped, times are made datetimes. Whatever has another form than the
model says is left to botocore, which then gives what it always gives, or raises what it always raises.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from attrs import field, frozen

from flowpy.words import an

__all__ = ["read_replies"]

_log: Final = logging.getLogger(__name__)

Reader = Callable[[Any], None]
"""Makes the JSON of one shape, in place, what botocore makes of it; anything raised means: botocore's to read."""

_PLAIN: Final = frozenset({"boolean", "double", "float", "integer", "long", "string"})
"""Types whose JSON is the value."""

_TIME: Final = object()
"""Stands for a reader in the members of a structure: a time is replaced there, not changed in place."""

_SPARE: Final = object()
"""Stands for the reader of a member that the model does not know."""

_READ_HERE: Final = b'{"note": "read by flowpy, whose logger flowpy.service.replies shows it"}'
"""The body that botocore is left with: it reads an empty reply, and its debug log tells where the real one is."""


class _Unfit(Exception):
    """botocore's to read."""


def read_replies(client: Any) -> None:
    """Let flowpy read what SWF answers to a boto3 client, ten times as fast as botocore does.

    flowpy's own clients have this; call it for one of your own that you give to ``BotoService``. It stands on that
    client only, as a handler of its event ``before-parse.swf``. Replies are equal to botocore's, with two differences
    that ``==`` does not see but at the edge: times are in UTC, where botocore has the local zone (the same instants; in
    the hour that a change from summer time repeats, Python calls no two times of different zones equal), and members
    stand in the order in which SWF sent them. Faults and replies that are no JSON remain botocore's, but for a reply
    that broke off: botocore takes half of one for an empty one, an empty poll or the last page of a list; here it
    raises botocore's ``IncompleteReadError``.

    Args:
        client: A boto3 client of SWF.
    """
    # Last, so that handlers of the user's own still see the body as it came.
    client.meta.events.register_last("before-parse.swf", _Replies().read)


@frozen
class _Replies:
    """The handler; readers are made when they are first needed, by the name of the output shape."""

    readers: dict[str, Reader | None] = field(factory=dict)

    def read(
        self,
        operation_model: Any,
        response_dict: dict[str, Any],
        customized_response_dict: dict[str, Any],
        **_other: Any,
    ) -> None:
        """Read the body of a good answer into what botocore then adds to its own, empty, reading of it."""
        _check_whole(response_dict["body"], response_dict["headers"].get("content-length"))
        shape, body = operation_model.output_shape, response_dict["body"]
        if shape is None or not body or response_dict["status_code"] != 200:
            return
        try:
            reader = self._reader(shape)
            if reader is None:
                return
            # Not from bytes: json would guess among encodings where botocore takes UTF-8 only.
            reply = json.loads(body.decode())
            reader(reply)
        except Exception as error:
            _log.debug("%s is left to botocore: %r", operation_model.name, error)
            return
        _log.debug("%s answered:\n%r", operation_model.name, body)
        customized_response_dict.update({**reply, **customized_response_dict})
        response_dict["body"] = _READ_HERE

    def _reader(self, shape: Any) -> Reader | None:
        if shape.name not in self.readers:
            try:
                self.readers[shape.name] = _structure(shape)
            except (_Unfit, RecursionError) as error:
                _log.debug("%s is left to botocore: %r", shape.name, error)
                self.readers[shape.name] = None
        return self.readers[shape.name]


def _check_whole(body: bytes, length: str | None) -> None:
    """Refuse a reply whose connection broke before its end; botocore has urllib3 not look."""
    if length is not None and length.isdecimal() and len(body) < int(length):
        from botocore.exceptions import IncompleteReadError

        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=int(length))


def _of(shape: Any) -> Any:
    """A shape's reader, _TIME, or None for what is taken as it is."""
    kind = shape.type_name
    if shape.serialization.keys() - {"timestampFormat"}:
        raise _Unfit(f"{shape.name} has another name or place on the wire")
    if kind == "structure":
        return _structure(shape)
    if kind == "list":
        return _events(shape.member) if shape.member.name == "HistoryEvent" else _list(shape.member)
    if kind == "timestamp":
        return _TIME
    if kind in _PLAIN:
        return None
    raise _Unfit(f"{shape.name} is {an(kind)}")


def _structure(shape: Any) -> Reader:
    if getattr(shape, "is_tagged_union", False) or getattr(shape, "is_document_type", False):
        raise _Unfit(f"{shape.name} is a union or a document")
    members = {name: _of(member) for name, member in shape.members.items()}
    return _rich(members) if any(members.values()) else _flat(frozenset(members))


def _flat(members: frozenset[str]) -> Reader:
    """The reader of a structure in which everything is taken as it is."""

    def read(node: Any) -> None:
        spare: tuple[str, ...] = ()
        for name, value in node.items():
            if value is None or name not in members:
                spare = (*spare, name)
        if spare:
            _drop(node, spare)

    return read


def _rich(members: dict[str, Any]) -> Reader:
    """The reader of any other structure."""

    def read(node: Any) -> None:
        spare: tuple[str, ...] = ()
        for name, value in node.items():
            try:
                reader = members[name]
            except KeyError:
                reader = _SPARE
            if reader is None and value is not None:
                continue
            if value is None or reader is _SPARE:
                spare = (*spare, name)
            elif reader is _TIME:
                node[name] = datetime.fromtimestamp(value, UTC)
            else:
                reader(value)
        if spare:
            _drop(node, spare)

    return read


def _drop(node: dict[str, Any], spare: tuple[str, ...]) -> None:
    for name in spare:
        del node[name]


def _list(member: Any) -> Reader:
    reader = _of(member)
    if reader is _TIME:
        raise _Unfit(f"a list of {member.name}")

    def read(nodes: Any) -> None:
        if type(nodes) is not list:
            raise _Unfit(f"{type(nodes).__name__} where a list is due")
        if reader is not None:
            for node in nodes:
                reader(node)

    return read


def _events(event: Any) -> Reader:
    """The reader of a list of history events, the one that counts: as few steps an event as can be.

    An event that has its four members is passed straight through: the name of the attributes follows from its type,
    and events of one transaction of SWF, more than a third of all, have the time of the one before.
    """
    any_event = _structure(event)
    attributes_of = {
        f"{name[0].upper()}{name.removesuffix('EventAttributes')[1:]}": (name, _structure(member))
        for name, member in event.members.items()
        if name.endswith("EventAttributes")
    }
    fromtimestamp = datetime.fromtimestamp

    def read(nodes: Any) -> None:
        if type(nodes) is not list:
            raise _Unfit(f"{type(nodes).__name__} where a list is due")
        before, time = None, None
        for node in nodes:
            try:
                name, reader = attributes_of[node["eventType"]]
                attributes, stamp, event_id = node[name], node["eventTimestamp"], node["eventId"]
            except KeyError:
                any_event(node)
                continue
            if len(node) != 4 or event_id is None:
                any_event(node)
                continue
            reader(attributes)
            if stamp != before:
                before, time = stamp, fromtimestamp(stamp, UTC)
            node["eventTimestamp"] = time

    return read

"""Harmless differences between a recorded decision and the code's, named in the words of the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from flowpy.data.payloads import PLAIN, is_sealed
from flowpy.replay.divergence import ABSENT, CodeLine, Difference
from flowpy.replay.entities import Entity

Value = tuple[str, Any, Any]
"""What differs, as recorded, as made by the code."""


def differences(entity: Entity, attributes: dict[str, Any]) -> Iterator[Difference]:
    """What in a recorded answer differs from the decision the code made, at most one for its input.

    Args:
        entity: The decision.
        attributes: Attributes of the event that answers it.

    Raises:
        PayloadUnavailable: The recorded input is encoded or kept elsewhere, and nothing here is there to open it.
    """
    for what, recorded, made in entity.differences(attributes):
        if what == "input":
            if recorded and is_sealed(recorded):
                PLAIN.open(recorded, f"input of event {entity.event_id}")
            named = _input(recorded, made, _signature(entity))
        elif what == "seconds":
            named = what, recorded, made
        else:
            named = _snake(what), _plain(recorded), _plain(made)
        line = CodeLine.of(entity.site)
        completed = attributes.get("decisionTaskCompletedEventId", 0)
        yield Difference(entity.event_id, entity.identity(), *named, line, completed)


def _input(recorded: str | None, made: str | None, signature: Any) -> Value:
    """The arguments that differ; the whole input where it is not a list of arguments."""
    old, new = _arguments(recorded, signature), _arguments(made, signature)
    if old is None or new is None:
        return "input", _json(recorded), _json(made)
    keys = [key for key in {**old, **new} if key not in old or key not in new or old[key] != new[key]]
    values = [[side.get(key, ABSENT) for key in keys] for side in (old, new)]
    if len(keys) == 1:
        return f"argument {keys[0]}", values[0][0], values[1][0]
    return f"arguments {', '.join(keys)}", values[0], values[1]


def _arguments(text: str | None, signature: Any) -> dict[str, Any] | None:
    """The arguments of an input by what a reader calls them: ``2 (cents)``, or ``currency`` if given by name only."""
    if signature is None:
        return None
    read = _json(text) if text else []
    given: dict[str, Any] = {}
    if isinstance(read, dict) and "args" in read and read.keys() <= {"args", "kwargs", "signals"}:
        read, given = read["args"], read.get("kwargs") or {}
    if not isinstance(read, list):
        return None
    names = [parameter.name for parameter in signature.positional]
    numbers = {name: f"{i} ({name})" for i, name in enumerate(names, 1)}
    by_place = {(f"{i} ({names[i - 1]})" if i <= len(names) else str(i)): value for i, value in enumerate(read, 1)}
    return {**by_place, **{numbers.get(name, name): value for name, value in given.items()}}


def _signature(entity: Entity) -> Any:
    """The signature of what is called: the runtime's side of an entity holds what was declared."""
    listener = entity.listener or entity
    declared = getattr(listener, "activity", None) or getattr(listener, "workflow", None)
    return getattr(declared, "signature", None)


def _json(text: str | None) -> Any:
    if text is None:
        return ABSENT
    try:
        return json.loads(text)
    except ValueError:
        return text


def _plain(value: Any) -> Any:
    """An option without SWF's wrapping."""
    if value is None:
        return ABSENT
    return value["name"] if isinstance(value, dict) and value.keys() == {"name"} else value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"_{match[1].lower()}", name)

"""What to do about a divergence: words and, where a few lines of code say it better, those lines."""

from __future__ import annotations

import ast
import re
from typing import Final, Literal

from flowpy.replay.divergence import Decided, Guess
from flowpy.replay.source import text_of

_PLAIN: Final[dict[str, str]] = {
    "reordered": "restore the order of the calls, or put the new order behind flowpy.patched(...)",
    "other branch": "decide by the input and by results only; a changed condition goes behind flowpy.patched(...)",
    "other target": "the workflow id must come from the input or from results only; a new one goes behind "
    "flowpy.patched(...)",
    "other id": "let runs under way have the id that is recorded: put the new call behind flowpy.patched(...)",
    "ended differently": "let runs under way end as they did: put the new end behind flowpy.patched(...)",
    "patched": "ask for the patch where it was asked for, with the same id; it may go when no run from before is open",
    "input changed": "nothing, if the change is meant: the recorded call stands; else put the new value behind "
    "flowpy.patched(...)",
    "clock": "take time, chance and ids from flowpy.now(), flowpy.random() and flowpy.uuid4()",
    "hash order": "walk lists, or sorted(...) sets: the order of a set is another one in every process",
    "Python version": "decide this run with the Python it was started with, and report the difference",
    "unnumbered": "calls of one name are told apart by number: make a new call after the others, or behind "
    "flowpy.patched(...)",
    "unknown": "restore the code this run was started with, or deploy the change as a new version of the type",
}

_TYPED: Final = ("ScheduleActivityTask", "StartChildWorkflowExecution")
_CALLS: Final = {
    "StartTimer": "await flowpy.sleep(...)",
    "RecordMarker": "flowpy.side_effect(...)",
    "ScheduleLambdaFunction": "await flowpy.lambda_function(...)(...)",
    "SignalExternalWorkflowExecution": "await flowpy.external(...).signal(...)",
    "RequestCancelExternalWorkflowExecution": "await flowpy.external(...).cancel()",
}


def remedy(
    guess: Guess | Literal["unnumbered", "other id"], old: Decided | None = None, new: Decided | None = None
) -> str:
    """What to do, as text; lines of code in it are indented by four.

    Args:
        guess: The likely change; ``"unnumbered"`` for one that gave other calls other numbers, ``"other id"`` for one
            that gave a call an id of its own.
        old: The recorded call it is about.
        new: The code's call it is about.
    """
    if guess in _PLAIN:
        return _PLAIN[guess]
    if guess == "inserted":
        return "let runs under way skip the new call:" + _patch("add", new, (_statement(new),))
    if guess == "removed":
        return "keep the call for runs under way:" + _patch("drop", old, (_as_it_was(old),), ask="if not")
    new_way = _statement(new)
    if guess == "other type":
        kept = "...  # " + (old.what.rpartition(": ")[2].rstrip(")") if old is not None else "") + ", as it was"
        return "keep what was called for runs under way:" + _patch("new", new, (new_way, "else:", kept))
    kept = _as_it_was(old, new_way, new.name if new is not None else "")
    both = _patch("new", new or old, (new_way, "else:", kept))
    kinds = {one.decision_type for one in (old, new) if one is not None}
    if guess == "renamed" and kinds == {"ScheduleActivityTask"} and old is not None:
        back = f'give it its name back, @activity(name="{old.name}")'
        return f"{back}, or keep the call for runs under way:{both}"
    return f"keep the call for runs under way:{both}"


def _patch(verb: str, one: Decided | None, body: tuple[str, ...], ask: str = "if") -> str:
    name = one.name if one is not None and not one.name.startswith("flowpy.") else ""
    about = name.rpartition(".")[2] or (one.id if one is not None else "change")
    lines = [f'{ask} flowpy.patched("{verb}-{about}"):']
    lines += [line if line == "else:" else f"    {line}" for line in body]
    return "".join(f"\n    {line}" for line in lines)


def _statement(one: Decided | None) -> str:
    """The line that makes a call, if it is a statement by itself."""
    text = text_of(one.line) if one is not None and one.line is not None else ""
    try:
        ast.parse(f"async def f():\n {text}")
    except (SyntaxError, ValueError):
        text = ""
    return text or "...  # the new call"


def _as_it_was(one: Decided | None, like: str = "", name: str = "") -> str:
    """The recorded call as code: like the line that took its place, or else as a call of its name."""
    was = (one.name if one is not None else "").rpartition(".")[2]
    if one is None or one.decision_type not in _TYPED or not was.isidentifier():
        return f"{_CALLS.get(one.decision_type if one is not None else '', '...')}  # as it was"
    written = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}(?=[.(])")
    if name and written.search(like):
        return f"{written.sub(was, like)}  # as it was"
    return f"{was}(...)  # as it was"

"""The divergence report: reads like a diff, in plain text or in colour, in at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Final

from flowpy.replay.divergence import Decided, Difference, Divergence
from flowpy.replay.source import text_of

WIDTH: Final = 100

_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_DIM: Final = "\x1b[2m"
_BOLD: Final = "\x1b[1m"
_OFF: Final = "\x1b[0m"
_SHOWN: Final = 20
"""Rows that are shown in full."""
_DEEP: Final = 13
"""Where a decision begins in its line."""
_LABEL: Final = 10

Paint = Callable[[str, str], str]


def render(divergence: Divergence, *, colour: bool = False) -> str:
    """The report as text of several lines.

    Args:
        divergence: What differs.
        colour: Whether to use ANSI colours.
    """
    paint = _paint if colour else _plain
    lines = [*_head(divergence, paint), *_diff(divergence, paint), "", *_foot(divergence)]
    return "\n".join(line.rstrip() for line in lines)


def _head(divergence: Divergence, paint: Paint) -> Iterator[str]:
    name, version = divergence.workflow
    strict = "" if divergence.history or divergence.code else ": strict mode takes every difference as an error"
    title = f"workflow {name} {version} does not match its history{strict}"
    yield from (paint(_BOLD, line) for line in _wrapped(title, ""))
    yield ""
    task, completed = divergence.decision_task, divergence.completed_event_id
    answered = f", completed by event {completed}" if completed else ""
    yield paint(_RED, f"--- history: the decision task started at event {task}{answered}")
    yield paint(_GREEN, "+++ code")


def _diff(divergence: Divergence, paint: Paint) -> Iterator[str]:
    differences = {one.event_id: one for one in divergence.differences}
    for one in divergence.matched:
        yield from _decided(" ", one, _DIM, paint, short=True)
        if one.event_id in differences:
            yield from _difference(differences.pop(one.event_id), paint)
    for difference in list(differences.values())[:_SHOWN]:
        yield from _wrapped(f"  event {difference.event_id:<5}{difference.decision}", " " * _DEEP)
        yield from _difference(difference, paint)
    rows = divergence.rows
    for old, new in rows[:_SHOWN]:
        if old is not None:
            yield from _decided("-", old, _RED, paint)
        if new is not None:
            yield from _decided("+", new, _GREEN, paint)
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN} more"


def _decided(mark: str, one: Decided, colour: str, paint: Paint, *, short: bool = False) -> Iterator[str]:
    number = f"event {one.event_id}" if one.event_id is not None else ""
    text = f"{mark} {number:<{_DEEP - 3}} {one.what}"
    if one.line is not None and short:
        place = one.line.place
        text = f"{text}  {place}" if len(text) + len(place) + 2 <= WIDTH else text
    yield from (paint(colour, line) for line in _wrapped(text, " " * _DEEP))
    if one.line is not None and not short:
        indent = " " * (_DEEP + 2)
        yield from _wrapped(f"{indent}{one.line}", indent)
        source = text_of(one.line)
        if source:
            yield f"{indent}{_cut(source, WIDTH - len(indent))}"


def _difference(one: Difference, paint: Paint) -> Iterator[str]:
    indent = " " * (_DEEP - 1)
    yield paint(_RED, _cut(f"-{indent}  {one.what}: {one.shown(one.recorded)}", WIDTH))
    yield paint(_GREEN, _cut(f"+{indent}  {one.what}: {one.shown(one.made)}", WIDTH))
    if one.line is not None:
        yield from _wrapped(f"{indent}   {one.line}", f"{indent}   ")


def _foot(divergence: Divergence) -> Iterator[str]:
    if any(divergence.recorded_workflow) and divergence.recorded_workflow != divergence.workflow:
        name, version = divergence.recorded_workflow
        said = f"the history is of workflow {name} {version}: give that type's code, or a history of this type"
        yield from _labelled("type", said)
    if divergence.reason:
        yield from _labelled("differs", divergence.reason)
    if divergence.earlier is not None:
        yield from _labelled("earlier", str(divergence.earlier))
    if divergence.stopped:
        yield from _labelled("stopped", "the code cannot go on without the value; what it would do next is not known")
    for line in divergence.waiting[:3]:
        source = text_of(line)
        yield from _labelled("waits", f"{line}: {source}" if source else str(line))
    yield from _labelled("likely", divergence.likely or "not recognised")
    if divergence.ends_here:
        yield from _labelled("or else", "the file ends too early: SWF writes the events of one decision together")
    first, *code = divergence.remedy.splitlines() or [""]
    yield from _labelled("to do", first)
    yield from (_cut(f"{' ' * _LABEL}{line}", WIDTH) for line in code)
    if divergence.patches:
        yield from _labelled("patches", f"flowpy.patched recorded in this run: {', '.join(divergence.patches)}")
    old, new = divergence.python
    if old and new and old != new and divergence.guess != "Python version":
        yield from _labelled("python", f"{old} decided this run first, this is {new}")
    yield from _labelled("sent", "nothing")


def _labelled(label: str, text: str) -> list[str]:
    return _wrapped(f"{label:<{_LABEL}}{text}", " " * _LABEL)


def _wrapped(text: str, indent: str) -> list[str]:
    if len(text) <= WIDTH:
        return [text]
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _paint(colour: str, text: str) -> str:
    return f"{colour}{text}{_OFF}"


def _plain(_colour: str, text: str) -> str:
    return text

"""The divergence report: reads like a diff, in plain text or in colour."""

from __future__ import annotations

import linecache
from typing import Final

from flowpy.replay.divergence import Decided, Divergence

_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_DIM: Final = "\x1b[2m"
_BOLD: Final = "\x1b[1m"
_OFF: Final = "\x1b[0m"
_SIDE: Final = 20
"""Decisions of one side that are shown in full."""


def render(divergence: Divergence, *, colour: bool = False) -> str:
    """The report as text of several lines.

    Args:
        divergence: What differs.
        colour: Whether to use ANSI colours.
    """
    paint = _paint if colour else _plain
    name, version = divergence.workflow
    title = f"the code of workflow {name} {version} does not match the history".replace("  ", " ")
    completed = f", answered at event {divergence.completed_event_id}" if divergence.completed_event_id else ""
    lines = [
        paint(_BOLD, title),
        f"  at the decision task started at event {divergence.decision_task}{completed}",
        "",
    ]
    lines += [paint(_DIM, f"    {_event(d)}  {d.what}") for d in divergence.matched]
    lines += _side("-", "in the history, not made by the code", divergence.history, _RED, paint)
    lines += _side("+", "made by the code, not in the history", divergence.code, _GREEN, paint)
    lines.append("")
    if divergence.reason:
        lines.append(f"  differs  {divergence.reason}")
    lines.append(f"  likely   {_likely(divergence)}")
    if divergence.patches:
        lines.append(f"  patches  recorded in this run: {', '.join(divergence.patches)}")
    if divergence.ends_here:
        lines.append("  or else  the file ends too early: SWF writes the events of one decision together")
    lines.append(f"  to do    {divergence.remedy}")
    lines.append("  nothing was sent; the run is held and goes on when the right code arrives")
    return "\n".join(lines)


def _side(mark: str, title: str, decided: tuple[Decided, ...], colour: str, paint: object) -> list[str]:
    assert callable(paint)
    lines: list[str] = []
    for one in decided[:_SIDE]:
        lines.append(paint(colour, f"  {mark} {_event(one)}  {one.what}"))
        if one.line is not None:
            source = linecache.getline(one.line.file, one.line.line).strip()
            lines.append(f"             {one.line}" + (f":  {source}" if source else ""))
    if len(decided) > _SIDE:
        lines.append(f"  {mark}          and {len(decided) - _SIDE} more")
    if lines:
        lines[0] = f"{lines[0]}    {paint(_DIM, '← ' + title)}"
    return lines


def _likely(divergence: Divergence) -> str:
    words = {
        "inserted": "a call was inserted",
        "removed": "a call was removed",
        "renamed": "a call was renamed or replaced",
        "reordered": "calls were reordered",
        "other type": "a call now has another type or version",
        "other target": "a request now goes to another execution",
        "ended differently": "the function now ends in another way or at another time",
        "patched": "a patch check was moved or changed",
        "clock or hash order": "the code read a clock, random numbers or the order of a set",
        "unknown": "not recognised",
    }
    if divergence.guess == "Python version":
        return f"Python {divergence.python[0]} decided this run first, this is Python {divergence.python[1]}"
    return words[divergence.guess]


def _event(decided: Decided) -> str:
    return f"event {decided.event_id:>4}" if decided.event_id is not None else "here      "


def _paint(colour: str, text: str) -> str:
    return f"{colour}{text}{_OFF}"


def _plain(_colour: str, text: str) -> str:
    return text

"""What stands for an outcome: the same symbol in every picture, so that no meaning hangs on colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from flowpy.view.model import Bar, Kind, Outcome, Row, Timeline

__all__ = ["ALARM", "ALL_SYMBOLS", "SYMBOLS", "Symbol", "has_mark", "legend_of", "symbol_of"]


@frozen
class Symbol:
    """How an outcome looks.

    Attributes:
        text: One character of one cell.
        plain: The same in ASCII, for terminals without Unicode.
        colour: A style of rich: one of the sixteen colours of terminals, or dim; a class of style sheets too.
        light: The colour on a light page, ``#rrggbb``.
        dark: The colour on a dark page.
    """

    text: str
    plain: str
    colour: str
    light: str
    dark: str


SYMBOLS: Final[Mapping[Outcome, Symbol]] = {
    Outcome.SCHEDULED: Symbol("○", "o", "bright_blue", "#0550ae", "#79b8ff"),
    Outcome.STARTED: Symbol("▸", ">", "bright_blue", "#0550ae", "#79b8ff"),
    Outcome.COMPLETED: Symbol("✓", "+", "green", "#116329", "#56d364"),
    Outcome.FAILED: Symbol("✗", "x", "bright_red", "#b31d28", "#ff7b72"),
    Outcome.TIMED_OUT: Symbol("◷", "T", "yellow", "#8a4600", "#e3b341"),
    Outcome.CANCELED: Symbol("⊘", "c", "dim", "#57606a", "#9ba3ad"),
    Outcome.TERMINATED: Symbol("■", "#", "bright_red", "#b31d28", "#ff7b72"),
    Outcome.REFUSED: Symbol("⊗", "R", "bright_magenta", "#8250df", "#d2a8ff"),
    Outcome.LEFT_OPEN: Symbol("╌", "-", "dim", "#57606a", "#9ba3ad"),
}
"""The symbol of each outcome."""

ALARM: Final = Symbol("!", "!", "bright_red", "#b31d28", "#ff7b72")
"""What is open and worth a look."""

_POINTS: Final = {
    Kind.SIGNAL: Symbol("◆", "*", "cyan", "#0b6b74", "#39c5cf"),
    Kind.MARKER: Symbol("◇", "m", "cyan", "#0b6b74", "#39c5cf"),
}

ALL_SYMBOLS: Final = (*SYMBOLS.values(), *_POINTS.values())
"""Every symbol, for style sheets."""


def legend_of(timeline: Timeline) -> dict[str, Symbol]:
    """The symbols of ends and points that a timeline has, each under what it says, in the order of outcomes."""
    bars = list(timeline.bars())
    found = {bar.outcome for bar in bars if symbol_of(bar) is SYMBOLS[bar.outcome] and not bar.outcome.is_open}
    legend = {str(outcome): SYMBOLS[outcome] for outcome in Outcome if outcome in found}
    if any(bar.is_alarming for bar in bars):
        legend = {"needs a look": ALARM, **legend}
    kinds = {bar.kind for bar in bars}
    return legend | {str(kind): symbol for kind, symbol in _POINTS.items() if kind in kinds}


def symbol_of(bar: Bar) -> Symbol:
    """The symbol at the end of a bar; what is open and alarming has one of its own."""
    if bar.is_alarming:
        return ALARM
    if bar.kind in _POINTS and bar.outcome is Outcome.COMPLETED:
        return _POINTS[bar.kind]
    return SYMBOLS[bar.outcome]


def has_mark(row: Row, bar: Bar) -> bool:
    """Whether a bar of a row ends in its symbol.

    Those of decision tasks that were answered, and of timers between attempts, would only cover what matters.
    """
    is_usual = bar.kind is Kind.DECISION or bar.kind is not row.kind
    return not (is_usual and bar.outcome in (Outcome.COMPLETED, Outcome.CANCELED))

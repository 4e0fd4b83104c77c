"""The timeline as one SVG file, light or dark as its viewer is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from flowpy.view.model import Bar, Kind, Outcome, Row, Timeline
from flowpy.view.scale import Scale, scale_of
from flowpy.view.summary import label, note, note_within, shown_rows, standing, title, when
from flowpy.view.symbols import ALARM, ALL_SYMBOLS, SYMBOLS, Symbol, has_mark, legend_of, symbol_of
from flowpy.view.wording import clock, cut, elapsed, printable, width_of, wrapped

__all__ = ["as_svg"]

_MARGIN: Final = 16
_ROW: Final = 22
_LINE: Final = 18
_CHAR: Final = 7.25
"""Width of a character of a monospaced font of 12 pixels."""
_TITLE: Final = 14 / 12
"""How much larger the title is."""
_OWN: Final = {*map(chr, range(128)), "…", *(symbol.text for symbol in (*ALL_SYMBOLS, ALARM))}
"""Characters that fonts with a fixed width have."""
_MOST_OPEN: Final = 8
_MOST_BARS: Final = 10
"""Bars told of in the tooltip of a row: the last ones."""
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, not even escaped."""


def as_svg(
    timeline: Timeline, *, width: int = 1000, most: int | None = None, by_order: bool = False, heading: bool = True
) -> str:
    """The timeline as an SVG document.

    Colours follow ``prefers-color-scheme``; every outcome has its symbol too; rows tell more as tooltips. No script, no
    font and nothing else from outside; all text is escaped.

    Args:
        timeline: The timeline.
        width: Pixels; at least 480.
        most: Rows at most; default all. What is open or went wrong is shown first.
        by_order: Place events by their order, not by time.
        heading: Whether to say above the rows whose history it is and what it waits for.
    """
    picture = _Picture(timeline, max(width, 480), scale_of(timeline, by_order=by_order))
    body = "\n".join(picture.parts(most, heading=heading))
    named = _text(f"{title(timeline)}: {standing(timeline)}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{picture.y:g}" '
        f'viewBox="0 0 {picture.width} {picture.y:g}" role="img" aria-label="{named}">\n'
        f"<title>{named}</title>\n<style>{_STYLE}</style>\n"
        f'<rect class="page" width="{picture.width}" height="{picture.y:g}"/>\n{body}\n</svg>\n'
    )


class _Picture:
    """Grows downwards as its parts are made."""

    def __init__(self, timeline: Timeline, width: int, scale: Scale) -> None:
        self.timeline = timeline
        self.width = width
        self.scale = scale
        self.y: float = _MARGIN
        self.left = _MARGIN + width * 0.24
        self.right = width - _MARGIN - width * 0.24

    def parts(self, most: int | None, *, heading: bool) -> Iterator[str]:
        if heading:
            yield from self._heading()
            yield from self._open()
        self.y += _ROW
        axis_at = self.y
        rows = [part for row in shown_rows(self.timeline, most) for part in self._row(row)]
        yield from self._axis(axis_at)
        yield from rows
        yield from self._legend()
        self.y += _MARGIN / 2

    def _heading(self) -> Iterator[str]:
        run = self.timeline.execution
        room = self._chars(self.width - 2 * _MARGIN)
        yield self._written(cut(title(self.timeline), int(room / _TITLE)), "title")
        yield self._written(cut(f"{SYMBOLS[run.outcome].text} {standing(self.timeline)}", room), symbol_of(run).colour)
        yield self._written(cut(when(self.timeline), room), "dim")

    def _open(self) -> Iterator[str]:
        work = self.timeline.open_work
        room = self._chars(self.width - 2 * _MARGIN) - 2
        for each in work[:_MOST_OPEN]:
            symbol = ALARM if each.is_alarming else SYMBOLS[Outcome.STARTED]
            told = f"{printable(f'{each.kind} {each.id}'.rstrip())}: {each.text}"
            for number, line in enumerate(wrapped(told, room)):
                yield self._written(f"{symbol.text if number == 0 else ' '} {line}", symbol.colour)
        if len(work) > _MOST_OPEN:
            yield self._written(f"  and {len(work) - _MOST_OPEN:,} more that are open", "dim")

    def _axis(self, top: float) -> Iterator[str]:
        free = 0.0
        for at, told in self.scale.ticks(max(2, round((self.right - self.left) / 80))):
            x = self._x_at(at)
            if x < free:
                continue
            free = x + width_of(told) * _CHAR + 8
            yield f'<path class="grid" d="M{x:.1f} {top - 6:g}V{self.y:g}"/>'
            yield _at(x + 2, top - 8, "dim", told)

    def _row(self, row: Row | int) -> Iterator[str]:
        middle = self.y + _ROW / 2
        if not isinstance(row, Row):
            text = f"… {row:,} more row{'' if row == 1 else 's'}"
            yield _at(_MARGIN, middle + 4, "dim", text)
            self.y += _ROW
            return
        name, told = label(row), note(row, self.timeline)
        shown = cut(name, self._chars(self.left - _MARGIN) - 1, middle=True)
        yield f"<g><title>{_text(_tooltip(row, name, told))}</title>"
        yield f'<rect class="row" x="0" y="{self.y:g}" width="{self.width}" height="{_ROW}"/>'
        style = "run" if row.kind is Kind.EXECUTION else "label"
        yield _within(_MARGIN, middle + 4, style, shown, self.left - _MARGIN - 4)
        yield from self._bars(row, middle)
        room = self.width - _MARGIN - self.right - 24
        told = note_within(row, self.timeline, self._chars(room))
        yield f"{_within(self.right + 24, middle + 4, symbol_of(row.last).colour, told, room)}</g>"
        self.y += _ROW

    def _bars(self, row: Row, middle: float) -> Iterator[str]:
        drawn_to = -1.0
        for bar in row.bars:
            begin, end = self._x(bar.scheduled), self._x(self.timeline.end if bar.closed is None else bar.closed)
            is_marked = has_mark(row, bar)
            if not is_marked and end < drawn_to + 0.5:
                continue  # thousands of decision tasks would stand on each other
            drawn_to = end
            started = end if bar.started is None else self._x(bar.started)
            if started - begin > 0.5:
                yield f'<path class="waits {symbol_of(bar).colour}" d="M{begin:.1f} {middle:g}H{started:.1f}"/>'
            yield from self._running(row, bar, (started, end), middle)
            if is_marked:
                symbol = symbol_of(bar)
                yield _at(end + 2, middle + 4, f"{symbol.colour} mark", symbol.text)

    def _running(self, row: Row, bar: Bar, between: tuple[float, float], middle: float) -> Iterator[str]:
        begin, end = between
        if bar.started is None or bar.kind in (Kind.SIGNAL, Kind.MARKER, Kind.OTHER):
            return
        if bar.kind is not row.kind:
            yield f'<path class="backoff" d="M{begin:.1f} {middle:g}H{end:.1f}"/>'
            return
        height = 4 if row.kind is Kind.EXECUTION else 10
        style = f"bar {symbol_of(bar).colour}"
        yield (
            f'<rect class="{style}" x="{begin:.1f}" y="{middle - height / 2:g}" width="{max(end - begin, 1):.1f}" '
            f'height="{height}" rx="2"/>'
        )

    def _legend(self) -> Iterator[str]:
        self.y += _ROW / 2
        x, line = float(_MARGIN), self.y + _LINE / 2
        shown = {"waits ┄┄": SYMBOLS[Outcome.SCHEDULED], "runs ━━": SYMBOLS[Outcome.STARTED]}
        for name, symbol in (shown | legend_of(self.timeline)).items():
            width = (len(name) + 4) * _CHAR
            if x + width > self.width - _MARGIN:
                x, line = float(_MARGIN), line + _LINE
            yield (
                f'<text class="dim" x="{x:.1f}" y="{line:g}">'
                f'<tspan class="{symbol.colour}">{symbol.text}</tspan> {_text(name)}</text>'
            )
            x += width
        self.y = line + _LINE / 2

    def _written(self, text: str, style: str) -> str:
        self.y += _LINE
        return _within(_MARGIN, self.y - 4, style, text, self.width - 2 * _MARGIN)

    def _x(self, seconds: float) -> float:
        return self._x_at(self.scale.at(seconds))

    def _x_at(self, fraction: float) -> float:
        return self.left + fraction * (self.right - self.left)

    def _chars(self, width: float) -> int:
        return int(width / _CHAR)


def _tooltip(row: Row, name: str, told: str) -> str:
    lines = [f"{name}  {printable(row.name)}".rstrip(), told]
    for bar in row.bars[-_MOST_BARS:]:
        lasted = elapsed((bar.closed or bar.scheduled) - bar.scheduled) if bar.closed else "open"
        said = f", {printable(bar.said)}" if bar.said else ""
        lines.append(f"event {bar.event_ids[0]}, {clock(bar.scheduled)}: {bar.outcome}, {lasted}{said}")
    return "\n".join(line for line in lines if line)


def _at(x: float, y: float, style: str, text: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:g}" xml:space="preserve">{_text(text)}</text>'


def _within(x: float, y: float, style: str, text: str, width: float) -> str:
    """The same with nothing of it outside of a width.

    Letters of few fonts come from whatever font the viewer has, as wide as it likes, and must not hide what is beside.
    """
    if _OWN.issuperset(text):
        return _at(x, y, style, text)
    top = y - _LINE + 4
    return f'<svg x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{_ROW}">{_at(0, y - top, style, text)}</svg>'


def _text(text: str) -> str:
    return escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _colours(symbols: Sequence[Symbol], which: str) -> str:
    rules = {symbol.colour: getattr(symbol, which) for symbol in symbols}
    return "".join(f".{name}{{fill:{value}}}.waits.{name}{{stroke:{value}}}" for name, value in sorted(rules.items()))


_STYLE: Final = (
    "text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2328}"
    ".title{font-weight:bold;font-size:14px}.run{font-weight:bold}.page{fill:#ffffff}"
    ".row{fill:transparent}.row:hover{fill:#8080801f}.grid{stroke:#d8dee4;fill:none}.mark{font-weight:bold;paint-order:stroke;stroke:#ffffff;stroke-width:4px}"
    ".waits{stroke-width:2;stroke-dasharray:4 3;fill:none!important}"
    ".backoff{stroke:#8c959f;stroke-width:2;stroke-dasharray:1 5;stroke-linecap:round;fill:none}"
    f"{_colours(ALL_SYMBOLS, 'light')}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.grid{stroke:#30363d}.mark{stroke:#0d1117}"
    f"{_colours(ALL_SYMBOLS, 'dark')}}}"
)

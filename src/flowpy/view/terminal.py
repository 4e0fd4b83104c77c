"""The timeline in a terminal; needs rich, of the extra ``cli``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from attrs import frozen
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Span, Text

from flowpy.view.model import Bar, Kind, OpenWork, Outcome, Row, Timeline
from flowpy.view.scale import Scale, scale_of
from flowpy.view.summary import label, note, note_within, shown_rows, standing, title, when
from flowpy.view.symbols import ALARM, SYMBOLS, Symbol, has_mark, legend_of, symbol_of
from flowpy.view.wording import cut, printable, width_of

__all__ = ["TerminalTimeline", "as_text"]

_MOST_OPEN: Final = 12
"""What is open that is told above the rows; all of it stands in the rows."""
_FEWEST: Final = 5
"""Rows that are shown however low the terminal is."""
_GLYPHS: Final = {"waits": "┄", "runs": "━", "left": "╌", "back-off": "·", "tick": "╵"}
_PLAIN_GLYPHS: Final = {"waits": ".", "runs": "=", "left": "-", "back-off": " ", "tick": "|"}


def as_text(timeline: Timeline, *, width: int = 100, most: int | None = None, by_order: bool = False) -> str:
    """The timeline as text without colours.

    Args:
        timeline: The timeline.
        width: Cells of a line at most; at least 40 are needed.
        most: Rows at most; default all. What is open or went wrong is shown first.
        by_order: Place events by their order, not by time.
    """
    console = Console(width=width, color_system=None, legacy_windows=False, force_terminal=False)
    with console.capture() as capture:
        console.print(TerminalTimeline(timeline, most=most, by_order=by_order))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


@frozen(kw_only=True)
class _Columns:
    """Cells of the three columns of a picture."""

    label: int
    bars: int
    note: int

    @classmethod
    def fitted(cls, width: int, rows: Sequence[tuple[str, str]]) -> _Columns:
        """The columns for labels and notes in a width."""
        labels = min(max(width_of(text) for text, _ in rows), max(14, width * 3 // 10))
        notes = min(max(width_of(text) for _, text in rows), max(12, width * 3 // 10))
        return cls(label=labels, bars=max(8, width - labels - notes - 2), note=notes)


@frozen
class TerminalTimeline:
    """What rich prints as the picture of a timeline: ``Console().print(TerminalTimeline(timeline))``.

    Attributes:
        timeline: The timeline.
        most: Rows at most; default all. What is open or went wrong is shown first.
        by_order: Place events by their order, not by time.
        height: Lines at most, all in all, where ``most`` does not say how many rows there are; default no limit.
    """

    timeline: Timeline
    most: int | None = None
    by_order: bool = False
    height: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fitted to the width that rich has."""
        lines = self._lines(console, options, _PLAIN_GLYPHS if options.ascii_only else _GLYPHS)
        yield from map(_in_ascii, lines) if options.ascii_only else lines

    def _lines(self, console: Console, options: ConsoleOptions, glyphs: dict[str, str]) -> Iterator[Text]:
        heading = list(self._heading(options))
        legend = self._legend(options, glyphs)
        free = None
        if self.height is not None and self.most is None:
            # Beside these stand the axis and the empty lines around the picture.
            taken = sum(len(line.wrap(console, options.max_width)) for line in heading) + len(legend) + 3
            free = self.height - taken
        yield from heading
        if self.timeline.open_work:
            work = list(self._open(console, options, None if free is None else free - _FEWEST - 1))
            free = None if free is None else free - len(work) - 1
            yield Text()
            yield from work
        yield Text()
        yield from self._picture(options, glyphs, self.most if free is None else max(free, _FEWEST))
        yield Text()
        yield from legend

    def _heading(self, options: ConsoleOptions) -> Iterator[Text]:
        run = self.timeline.execution
        symbol = SYMBOLS[run.outcome]
        told = Text(f"{_drawn(symbol, options.ascii_only)} {standing(self.timeline)}", f"bold {symbol.colour}")
        times = when(self.timeline)
        room = None if self.height is None else 2 * options.max_width - 2
        yield Text(title(self.timeline) if room is None else cut(title(self.timeline), room, middle=True), style="bold")
        if told.cell_len + len(times) + 2 <= options.max_width:
            yield told.append(f"  {times}", "not bold default")
        else:
            yield told
            yield Text(times)

    def _open(self, console: Console, options: ConsoleOptions, most: int | None) -> Iterator[Text]:
        """What is open, in so many lines at most if there is a limit, but in three at least."""
        work, told = self.timeline.open_work, 0
        lines: list[Text] = []
        for each in work[:_MOST_OPEN]:
            more = self._work(each, console, options)
            if most is not None:
                room = max(most, 3) - len(lines) - (told + 1 < len(work))
                if lines and len(more) > room:
                    break
                more = more[:room]
            lines += more
            told += 1
        yield from lines
        if told < len(work):
            yield Text(f"  and {len(work) - told:,} more that are open", style="italic")

    def _work(self, each: OpenWork, console: Console, options: ConsoleOptions) -> list[Text]:
        symbol = ALARM if each.is_alarming else SYMBOLS[Outcome.STARTED]
        told = Text(printable(f"{each.kind} {each.id}".rstrip()), style="bold").append(f"  {each.text}", "not bold")
        if options.ascii_only:
            told = _in_ascii(told)
        mark = Text(_drawn(symbol, options.ascii_only), style=f"bold {symbol.colour}")
        lines = []
        for line in told.wrap(console, max(8, options.max_width - 2)):
            line.rstrip()
            lines.append(Text.assemble(mark, " ", line))
            mark = Text(" ")
        return lines

    def _picture(self, options: ConsoleOptions, glyphs: dict[str, str], most: int | None) -> Iterator[Text]:
        timeline, scale = self.timeline, scale_of(self.timeline, by_order=self.by_order)
        shown = shown_rows(timeline, most)
        told = [(label(row), note(row, timeline)) for row in shown if isinstance(row, Row)]
        columns = _Columns.fitted(options.max_width, told)
        yield _axis(scale, columns, glyphs)
        for row in shown:
            if isinstance(row, Row):
                yield _line(row, timeline, scale, columns, glyphs)
            else:
                yield Text(f"… {row:,} more row{'' if row == 1 else 's'}", style="italic", no_wrap=True)

    def _legend(self, options: ConsoleOptions, glyphs: dict[str, str]) -> list[Text]:
        waits, runs = (SYMBOLS[each] for each in (Outcome.SCHEDULED, Outcome.STARTED))
        entries = [
            (f"{glyphs['waits'] * 2}{_drawn(waits, options.ascii_only)}", waits.colour, "waits"),
            (f"{glyphs['runs'] * 2}{_drawn(runs, options.ascii_only)}", runs.colour, "runs"),
        ]
        for name, symbol in legend_of(self.timeline).items():
            entries.append((_drawn(symbol, options.ascii_only), symbol.colour, name))
        lines = [Text()]
        for drawn, colour, name in entries:
            if lines[-1].cell_len + len(drawn) + len(name) + 3 > options.max_width:
                lines.append(Text())
            lines[-1].append("  " if lines[-1] else "").append(drawn, colour).append(f" {name}")
        return lines


def _in_ascii(line: Text) -> Text:
    """The same line for a terminal that has nothing else: what users named in other letters is told by ``?``.

    A letter of two cells becomes two of them, and what takes no cell none, so that the bars stay where they are.
    """
    cells = ["~" if char == "…" else char if char.isascii() else "?" * width_of(char) for char in line.plain]
    places = [0, *accumulate(map(len, cells))]
    spans = [Span(places[span.start], places[span.end], span.style) for span in line.spans]
    return Text("".join(cells), style=line.style, no_wrap=line.no_wrap, overflow=line.overflow, spans=spans)


def _drawn(symbol: Symbol, ascii_only: bool) -> str:
    return symbol.plain if ascii_only else symbol.text


def _axis(scale: Scale, columns: _Columns, glyphs: dict[str, str]) -> Text:
    """The times above the bars, each beginning at its tick; those without room are left out."""
    cells = [" "] * columns.bars
    free = 0
    for at, told in scale.ticks(max(2, columns.bars // 8)):
        place = min(round(at * (columns.bars - 1)), columns.bars - 1)
        text = f"{glyphs['tick']}{told}"
        if place < free or place + len(text) > columns.bars:
            continue
        cells[place : place + len(text)] = text
        free = place + len(text) + 1
    return Text(" " * (columns.label + 1) + "".join(cells), style="dim", no_wrap=True)


def _line(row: Row, timeline: Timeline, scale: Scale, columns: _Columns, glyphs: dict[str, str]) -> Text:
    name = cut(label(row), columns.label, middle=True)
    text = Text(name + " " * (columns.label + 1 - width_of(name)), no_wrap=True, overflow="crop")
    if row.kind is Kind.EXECUTION:
        text.stylize("bold")
    for char, style in _cells(row, timeline.end, scale, columns.bars, glyphs):
        text.append(char, style)
    return text.append(" ").append(note_within(row, timeline, columns.note), symbol_of(row.last).colour)


def _cells(row: Row, end: float, scale: Scale, width: int, glyphs: dict[str, str]) -> list[tuple[str, str]]:
    """The bars of a row, a cell at a time: first the stretches, then the ends, what went wrong on top."""
    plain = glyphs is _PLAIN_GLYPHS
    cells = [(" ", "")] * width

    def place(at: float) -> int:
        return round(scale.at(at) * (width - 1))

    for bar in row.bars:
        colour = symbol_of(bar).colour
        begin, close = place(bar.scheduled), place(end if bar.closed is None else bar.closed)
        started = close if bar.started is None else place(bar.started)
        running = glyphs[_phase(row, bar)]
        cells[begin:started] = [(glyphs["waits"], colour)] * (started - begin)
        cells[started : close + 1] = [(running, colour)] * (close + 1 - started)
    for bar in sorted(row.bars, key=lambda bar: bar.outcome.is_bad):
        if has_mark(row, bar):
            cells[place(end if bar.closed is None else bar.closed)] = (
                _drawn(symbol_of(bar), plain),
                symbol_of(bar).colour,
            )
    return cells


def _phase(row: Row, bar: Bar) -> str:
    if bar.outcome is Outcome.LEFT_OPEN:
        return "left"
    return "back-off" if bar.kind is not row.kind else "runs"

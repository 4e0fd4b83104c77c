"""The timeline in a terminal; needs rich, of the extra ``cli``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from flowpy.view.model import Bar, Kind, Outcome, Row, Timeline
from flowpy.view.scale import Scale, scale_of
from flowpy.view.summary import label, note, shown_rows, standing, title, when
from flowpy.view.symbols import ALARM, SYMBOLS, Symbol, has_mark, legend_of, symbol_of
from flowpy.view.wording import cut, printable, width_of

__all__ = ["TerminalTimeline", "as_text"]

_MOST_OPEN: Final = 12
"""Lines about what is open; all of it stands in the rows."""
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
    """

    timeline: Timeline
    most: int | None = None
    by_order: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fitted to the width that rich has."""
        lines = self._lines(console, options, _PLAIN_GLYPHS if options.ascii_only else _GLYPHS)
        yield from map(_in_ascii, lines) if options.ascii_only else lines

    def _lines(self, console: Console, options: ConsoleOptions, glyphs: dict[str, str]) -> Iterator[Text]:
        yield from self._heading(options)
        if self.timeline.open_work:
            yield Text()
            yield from self._open(console, options)
        yield Text()
        yield from self._picture(options, glyphs)
        yield Text()
        yield self._legend(options, glyphs)

    def _heading(self, options: ConsoleOptions) -> Iterator[Text]:
        run = self.timeline.execution
        symbol = SYMBOLS[run.outcome]
        told = Text(f"{_drawn(symbol, options.ascii_only)} {standing(self.timeline)}", f"bold {symbol.colour}")
        times = when(self.timeline)
        yield Text(title(self.timeline), style="bold")
        if told.cell_len + len(times) + 2 <= options.max_width:
            yield told.append(f"  {times}", "not bold default")
        else:
            yield told
            yield Text(times)

    def _open(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        work = self.timeline.open_work
        for each in work[:_MOST_OPEN]:
            symbol = ALARM if each.is_alarming else SYMBOLS[Outcome.STARTED]
            told = Text(printable(f"{each.kind} {each.id}".rstrip()), style="bold").append(f"  {each.text}", "not bold")
            mark = Text(_drawn(symbol, options.ascii_only), style=f"bold {symbol.colour}")
            for line in told.wrap(console, max(8, options.max_width - 2)):
                line.rstrip()
                yield Text.assemble(mark, " ", line)
                mark = Text(" ")
        if len(work) > _MOST_OPEN:
            yield Text(f"  and {len(work) - _MOST_OPEN:,} more that are open", style="italic")

    def _picture(self, options: ConsoleOptions, glyphs: dict[str, str]) -> Iterator[Text]:
        timeline, scale = self.timeline, scale_of(self.timeline, by_order=self.by_order)
        shown = shown_rows(timeline, self.most)
        told = [(label(row), note(row, timeline)) for row in shown if isinstance(row, Row)]
        columns = _Columns.fitted(options.max_width, told)
        yield _axis(scale, columns, glyphs)
        for row in shown:
            if isinstance(row, Row):
                yield _line(row, timeline, scale, columns, glyphs)
            else:
                yield Text(f"… {row:,} more row{'' if row == 1 else 's'}", style="italic", no_wrap=True)

    def _legend(self, options: ConsoleOptions, glyphs: dict[str, str]) -> Text:
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
        return Text("\n").join(lines)


def _in_ascii(line: Text) -> Text:
    """The same line for a terminal that has nothing else: what users named in other letters is told by ``?``."""
    line.plain = line.plain.replace("…", "~").encode("ascii", "replace").decode()
    return line


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
    return text.append(" ").append(cut(note(row, timeline), columns.note), symbol_of(row.last).colour)


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

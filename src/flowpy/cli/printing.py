"""What commands print: one place for text and JSON, so that all of them look and end alike.

A command decorated with `output_option` has ``--json`` and takes an `Output`. One answer is one JSON object; a list is
one object a line, printed as it comes. People get text of at most 80 columns where the terminal has no more, coloured
where it has colours and NO_COLOR is not set.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from attrs import field, frozen

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["AS_JSON", "Column", "Output", "harmless", "moment", "output_option", "plain"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_OBEYED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_MEASURED: Final = 200
"""Rows that are looked at to choose the widths of a table that goes on: it has to begin before its end is known."""

_STYLES: Final = {
    "OPEN": "cyan",
    "COMPLETED": "green",
    "CONTINUED_AS_NEW": "blue",
    "CANCELED": "yellow",
    "FAILED": "red",
    "TIMED_OUT": "red",
    "TERMINATED": "magenta",
    "same": "green",
    "differs": "red",
    "error": "red",
    "unknown version": "red",
    "gone": "yellow",
    "REGISTERED": "green",
    "DEPRECATED": "yellow",
}
"""Colours of words that say how something stands."""


@frozen
class Column:
    """A column of a table.

    Attributes:
        title: Its head.
        key: Member of the rows that stands in it.
        least: Characters below which it is not cut to fit the terminal.
    """

    title: str
    key: str
    least: int = 8


@frozen
class Output:
    """Prints what a command has to say.

    Attributes:
        as_json: Whether as JSON.
    """

    as_json: bool = False
    _console: list[Console] = field(factory=list, init=False)

    @property
    def console(self) -> Console:
        """The console of rich on standard output."""
        if not self._console:
            from rich.console import Console

            self._console.append(Console(markup=False, highlight=False, emoji=False))
        return self._console[0]

    def answer(self, data: dict[str, Any], text: str | None = None, *, compact: bool = False) -> None:
        """Print one answer.

        Args:
            data: It as a JSON object.
            text: It for people; default the members that are not empty, one below the other.
            compact: Whether it is one of several: then its JSON is one line.
        """
        if self.as_json:
            click.echo(json.dumps(data, indent=None if compact else 2, default=plain))
        elif text is None:
            self._members(data)
        else:
            self.line(text)

    def each(self, rows: Iterable[dict[str, Any]], columns: Iterable[Column], *, none: str) -> int:
        """Print rows as they come: JSON lines, or a table.

        Args:
            rows: The rows.
            columns: Which members the table shows; the last one is never cut.
            none: What is said if there are no rows.

        Returns:
            How many there were.
        """
        if self.as_json:
            count = 0
            for count, row in enumerate(rows, 1):  # noqa: B007 - counts
                click.echo(json.dumps(row, default=plain))
            return count
        return self._table(iter(rows), list(columns), none)

    def line(self, text: str = "", *, style: str = "") -> None:
        """Print a text for people, never cut or wrapped; nothing if the output is JSON."""
        if not self.as_json:
            self.console.print(self._shown(text), style=style or None, soft_wrap=True)

    def _shown(self, text: str) -> str:
        """A text as a terminal may have it; files and programs get it as it is."""
        return harmless(text) if self.console.is_terminal else text

    def note(self, text: str) -> None:
        """Tell something beside the answer, on standard error; nothing if the output is JSON."""
        if not self.as_json:
            click.echo(harmless(text), err=True)

    @property
    def shows_progress(self) -> bool:
        """Whether there is a terminal to show progress on."""
        return not self.as_json and sys.stderr.isatty()

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Show how far something long is, on standard error if that is a terminal; print nothing meanwhile.

        Args:
            what: What is done, in a few words.
            total: How many steps there are, None if that is not known.

        Yields:
            A function to call with the number of steps that were done.
        """
        if not self.shows_progress:
            yield lambda _: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*shown, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda steps: bar.advance(task, steps)

    def _members(self, data: dict[str, Any]) -> None:
        from rich.text import Text

        filled = {name: value for name, value in data.items() if value not in (None, "", [], {})}
        told = {name.replace("_", " "): self._shown(cell(value)) for name, value in filled.items()}
        width = max(map(len, told), default=0)
        for name, value in told.items():
            label = Text(f"{name:<{width}}  ", style="bold")
            self.console.print(label.append(value, _STYLES.get(value, "not bold")), soft_wrap=True)

    def _table(self, rows: Iterator[dict[str, Any]], columns: list[Column], none: str) -> int:
        first = list(islice(rows, _MEASURED))
        if not first:
            self.note(none)
            return 0
        widths = self._widths(first, columns)
        heads = {column.key: column.title for column in columns}
        self.console.print(_row(heads, columns, widths, "bold"), soft_wrap=True)
        count = 0
        for count, row in enumerate(chain(first, rows), 1):  # noqa: B007 - counts
            self.console.print(_row(row, columns, widths), soft_wrap=True)
        return count

    def _widths(self, rows: list[dict[str, Any]], columns: list[Column]) -> list[int]:
        widths = [max(len(one.title), *(len(harmless(cell(row.get(one.key)))) for row in rows)) for one in columns]
        if not self.console.is_terminal:
            return widths
        while sum(widths) + 2 * (len(widths) - 1) > self.console.width:
            wide = [n for n, one in enumerate(columns[:-1]) if widths[n] > max(one.least, len(one.title))]
            if not wide:
                break
            widths[max(wide, key=lambda n: widths[n])] -= 1
        return widths


def _row(row: dict[str, Any], columns: list[Column], widths: list[int], style: str = "") -> Text:
    from rich.text import Text

    made = Text(style=style)
    for n, (column, width) in enumerate(zip(columns, widths, strict=True)):
        value = harmless(cell(row.get(column.key)))
        last = n == len(columns) - 1
        shown = value if last or len(value) <= width else value[: width - 1] + "…"
        made.append(shown if last else f"{shown:<{width}}  ", _STYLES.get(value))
    made.rstrip()
    return made


def cell(value: Any) -> str:
    """A value as it stands in a line of text."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, dict) and value.keys() == {"name", "version"}:
        return f"{value['name']} {value['version']}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=plain)


def harmless(text: str) -> str:
    r"""A text without anything that a terminal obeys: control characters and what turns the direction of writing.

    They are spelled out, but for the ends of lines and tabs.

    >>> print(harmless("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def moment(time: datetime) -> str:
    """A time for people: UTC, to the second."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def plain(value: Any) -> Any:
    """What `json` does not know of itself: times, as ISO 8601 in UTC; sets and tuples; all else as text."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return list(value) if isinstance(value, set | frozenset) else str(value)


def output_option(command: F) -> F:
    """Give a command ``--json``, and the argument ``output``."""

    def remember(context: click.Context, _: click.Parameter, value: bool) -> bool:
        context.meta[AS_JSON] = value
        return value

    # Eager: what is wrong with the other options is then told as JSON too.
    @click.option(
        "--json", "as_json", is_flag=True, is_eager=True, callback=remember, help="JSON; lists as one object a line."
    )
    @functools.wraps(command)
    def printing(*args: Any, as_json: bool, **rest: Any) -> Any:
        return command(*args, output=Output(as_json), **rest)

    return printing  # type: ignore[return-value]  # its keywords are those of the command and the option


AS_JSON: Final = "flowpy.json"
"""Where a click context holds whether errors are told as JSON."""

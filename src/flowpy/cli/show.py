"""``flowpy show``: the timeline of an execution."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import frozen

from flowpy.cli.connecting import Connection, connection_options
from flowpy.cli.failing import Exit, Failure, Misuse
from flowpy.cli.printing import Output, output_option
from flowpy.cli.standing import standings
from flowpy.view.wording import printable

if TYPE_CHECKING:
    from flowpy.client import Client, Run
    from flowpy.view import Timeline

__all__ = ["show"]

_FILE: Final = click.Path(dir_okay=False, writable=True, path_type=Path, allow_dash=True)
_FILES: Final = 3
"""Files of a folder that are named: as many as fit a line or two."""


@frozen(kw_only=True)
class _Shape:
    """What the options say of the picture."""

    svg: Path | None
    html: Path | None
    rows: int | None
    by_order: bool


@click.command()
@click.argument("source", metavar="FILE|-|WORKFLOW_ID")
@click.option("--run-id", metavar="ID", help="The run of WORKFLOW_ID; default the open one, else the last one.")
@click.option("--svg", type=_FILE, metavar="FILE", help="Write an SVG picture instead; - is standard output.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write a web page instead; - is standard output.")
@click.option("--code", metavar="MODULE:WORKFLOW", help="Show where this code stands too; on a page, at each event.")
@click.option(
    "--rows", type=click.IntRange(min=2), metavar="N", help="Show N rows at most, open and failed ones first."
)
@click.option("--order", "by_order", is_flag=True, help="Place events by their order instead of by time.")
@click.option("--follow", is_flag=True, help="Go on as it happens until the execution closes.")
@output_option
@connection_options
def show(
    connection: Connection,
    output: Output,
    source: str,
    run_id: str | None,
    code: str | None,
    follow: bool,
    **shape: Any,
) -> None:
    """Show an execution as a timeline.

    On top stands what it waits for and what a person should look at, below a row of bars for each thing it did.

    FILE is a recorded history in any form, - one on standard input; anything else is the WORKFLOW_ID of an execution in
    the domain.

    Exit code: 0 shown, 1 no history, 2 wrong usage, 4 no such execution; docs/command-line.md has them all.
    """
    wanted = _Shape(**shape)
    if code and wanted.svg and not wanted.html:
        raise Misuse("--code has no place in an SVG picture", "leave out one of the two")
    if follow and (wanted.svg or wanted.html or code):
        raise Misuse("--follow shows a picture that changes", "leave out --svg, --html and --code")
    is_file = run_id is None and (source == "-" or Path(source).is_file())
    if not is_file and run_id is None:
        _refuse_path(source, connection)
    if follow:
        if is_file:
            raise Misuse("--follow is for executions in a domain: a file does not grow", "leave it out")
        _follow(connection.client(), source, run_id, output, wanted)
        return
    from flowpy.view import timeline

    if is_file:
        made = timeline(sys.stdin.buffer if source == "-" else source)
    else:
        run: Run[Any] = connection.client().run(source, run_id)
        known = run.describe().run_id
        made = timeline(run.history(), now=time.time(), workflow_id=source, run_id=known)
    _write(made, output, wanted, code)


def _refuse_path(source: str, connection: Connection) -> None:
    """Refuse what is meant as the path of a history, and is none, before it is taken for a workflowId."""
    names_a_path = source.endswith((".json", ".jsonl")) or "/" in source  # which SWF allows in no workflowId
    if Path(source).is_dir():
        histories = sorted(path for path in Path(source).rglob("*.json*") if path.is_file())
        if names_a_path or histories or not connection.domain:
            hint = _named(histories) or "no history is in it: flowpy history --output downloads one"
            raise Failure(f"{source!r} is a folder, and show takes one file", Exit.USAGE, hint)
    elif names_a_path:
        raise click.UsageError(f"there is no file {source!r} in {Path.cwd()}")


def _named(histories: list[Path]) -> str:
    """Some of the files of a folder, "" if there are none."""
    shown = [shlex.quote(str(path)) for path in histories[:_FILES]]
    more = f" and {len(histories) - _FILES:,} more" if len(histories) > _FILES else ""
    return f"in it {'is' if len(histories) == 1 else 'are'} {', '.join(shown)}{more}" if shown else ""


def _write(made: Timeline, output: Output, wanted: _Shape, code: str | None) -> None:
    found = standings(made, code, output, every=bool(wanted.html)) if code else None
    if wanted.svg:
        from flowpy.view import as_svg

        _put(wanted.svg, as_svg(made, most=wanted.rows, by_order=wanted.by_order), output)
    if wanted.html:
        from flowpy.view import as_html

        _put(wanted.html, as_html(made, stacks=found), output)
    if wanted.svg or wanted.html:
        return
    stands = found[max(found)] if found else "it has not run yet"
    if output.as_json:
        click.echo(json.dumps(made.to_json() | ({"code": stands} if code else {}), indent=2))
        return
    output.console.print(_picture(made, wanted, output))
    if code:
        output.line(f"\nWhere {code} stands:", style="bold")
        for line in stands.splitlines():
            output.line(printable(line))


def _put(file: Path, text: str, output: Output) -> None:
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    file.write_text(text, encoding="utf-8")
    output.note(f"{file}: {len(text.encode()):,} bytes")


def _picture(made: Timeline, wanted: _Shape, output: Output) -> Any:
    """The picture for a terminal: all of it can be seen at once, unless more rows are asked for."""
    from flowpy.view.terminal import TerminalTimeline

    console = output.console
    height = console.height - 1 if console.is_terminal else None  # the last line is for the prompt
    return TerminalTimeline(made, most=wanted.rows, by_order=wanted.by_order, height=height)


def _follow(client: Client, workflow_id: str, run_id: str | None, output: Output, wanted: _Shape) -> None:
    known = run_id or client.run(workflow_id).describe().run_id
    # Who names a run wants that one; who names an execution wants to see how it goes on.
    made = _growing(client, workflow_id, known, onward=run_id is None)
    if output.as_json:
        seen = ("", 0)
        for run, each in made:
            if seen != (run, len(each.events)):
                click.echo(json.dumps(each.to_json()))
            seen = (run, len(each.events))
        return
    for _, each_run in groupby(made, key=itemgetter(0)):
        _picture_of(map(itemgetter(1), each_run), output, wanted)


def _picture_of(growing: Iterator[Timeline], output: Output, wanted: _Shape) -> None:
    """Show one run until it closes; its last picture stays where it is."""
    console = output.console
    if not console.is_terminal:
        *_, last = growing
        console.print(_picture(last, wanted, output))
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for each in growing:
            live.update(_picture(each, wanted, output), refresh=True)


def _growing(client: Client, workflow_id: str, run_id: str, *, onward: bool) -> Iterator[tuple[str, Timeline]]:
    from flowpy.cli.following import growing
    from flowpy.view import timeline

    for known, events in growing(client, workflow_id, run_id, onward=onward):
        yield known, timeline(events, now=time.time(), workflow_id=workflow_id, run_id=known)

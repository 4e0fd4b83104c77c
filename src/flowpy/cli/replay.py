"""``flowpy replay``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from flowpy.cli.executions import named
from flowpy.cli.failing import Exit
from flowpy.cli.importing import import_workflows
from flowpy.cli.printing import Column, Output, output_option

if TYPE_CHECKING:
    from flowpy.testing import Pending, Replay

__all__ = ["replay"]

_COLUMNS: Final = (
    Column("OUTCOME", "outcome"),
    Column("TYPE", "workflow_type"),
    Column("EPISODES", "episodes"),
    Column("HISTORY", "source"),
)


@click.command()
@click.argument("modules", metavar="MODULE")
@click.argument("sources", nargs=-1, required=True, metavar="HISTORY...")
@click.option("--up-to", type=click.IntRange(min=1), metavar="EVENT", help="Show the run as it was at this event.")
@click.option("--strict", is_flag=True, help="Take harmless differences for errors too.")
@click.option("--workflow-id", metavar="ID", help="Whose history it is, where the file does not say it.")
@click.option("--run-id", metavar="ID", help="Likewise.")
@output_option
def replay(output: Output, modules: str, sources: tuple[str, ...], up_to: int | None, strict: bool, **ids: Any) -> None:
    """Run the code of MODULE through recorded histories and compare every decision.

    HISTORY is a file in any form that flowpy reads, a folder of them, or - for standard input. Several modules have
    commas between. Of a single open history, or with --up-to, what the code waits for is shown too.

    Exit code: 0 all the same, 3 a history and the code differ, 1 a history cannot be read or replayed.
    """
    from flowpy.testing import Replayer

    replayer = Replayer(import_workflows(modules), strict=strict)
    is_one = len(sources) == 1 and not Path(sources[0]).is_dir()
    outcomes: set[str] = set()

    def replayed() -> Iterator[dict[str, Any]]:
        each = list(_each(sources))
        with output.progress("replaying", len(each)) as advance:
            for source in each:
                one = replayer.replay(source, up_to=up_to, check=False, **ids)
                one.source = "-" if source is sys.stdin else one.source
                # A row, and not the replay, which would keep its history in memory.
                row = _row(one, is_one and one.ok and (up_to is not None or one.closed is None))
                outcomes.add(row["outcome"])
                advance(1)
                yield row

    if output.as_json:
        output.each(replayed(), _COLUMNS, none="no history")
    else:
        rows = list(replayed())
        output.each(rows, _COLUMNS, none="no history")
        for row in rows:
            _explain(output, row, is_one)
    click.get_current_context().exit(_exit(outcomes))


def _each(sources: tuple[str, ...]) -> Iterator[Any]:
    from flowpy.testing.sources import each_source

    for source in sources:
        if source == "-":
            yield sys.stdin
        elif Path(source).is_dir():
            yield from each_source(source, None)
        else:
            yield Path(source)


def _row(one: Replay, with_pending: bool) -> dict[str, Any]:
    return {
        "source": one.source,
        "workflow_id": one.workflow_id,
        "run_id": one.run_id,
        "workflow_type": named(*one.workflow_type),
        "outcome": "same" if one.ok else "differs" if one.divergence else "error",
        "episodes": len(one.episodes),
        "closed": one.closed,
        "result": one.result,
        "state": one.state,
        "differences": list(map(str, one.warnings)),
        "divergence": None if one.divergence is None else one.divergence.to_json(),
        "message": "" if one.error is None else str(one.error),
        "pending": _pending(one.pending) if with_pending else None,
    }


def _pending(found: Pending) -> dict[str, Any]:
    return {"text": str(found), **found.to_json()}


def _explain(output: Output, row: dict[str, Any], alone: bool) -> None:
    """What there is to say about a history beside its line in the table."""
    if row["message"]:
        told = row["message"]
        output.line(f"\n{told}" if told.startswith(row["source"]) else f"\n{row['source']}: {told}")
    for difference in row["differences"]:
        output.line(f"harmless: {row['source']}: {difference}", style="yellow")
    if alone and row["outcome"] == "same":
        output.answer({name: row[name] for name in ("closed", "result", "state")})
        if row["pending"] and row["pending"]["tasks"]:
            output.line(row["pending"]["text"])


def _exit(outcomes: set[str]) -> Exit:
    if "differs" in outcomes:
        return Exit.DIVERGED
    return Exit.NO if "error" in outcomes else Exit.OK

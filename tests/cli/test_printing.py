"""What is printed: tables that fit, colours only where they are wanted, progress only where somebody looks."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from flowpy.cli.failing import Failure
from flowpy.cli.printing import Column, Output, cell, moment, plain

COLUMNS = (Column("STATUS", "status"), Column("TYPE", "type"), Column("WORKFLOW ID", "id"))
ROW = {"status": "FAILED", "type": "a-workflow-type-with-a-long-name 1.0", "id": "order-" + "7" * 30}


class Terminal(io.StringIO):
    """A terminal, as far as isatty is concerned."""

    def isatty(self) -> bool:
        return True


def output(width: int = 80, **options: Any) -> tuple[Output, io.StringIO]:
    """An output on a terminal, and what is written to it."""
    made, file = Output(), io.StringIO()
    made._console.append(Console(file=file, width=width, markup=False, highlight=False, **options))
    return made, file


def test_a_table_is_cut_to_the_terminal_but_never_its_last_column() -> None:
    shown, file = output(60, force_terminal=True, no_color=True)

    shown.each([ROW], COLUMNS, none="")

    head, row = file.getvalue().splitlines()
    assert ("a-workfl" in row and "…" in row, row.endswith(ROW["id"]), len(row)) == (True, True, 60)
    assert "STATUS  TYPE" in head


def test_a_table_that_goes_elsewhere_is_not_cut() -> None:
    shown, file = output(40)

    shown.each([ROW], COLUMNS, none="")

    assert all(value in file.getvalue() for value in ROW.values())
    assert "\x1b" not in file.getvalue()


def test_a_table_begins_before_its_end_is_known() -> None:
    shown, file = output()
    lines: list[int] = []

    def rows() -> Iterator[dict[str, str]]:
        for number in range(1000):
            lines.append(len(file.getvalue().splitlines()))
            yield ROW | {"id": str(number)}

    assert shown.each(rows(), COLUMNS, none="") == 1000
    assert lines[-1] > 700


def test_how_something_stands_has_a_colour_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown, file = output(force_terminal=True)
    shown.each([ROW], COLUMNS, none="")
    monkeypatch.setenv("NO_COLOR", "1")
    plainly, uncoloured = output(force_terminal=True)
    plainly.each([ROW], COLUMNS, none="")

    assert "\x1b[31mFAILED" in file.getvalue()
    assert "\x1b[31m" not in uncoloured.getvalue()


RUDE = "a\x1b]0;owned\x07\x1b[31mb\u202ec\ttab\nline\r\x9b1m"
SPELLED = r"a\x1b]0;owned\x07\x1b[31mb\u202ec" + "\ttab\nline" + r"\r\x9b1m"


def test_nothing_that_a_workflow_says_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    shown, file = output(200, force_terminal=True, no_color=True)

    shown.line(RUDE)
    shown.answer({"reason": RUDE})
    shown.each([ROW | {"id": RUDE}], COLUMNS, none="")
    shown.note(RUDE)
    Failure(RUDE, remedy=RUDE).show()

    said = file.getvalue() + capsys.readouterr().err
    assert said.expandtabs().count(SPELLED.expandtabs()) >= 2
    assert said.count(r"a\x1b]0;owned\x07\x1b[31mb\u202ec") == 6
    assert not any(char in said for char in "\x07\u202e\r\x9b")
    assert "\x1b]" not in said


def test_a_result_that_goes_elsewhere_is_as_it_was() -> None:
    shown, file = output(200)

    shown.line("a\u202eb\x1b[31m")

    assert file.getvalue() == "a\u202eb\x1b[31m\n"


def test_text_is_never_taken_for_markup() -> None:
    shown, file = output()

    shown.answer({"input": "[red]x[/red] :warning:"})
    shown.line("[bold]x[/bold]")

    assert file.getvalue() == "input  [red]x[/red] :warning:\n[bold]x[/bold]\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_terminals_only(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)

    with Output().progress("verifying", 2) as advance:
        advance(1)

    assert ("verifying" in file.getvalue()) is terminal


def test_no_progress_beside_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())

    with Output(as_json=True).progress("verifying", 2) as advance:
        advance(1)

    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_values_in_words_and_in_json() -> None:
    time = datetime(2026, 11, 30, 8, 0, 0, 123_456, tzinfo=UTC)

    assert (moment(time), plain(time)) == ("2026-11-30 08:00:00", "2026-11-30T08:00:00.123Z")
    assert (cell(["a", "b"]), cell({"a": 1}), cell(None), cell({"name": "order", "version": "1.0"})) == (
        '["a", "b"]',
        '{"a": 1}',
        "",
        "order 1.0",
    )
    assert plain({1}) == [1]

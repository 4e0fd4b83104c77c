"""The picture in a terminal: it fits, it says everything without colour, and no payload can disturb it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from flowpy.view import timeline
from flowpy.view.terminal import TerminalTimeline, as_text
from flowpy.view.wording import width_of

from .histories import EVERY, hanging, long, made, rude, shipped

WIDTHS = (60, 80, 120)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_it_fits(path: Path, width: int) -> None:
    lines = as_text(timeline(path), width=width).splitlines()

    assert max(map(width_of, lines)) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", ["日本語の" * 30, "e\u0301" * 100, "\x1b[31mred\x07\r\n" * 9, "x" * 250, "\u202eabc"])
def test_rude_texts_fit_too(text: str, width: int) -> None:
    lines = as_text(rude(text), width=width).split("\n")

    assert max(map(width_of, lines)) <= width
    assert all(line.isprintable() for line in lines)


def test_an_order_that_ended_well() -> None:
    assert (
        as_text(made(shipped()), width=80)
        == """\
order 1.0  order-o-8  22BkpjEXAMPLE=
✓ completed after 40s  2025-01-01 12:00:00 to 12:00:40 UTC, 22 events

                  ╵0s          ╵10s         ╵20s        ╵30s
run               ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━✓ completed
decision tasks    ━     ━                                      ━     ━ 4
activity charge-1 ┄┄┄━━━✓                                              completed
timer timer-1           ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━✓       fired
activity tell-1                                                ┄━━━━━✓ completed

┄┄○ waits  ━━▸ runs  ✓ completed
"""
    )


def test_what_hangs_stands_on_top() -> None:
    lines = as_text(made(hanging(), later=300), width=120).splitlines()

    assert lines[3].startswith("! decision tasks  scheduled 5m ago, no worker has taken it from task list 'main'")
    assert next(line for line in lines if line.startswith("activity wrap-1")).endswith("! waits for 7m 56s")


def test_rows_are_limited_and_trouble_comes_first() -> None:
    lines = as_text(made(long(600)), width=100, most=8).splitlines()
    rows = lines[lines.index("") + 1 :]

    assert sum("failed: OSError" in line for line in rows) == 1
    assert sum("more row" in line for line in rows) >= 1
    assert len(rows) <= 2 + 1 + 8 + 2, "what is open, the times, the rows, the legend"


def test_events_by_their_order() -> None:
    text = as_text(made(shipped()), width=80, by_order=True)

    assert "╵0s" in text
    assert text != as_text(made(shipped()), width=80)


def test_without_unicode() -> None:
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"), width=80)
    console.print(TerminalTimeline(made(hanging())))
    console.file.seek(0)

    assert "==> runs" in console.file.read()


def test_colours_are_left_out_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed() -> str:
        console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
        console.print(TerminalTimeline(made(hanging())))
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        return text

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[91m" in printed(), "bright red"
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[91m" not in printed()

"""The picture in a terminal: it fits, it says everything without colour, and no payload can disturb it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from flowpy.testing import HistoryBuilder
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


def test_without_unicode_the_bars_stay_where_they_are() -> None:
    history = HistoryBuilder("order", workflow_id="o")
    for name in ("日本語の注文", "e\u0301te\u0301", "สวัสดี", "plain"):
        history.schedule("pack", id=name)
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"), width=80)
    console.print(TerminalTimeline(made(history, later=90)))
    console.file.seek(0)
    lines = console.file.read().splitlines()

    rows = [line for line in lines if line.startswith("activity ")]
    assert len({line.index("..") for line in rows}) == len({line.index("! waits") for line in rows}) == 1
    assert [line.split("..")[0].rstrip() for line in rows][:2] == ["activity ????????????", "activity ete"]


def test_letters_are_as_wide_as_terminals_have_them() -> None:
    history = HistoryBuilder("order", workflow_id="o")
    for name in ("สวัสดีครับ", "עִבְרִית", "e\u0301", "日本語", "❤️", "plain"):
        history.schedule("pack", id=name)
    lines = as_text(made(history, later=90), width=100).splitlines()

    assert len({cell_len(line[: line.index("┄")]) for line in lines if line.startswith("activity ")}) == 1


@pytest.mark.parametrize(("width", "height"), [(40, 24), (80, 24), (80, 50), (200, 60)])
def test_it_is_no_higher_than_asked(width: int, height: int) -> None:
    fan = HistoryBuilder("fan", workflow_id="fan-1")
    for number in range(100):
        fan.schedule("work", number, taskList={"name": "a list that nobody knows"})

    for shown in (made(fan, later=100), made(hanging(), later=300), rude("x" * 256), rude("long words " * 20)):
        console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
        console.print(TerminalTimeline(shown, height=height))
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        lines = text.splitlines()
        assert len(lines) <= height
        assert len(lines) > height - 4 or len(shown.rows) < 20, "what room there is is used"
        assert any(line.startswith("decision tasks") for line in lines)


def test_the_open_that_have_no_room_are_counted() -> None:
    fan = HistoryBuilder("fan", workflow_id="fan-1")
    for number in range(100):
        fan.schedule("work", number)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(TerminalTimeline(made(fan, later=100), height=24))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]

    told = sum(line.startswith("! activity") for line in text.splitlines())
    assert 0 < told < 12
    assert f"and {100 - told} more that are open" in text


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("kind", ["SCHEDULE_TO_START", "SCHEDULE_TO_CLOSE", "START_TO_CLOSE", "HEARTBEAT"])
def test_the_type_of_a_timeout_stands_beside_it(kind: str, width: int) -> None:
    history = HistoryBuilder("order", workflow_id="o")
    late = history.schedule("pack")
    if kind != "SCHEDULE_TO_START":
        late.start()
    late.time_out(kind)
    text = as_text(made(history), width=width)

    row = next(line for line in text.splitlines() if "pack-1" in line)
    assert row.endswith(kind[-5:])


def test_times_by_order_tell_what_passed_between_them() -> None:
    history = HistoryBuilder("plan", workflow_id="p")
    history.advance("30d")
    for _ in range(4):
        history.advance(2)
        history.signal("go")
    lines = as_text(made(history), width=100, by_order=True).splitlines()
    axis = next(line for line in lines if "╵" in line)

    assert axis.split() == ["╵0s", "╵30d", "╵+2s", "╵+4s"]


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

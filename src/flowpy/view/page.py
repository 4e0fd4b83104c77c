"""The timeline as one web page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Final

from flowpy.history import attributes, seconds
from flowpy.view.model import Bar, Kind, Outcome, Row, Timeline
from flowpy.view.summary import label, note, standing, title, when
from flowpy.view.symbols import ALARM, ALL_SYMBOLS, SYMBOLS, Symbol, has_mark, legend_of, symbol_of
from flowpy.view.wording import printable

__all__ = ["as_html"]

_MOST_TEXT: Final = 4_000
_MOST_OPEN: Final = 50
"""What is open that is told above the rows; all of it stands in the rows."""
_POINTS: Final = (Kind.SIGNAL, Kind.MARKER, Kind.OTHER)
_KINDS: Final = tuple(Kind)


def as_html(timeline: Timeline, *, stacks: Mapping[int, str] | None = None, most_text: int = _MOST_TEXT) -> str:
    """The timeline as an HTML document.

    It zooms, filters, and tells the attributes of every event; with ``stacks`` also where the code stood. Nothing is
    loaded from outside, and the page's own Content-Security-Policy forbids it; what comes from the history is data that
    the page only ever writes as text. Rows are drawn as they come into view, so thousands do no harm.

    Args:
        timeline: The timeline.
        stacks: Texts by the id of the DecisionTaskStarted event from which on they hold, as ``flowpy.testing.stacks``
            gives them.
        most_text: Characters of an attribute at most; the rest is left out and counted.
    """
    style = f"{_resource('page.css')}{_colours()}"
    script = _resource("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    run = timeline.execution
    name, version = timeline.workflow_type
    ids = "  ".join(each for each in (timeline.workflow_id, timeline.run_id) if each)
    return Template(_resource("page.html")).substitute(
        policy=escape(policy),
        title=_text(f"{title(timeline)}: {standing(timeline)}"),
        style=style,
        heading=f"{_text(f'{name} {version}')} <span>{_text(ids)}</span>",
        colour=symbol_of(run).colour,
        standing=_text(f"{symbol_of(run).text} {standing(timeline)}"),
        when=_text(when(timeline)),
        open=_open(timeline),
        data=_json(_data(timeline, stacks, most_text)),
        script=script,
    )


@cache
def _resource(name: str) -> str:
    return files("flowpy.view").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _text(text: str) -> str:
    """Text for HTML; halves of surrogate pairs cannot be written at all."""
    return escape(printable(text).encode("utf-8", "replace").decode())


def _json(data: Any) -> str:
    """JSON that no parser of HTML can take for the end of the script it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    # Halves of surrogate pairs become "?": no file can hold them.
    text = text.encode("utf-8", "replace").decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _colours() -> str:
    def rules(which: str) -> str:
        return "".join(f".{name}{{color:{value}}}" for name, value in sorted(_by_name(which).items()))

    return f"{rules('light')}@media (prefers-color-scheme: dark){{{rules('dark')}}}"


def _by_name(which: str) -> dict[str, str]:
    return {symbol.colour: getattr(symbol, which) for symbol in ALL_SYMBOLS}


def _open(timeline: Timeline) -> str:
    """What the run waits for, as buttons that lead to its rows."""
    entries = []
    for work in timeline.open_work[:_MOST_OPEN]:
        symbol = ALARM if work.is_alarming else SYMBOLS[Outcome.STARTED]
        named, told = _text(f"{work.kind} {work.id}".rstrip()), _text(work.text)
        style = f' class="{symbol.colour}"' if work.is_alarming else ""
        entries.append(
            f'<li><button type="button" data-event="{work.event_id}"><span class="mark {symbol.colour}">{symbol.text}'
            f"</span><span{style}><b>{named}</b>&ensp;{told}</span></button></li>"
        )
    if len(timeline.open_work) > _MOST_OPEN:
        entries.append(f'<li class="dim">and {len(timeline.open_work) - _MOST_OPEN:,} more that are open</li>')
    return f'<ul id="open" aria-label="What it waits for">{"".join(entries)}</ul>' if entries else ""


def _data(timeline: Timeline, stacks: Mapping[int, str] | None, most_text: int) -> dict[str, Any]:
    symbols = list(dict.fromkeys(symbol_of(bar) for bar in timeline.bars()))
    counts = Counter(row.kind for row in timeline.rows)
    data: dict[str, Any] = {
        "begin": timeline.begin,
        "end": timeline.span,
        "kinds": [{"name": str(kind), "count": counts[kind]} for kind in _KINDS],
        "symbols": [{"text": symbol.text, "colour": symbol.colour} for symbol in symbols],
        "legend": _legend(timeline),
        "rows": [_row(row, timeline, symbols) for row in timeline.rows],
        "events": [_event(event, timeline.begin, most_text) for event in timeline.events],
    }
    if stacks is not None:
        texts = list(dict.fromkeys(stacks.values()))
        numbers = {text: number for number, text in enumerate(texts)}
        data["texts"] = texts
        data["stacks"] = [[since, numbers[stacks[since]]] for since in sorted(stacks)]
    return data


def _legend(timeline: Timeline) -> list[tuple[str, str, str]]:
    waits, runs = SYMBOLS[Outcome.SCHEDULED], SYMBOLS[Outcome.STARTED]
    entries = [("waits", f"┄┄{waits.text}", waits.colour), ("runs", f"━━{runs.text}", runs.colour)]
    return [*entries, *((name, symbol.text, symbol.colour) for name, symbol in legend_of(timeline).items())]


def _row(row: Row, timeline: Timeline, symbols: list[Symbol]) -> dict[str, Any]:
    return {
        "kind": _KINDS.index(row.kind),
        "label": label(row),
        "name": printable(row.name),
        "note": note(row, timeline),
        "trouble": row.is_troubled,
        "bars": [_bar(bar, row, timeline.begin, symbols) for bar in row.bars],
    }


def _bar(bar: Bar, row: Row, begin: float, symbols: list[Symbol]) -> dict[str, Any]:
    return {
        "id": printable(bar.id),
        "symbol": symbols.index(symbol_of(bar)),
        "outcome": str(bar.outcome),
        **{name: _since(getattr(bar, name), begin) for name in ("scheduled", "started", "closed", "due")},
        "said": printable(bar.said),
        "place": printable(bar.place),
        "events": bar.event_ids,
        "mark": has_mark(row, bar),
        "point": bar.kind in _POINTS,
        "backOff": bar.kind is not row.kind,
        "left": bar.outcome is Outcome.LEFT_OPEN,
    }


def _since(time: float | None, begin: float) -> float | None:
    return None if time is None else round(time - begin, 6)


def _event(event: dict[str, Any], begin: float, most_text: int) -> list[Any]:
    return [event["eventId"], event["eventType"], _since(seconds(event), begin), _cut(attributes(event), most_text)]


def _cut(value: Any, most_text: int) -> Any:
    if isinstance(value, dict):
        return {str(name): _cut(inner, most_text) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner, most_text) for inner in value]
    if isinstance(value, str) and len(value) > most_text:
        return f"{value[:most_text]}… ({len(value) - most_text:,} characters left out)"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # Python's JSON has these, that of browsers has not
    return value

"""The picture as SVG: a document of its own, in which every text is only text."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from flowpy.testing import HistoryBuilder
from flowpy.view import as_svg, timeline
from flowpy.view.symbols import ALL_SYMBOLS
from flowpy.view.wording import width_of

from .histories import EVERY, hanging, long, made, rude

NAMESPACE = "{http://www.w3.org/2000/svg}"
RUDE = "</title></text><script>alert(1)</script>\" onload='x' \x00\x0b\ud800 &amp; ]]>"


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_it_is_one_document_without_anything_from_outside(path: Path) -> None:
    svg = as_svg(timeline(path))

    assert parsed(svg).tag == f"{NAMESPACE}svg"
    assert not re.search(r"<script|href|url\(|@import|on\w+=", svg)


def test_rows_and_their_tooltips() -> None:
    root = parsed(as_svg(made(hanging())))

    titles = [title.text or "" for title in root.findall(f"{NAMESPACE}g/{NAMESPACE}title")]

    assert len(titles) == len(made(hanging()).rows)
    assert next(title for title in titles if title.startswith("activity charge-1")).splitlines()[2] == (
        "event 15, 2025-01-01 12:00:12 UTC: failed, 15s, ConnectionResetError: the bank hung up"
    )


def test_rude_texts_are_text() -> None:
    svg = as_svg(rude(RUDE))
    root = parsed(svg)

    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} == {
        "svg", "title", "style", "rect", "text", "tspan", "g", "path",
    }  # fmt: skip
    assert all(not name.startswith("on") for element in root.iter() for name in element.attrib)
    assert RUDE[:30] in "".join(root.itertext())


@pytest.mark.parametrize("width", [480, 1000, 2000])
def test_bars_stand_between_the_columns(width: int) -> None:
    root = parsed(as_svg(made(hanging()), width=width))

    bars = [(float(bar.attrib["x"]), float(bar.attrib["width"])) for bar in root.iter(f"{NAMESPACE}rect")
            if "bar" in bar.attrib["class"]]  # fmt: skip

    assert bars
    assert all(16 + width * 0.24 <= x and x + w <= width * 0.76 for x, w in bars)


def test_light_and_dark_have_every_colour() -> None:
    style = parsed(as_svg(made(hanging()))).findtext(f"{NAMESPACE}style") or ""
    light, _, dark = style.partition("prefers-color-scheme:dark")

    for symbol in ALL_SYMBOLS:
        assert f".{symbol.colour}{{fill:{symbol.light}}}" in light
        assert f".{symbol.colour}{{fill:{symbol.dark}}}" in dark


@pytest.mark.parametrize("symbol", ALL_SYMBOLS, ids=lambda symbol: symbol.text)
def test_colours_can_be_read(symbol: object) -> None:
    assert contrast(symbol.light, "#ffffff") >= 4.5  # type: ignore[attr-defined]
    assert contrast(symbol.dark, "#0d1117") >= 4.5  # type: ignore[attr-defined]


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_rows_may_be_limited() -> None:
    svg = as_svg(made(long(600)), most=10)

    assert 5 <= len(parsed(svg).findall(f"{NAMESPACE}g")) <= 10
    assert "more rows" in svg


@pytest.mark.parametrize("width", [480, 1000])
@pytest.mark.parametrize(
    "text", ["x" * 256, "long words " * 30, "日本語の注文番号" * 9, "😀😃" * 20, "नमस्ते दुनिया " * 9]
)
def test_no_text_sticks_out_or_covers_another(text: str, width: int) -> None:
    root = parsed(as_svg(rude(text), width=width))
    parents = {child: parent for parent in root.iter() for child in parent}
    left, right = 16 + width * 0.24, width - 16 - width * 0.24

    for written in root.iter(f"{NAMESPACE}text"):
        style, around = written.attrib["class"], parents[written]
        x = float(written.attrib["x"])
        end = x + width_of("".join(written.itertext())) * 7.25 * (14 / 12 if style == "title" else 1)
        if around is not root and around.tag == f"{NAMESPACE}svg":  # which lets nothing of it be seen outside
            x = float(around.attrib["x"])
            end = x + float(around.attrib["width"])
        assert end <= (left if style in ("label", "run") else width), style
        assert style not in ("label", "run") or end < left < right


def test_letters_of_any_font_stay_within_their_column() -> None:
    plain, other = (parsed(as_svg(rude(text))).findall(f".//{NAMESPACE}svg") for text in ("plain", "สวัสดี"))

    assert not plain
    assert len(other) > 10


def test_the_type_of_a_timeout_stands_beside_it() -> None:
    history = HistoryBuilder("order", workflow_id="o")
    history.schedule("pack").time_out("SCHEDULE_TO_START")

    assert as_svg(made(history), width=480).count(">SCHEDU…START<") == 1


def test_its_heading_may_stand_elsewhere() -> None:
    shown = made(hanging(), later=300)

    whole, rows = as_svg(shown), as_svg(shown, heading=False)

    assert ">order 1.0  order-o-7" in whole
    assert ">order 1.0  order-o-7" not in rows.partition("</title>")[2]
    assert whole.count('class="row"') == rows.count('class="row"') > 10

"""The timeline as a page: one file, safe whatever is in the history, usable with mouse and keys."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from flowpy.testing import HistoryBuilder
from flowpy.view import as_html, timeline
from flowpy.view.wording import printable

from .chromium import document, needs_chromium, told_by
from .histories import EVERY, hanging, long, made, rude
from .looks import flaws_of

_ATTACK = "document.body.id='owned'"
RUDE = f'</script></title><script>{_ATTACK}</script><img src=x onerror="{_ATTACK}">\u2028\ud800'


class Elements(HTMLParser):
    """The elements of a page, and what its scripts and styles hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.found[-1][0] if self.found else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]

    def inside(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag and text.strip()]


def data_of(page: str) -> Any:
    return json.loads(Elements(page).inside("script")[0])


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_every_history_is_a_page_of_its_own(path: Path) -> None:
    shown = timeline(path)
    elements = Elements(as_html(shown))

    assert {tag for tag, _ in elements.found}.isdisjoint({"link", "img", "iframe", "object", "base", "form"})
    assert [name for _, attributes in elements.found for name in attributes if name in {"src", "href", "style"}] == []
    assert len(data_of(as_html(shown))["events"]) == len(shown.events)


def test_its_policy_lets_in_nothing_but_its_own_script_and_style() -> None:
    elements = Elements(as_html(made(hanging())))
    policy = next(meta["content"] or "" for meta in elements.all("meta") if "http-equiv" in meta)

    def allowed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    (style,), (_, script) = elements.inside("style"), elements.inside("script")
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {allowed(style)}",
        f"script-src {allowed(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_nothing_in_a_history_becomes_markup() -> None:
    plain, bad = Elements(as_html(rude("x"))), Elements(as_html(rude(RUDE), stacks={3: RUDE}))

    assert [tag for tag, _ in bad.found] == [tag for tag, _ in plain.found]
    assert [sorted(attributes) for _, attributes in bad.found] == [sorted(attributes) for _, attributes in plain.found]
    event = data_of(as_html(rude(RUDE)))["events"][0]
    assert event[3]["input"] == RUDE.replace("\ud800", "?")


def test_long_payloads_are_cut() -> None:
    shown = rude("p" * 30_000)

    def longest(page: str) -> int:
        return max(len(event[3].get("input", "")) for event in data_of(page)["events"])

    assert "(26,000 characters left out)" in as_html(shown)
    assert longest(as_html(shown)) < 4_100
    assert longest(as_html(shown, most_text=100)) < 200


def test_numbers_that_browsers_cannot_read_are_text() -> None:
    events = hanging().history()
    events[0]["workflowExecutionStartedEventAttributes"]["odd"] = [float("nan"), float("inf")]

    assert data_of(as_html(timeline(events)))["events"][0][3]["odd"] == ["nan", "inf"]


def test_stacks_that_are_alike_are_told_once() -> None:
    data = data_of(as_html(made(hanging()), stacks={3: "waits for a", 10: "waits for b", 20: "waits for a"}))

    assert (data["texts"], data["stacks"]) == (["waits for a", "waits for b"], [[3, 0], [10, 1], [20, 0]])
    assert "stacks" not in data_of(as_html(made(hanging())))


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    return page


@needs_chromium
def test_it_draws_its_rows_under_its_own_policy(tmp_path: Path) -> None:
    drawn = Elements(document(page_of(tmp_path, as_html(made(hanging(), later=300)))))

    labels = [attributes["aria-label"] for tag, attributes in drawn.found if attributes.get("role") == "option"]
    assert len(labels) == 15
    assert "activity wrap-1: waits for 7m 56s" in labels


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_and_fits(tmp_path: Path, scheme: str) -> None:
    asked = "document.querySelector('#open button').click()"
    for name, shown in {"hanging": made(hanging(), later=300), "rude": rude("long" * 60)}.items():
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", as_html(shown, stacks={3: "x" * 300}))
        text = text.replace("</body>", f"<script>{asked}</script></body>")
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    pages = ["hanging.html", "rude.html"]

    assert flaws_of(tmp_path, pages, scheme=scheme) == []


@needs_chromium
def test_a_traceback_has_its_lines(tmp_path: Path) -> None:
    history = HistoryBuilder("order", "o-7")
    charged = history.schedule("charge", "o-7")
    charged.start()
    charged.fail(ValueError("the bank\nhung up"))
    told = told_by(
        page_of(tmp_path, as_html(timeline(history.history()))),
        """
        $('#rows').focus();
        key('Home', $('#rows')); key('ArrowDown', $('#rows')); key('ArrowDown', $('#rows'));
        for (let n = 0; n < 8; n++) key(']');
        key('[');
        tell([...document.querySelectorAll('aside pre')].map((each) => each.textContent).join('\\n'));
        """,
    )

    assert told.index('  hung up",') == told.index(' "message": "the bank') + 1


@needs_chromium
def test_a_rude_history_does_nothing_to_it(tmp_path: Path) -> None:
    told = told_by(
        page_of(tmp_path, as_html(rude(RUDE), stacks={3: RUDE})),
        """
        document.querySelectorAll('#open button').forEach((button) => button.click());
        for (let n = 0; n < 80; n++) key(']');
        tell(document.body.id || 'untouched');
        tell(document.querySelectorAll('img, iframe, aside script').length);
        """,
    )

    assert told == ["untouched", "0"]


@needs_chromium
def test_it_is_used_with_mouse_and_keys(tmp_path: Path) -> None:
    told = told_by(
        page_of(tmp_path, as_html(made(hanging(), later=300), stacks={3: "at the start", 40: "further on"})),
        """
        const filter = (text) => { $('#filter').value = text; $('#filter').dispatchEvent(new Event('input')); };
        filter('HURRY'); tell(rows());
        filter('wrap'); tell(rows());
        filter(''); tell(rows().length);
        key('t'); tell(rows().length); key('t');
        [...document.querySelectorAll('.kind')].find((each) => each.textContent.startsWith('activity')).click();
        tell(rows().length);
        $('#open li:nth-child(2) button').click();
        tell(rows().length);
        tell($('aside h2').textContent);
        tell($('aside h3').textContent);
        tell($('aside .stack').textContent);
        tell($('[aria-selected=true] .label').textContent);
        $('#rows').focus();
        key('Home', $('#rows')); key('ArrowDown', $('#rows')); key('ArrowDown', $('#rows'));
        tell($('aside h2').textContent);
        key('['); key('['); key('[');
        tell($('aside h3').textContent);
        tell($('aside .stack').textContent);
        const width = () => $('.row .runs').getBoundingClientRect().width;
        const whole = $('#axis').textContent;
        key('+'); tell($('#axis').textContent !== whole);
        key('0'); tell($('#axis').textContent === whole);
        key('o'); tell($('#order').getAttribute('aria-pressed'));
        key('Escape'); tell($('aside').childElementCount);
        """,
    )

    assert told == [
        "signal note",
        "activity wrap-1",
        "15",
        "7",
        "10",
        "15",
        "activity charge-1",
        "Event 62: ActivityTaskScheduled",
        "further on",
        "activity charge-1",
        "activity reserve-1",
        "Event 7: ActivityTaskStarted",
        "at the start",
        "true",
        "true",
        "true",
        "0",
    ]


@needs_chromium
def test_keys_choose_rows_from_the_start(tmp_path: Path) -> None:
    script = "key('ArrowDown'); key('ArrowDown'); tell($('[aria-selected=true] .label')?.textContent || 'none');"
    page = as_html(made(hanging()))

    assert told_by(page_of(tmp_path, page), script) == ["decision tasks"]
    assert told_by(page_of(tmp_path, page), script, size="500,800") == ["none"], "there they scroll the page"


@needs_chromium
def test_no_label_is_torn_apart(tmp_path: Path) -> None:
    ids = ["😀😃😄😁😆😅😂🤣", "👩🏽‍💻" * 9, "e\u0301" * 12, "הזמנה מספר שבע עשרה", "طلب-رقم-٧-من-العميل", "x" * 90]
    history = HistoryBuilder("order", workflow_id="o")
    for id in ids:
        history.schedule("pack", id=id)
    told = told_by(
        page_of(tmp_path, as_html(made(history))),
        """
        for (const label of [...document.querySelectorAll('.row .label')].slice(2))
            tell([...label.children].map((piece) => piece.textContent).join('|'));
        """,
    )

    assert [line.replace("|", "") for line in told] == [f"activity {printable(id)}" for id in ids]
    assert not any("\ufffd" in line for line in told)
    assert told[2].split("|")[1] == "e\u0301" * 9
    assert ["|" in line for line in told] == [True, True, True, False, False, True]


@needs_chromium
def test_times_that_are_near_to_each_other_differ(tmp_path: Path) -> None:
    history = HistoryBuilder("plan", workflow_id="p")
    history.advance("300d")
    for _ in range(20):
        history.advance(0.25)
        history.signal("go")
    told = told_by(
        page_of(tmp_path, as_html(made(history))),
        """
        const axis = (how) => {
            const ticks = [...document.querySelectorAll('.tick')].map((tick) => tick.textContent);
            tell(`${how} ${ticks.length > 1} ${ticks.every((tick, n) => tick !== ticks[n + 1])}`);
        };
        const zoom = () => $('#rows').dispatchEvent(new WheelEvent('wheel',
            { ctrlKey: true, deltaY: -600, clientX: innerWidth, bubbles: true }));
        axis('all');
        for (let n = 0; n < 7; n++) { zoom(); axis('near'); }
        for (let n = 0; n < 9; n++) zoom();
        axis('nearest');
        key('0'); key('o');
        axis('order');
        """,
    )

    assert told == ["all true true", *["near true true"] * 7, "nearest true true", "order true true"]


@needs_chromium
def test_a_run_without_length_has_one_time(tmp_path: Path) -> None:
    history = HistoryBuilder("order", workflow_id="o")
    history.complete()
    script = "tell($('#axis').textContent); key('o'); key('+'); tell($('#axis').textContent);"

    assert told_by(page_of(tmp_path, as_html(made(history))), script) == ["0s", "0s"]


def test_the_rows_are_not_pushed_away_by_what_is_open() -> None:
    fan = HistoryBuilder("fan", workflow_id="f")
    for number in range(1_000):
        fan.schedule("work", number)
    page = Elements(as_html(made(fan)))

    assert len([each for each in page.all("button") if each.get("data-event")]) == 50
    assert "and 950 more that are open" in "".join(page.inside("li"))


def test_nothing_turns_the_direction_of_writing() -> None:
    data = data_of(as_html(rude("abc\u202ecba")))

    assert {bar["id"] for row in data["rows"] for bar in row["bars"]} >= {"abc cba"}
    told = [bar[name] for row in data["rows"] for bar in row["bars"] for name in ("id", "said", "place")]
    assert not any("\u202e" in text for text in told)


@needs_chromium
def test_a_row_is_told_under_the_mouse(tmp_path: Path) -> None:
    told = told_by(
        page_of(tmp_path, as_html(made(hanging(), later=300))),
        """
        const row = [...document.querySelectorAll('.row')].find((each) => each.textContent.includes('charge-1'));
        const mark = row.querySelector('.end').getBoundingClientRect();
        const there = { clientX: mark.left - 2, clientY: mark.top + 5, bubbles: true };
        row.dispatchEvent(new MouseEvent('mousemove', there));
        tell($('#tip').hidden);
        tell($('#tip .said').textContent);
        tell($('#tip').textContent.includes('16900'));
        """,
    )

    assert told == ["false", "✗ charge-1 failed: ConnectionResetError: the bank hung up", "true"]


@needs_chromium
@pytest.mark.parametrize("size", ["1400,800", "500,900"])
def test_long_histories_draw_what_is_seen_only(tmp_path: Path, size: str) -> None:
    shown = made(long(2_000))
    told = told_by(
        page_of(tmp_path, as_html(shown)),
        f"const last = {shown.rows[-1].id!r};"
        """
        tell(document.querySelectorAll('.row').length < 80);
        key('End', $('#rows'));
        tell(rows().some((label) => label.endsWith(last)));
        tell(document.documentElement.scrollWidth <= innerWidth);
        """,
        size=size,
    )

    assert told == ["true", "true", "true"]

"""The pages of docs as a whole: each is found, each link and picture is there, the site builds."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from tests.view.chromium import needs_chromium
from tests.view.looks import flaws_of

import flowpy
import flowpy.client
import flowpy.data
import flowpy.errors
import flowpy.interceptors
import flowpy.local
import flowpy.service
import flowpy.telemetry
import flowpy.testing
import flowpy.view
import flowpy.worker

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TEXTS = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
EVERYWHERE = {
    path: path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *ROOT.glob("samples/*.md")]
} | TEXTS
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")


def pages_of(document: Path) -> set[Path]:
    """What the toctrees of a page name."""
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", TEXTS[document], re.MULTILINE | re.DOTALL)
    names = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    return {document.parent / f"{name}.md" for name in names}


def anchors(text: str) -> set[str]:
    """Those that a git host makes of the headings, and Sphinx too."""
    headings = re.findall(r"^#+ +(.+)$", FENCE.sub("", text), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    seen: Counter[str] = Counter()
    made = set()
    for slug in slugs:
        made.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return made


def test_every_page_is_in_one_toctree() -> None:
    named = Counter(page for document in TEXTS for page in pages_of(document))

    assert set(named) == {*TEXTS} - {DOCS / "README.md", DOCS / "index.md"}
    assert max(named.values()) == 1


def test_the_index_leads_to_every_page() -> None:
    led = {(DOCS / path).resolve() for path, _ in LINK.findall(TEXTS[DOCS / "README.md"])}
    shown_elsewhere = {
        DOCS / name for name in ("README.md", "index.md", "samples.md", "changelog.md", "contributing.md")
    }

    assert led >= {path for path in TEXTS if path.parent == DOCS} - shown_elsewhere


@pytest.mark.parametrize("document", EVERYWHERE, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_a_file_and_to_a_heading(document: Path) -> None:
    lost = []
    for path, anchor in LINK.findall(FENCE.sub("", EVERYWHERE[document])):
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and target in EVERYWHERE and anchor not in anchors(EVERYWHERE[target])):
            lost.append(f"{path}#{anchor}")

    assert lost == []


def test_pictures_are_all_there_and_all_shown() -> None:
    pages = "".join(TEXTS.values())
    shown = set(re.findall(r"\]\(pictures/([^)]+)\)", pages))

    pictures = DOCS / "pictures"
    there = {path.relative_to(pictures).as_posix() for path in pictures.rglob("*") if path.suffix in {".png", ".svg"}}
    assert shown == there


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(text for path, text in TEXTS.items() if path.parent.name == "reference")
    documented = set(re.findall(r"^\.\. auto\w+:: (?:\w+\.)+?(\w+)$", pages, re.MULTILINE))
    rooms = [
        flowpy,
        flowpy.client,
        flowpy.data,
        flowpy.interceptors,
        flowpy.local,
        flowpy.service,
        flowpy.telemetry,
        flowpy.testing,
        flowpy.view,
        flowpy.worker,
    ]

    assert {name for room in rooms for name in room.__all__} - {*flowpy.errors.__all__} - documented == set()


def test_the_site_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").is_file()


def test_the_reference_says_nothing_of_how_it_was_made(site: Path) -> None:
    text = "".join(unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8"))) for page in site.glob("reference/*.html"))

    assert re.findall(r"attr_dict\[.*?\]|~\w+\.\S*|<lambda>|str\(object=|\bBases: _\w+|Codec\(\*args", text) == []
    assert "What the URI of every object begins with, up to the key: s3://bucket/payloads/" in text


@pytest.mark.parametrize("drawing", sorted(DOCS.rglob("*.svg")), ids=lambda path: path.stem)
def test_drawings_have_a_ground_of_their_own_in_light_and_dark(drawing: Path) -> None:
    text = drawing.read_text(encoding="utf-8")

    assert re.search(r"prefers-color-scheme:\s*dark", text)
    assert re.search(r'<rect class="(page|paper)"', text)


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_readable_in_light_and_dark_narrow_and_wide(site: Path, scheme: str) -> None:
    # In the dark one page of the reference is enough: they differ in length only.
    alike = {"data", "errors", "running", "telemetry", "testing", "workflow-code"} if scheme == "dark" else set()
    looked_at = [
        page for page in sorted(site.rglob("*.html")) if page.parent.name != "reference" or page.stem not in alike
    ]
    pages = [str(page.relative_to(site)) for page in looked_at if "_static" not in page.parts]

    assert len(pages) > 30
    assert flaws_of(site, pages, scheme=scheme) == []

"""Make the pictures of docs/timeline.md: ``PYTHONPATH=src python docs/pictures/make.py``.

Needs rich (extra ``cli``), playwright, and Chromium, which ``FLOWPY_CHROMIUM`` names if it is not on the path.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI, TerminalTheme

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from flowpy.testing import stacks  # noqa: E402
from flowpy.view import Timeline, as_html, as_svg  # noqa: E402
from flowpy.view.terminal import TerminalTimeline  # noqa: E402
from view.histories import hanging, made  # noqa: E402 - found by the line above
from view.shop import order  # noqa: E402

CHROMIUM = os.environ.get("FLOWPY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
WIDE, NARROW = (1280, 720), (420, 860)
FRAME = """<style>body {{ margin: 0; background: {background}; }}
pre {{ font: 14px/1.3 'DejaVu Sans Mono', monospace; margin: 14px; color: {foreground}; }}</style>{code}"""


def terminal(shown: Timeline, columns: int, theme: TerminalTheme) -> str:
    """A terminal of so many columns, as a page."""
    console = Console(width=columns, record=True, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(TerminalTimeline(shown))
    code = console.export_html(theme=theme, inline_styles=True, code_format="<pre>{code}</pre>")
    background, foreground = theme.background_color.hex, theme.foreground_color.hex
    return FRAME.format(background=background, foreground=foreground, code=code)


def picture(browser: Any, page: str, file: str, size: tuple[int, int], scheme: str, act: Any = None) -> None:
    """Open a page and take its picture, after something was done to it."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    tab: Page = context.new_page()
    tab.set_content(page)
    if act:
        act(tab)
    whole = tab.locator("pre").first if "<pre>" in page[:400] else tab
    whole.screenshot(path=str(HERE / file))
    context.close()


def main() -> None:
    """Make them all."""
    shown = made(hanging(), later=300)
    (HERE / "timeline.svg").write_text(as_svg(shown), encoding="utf-8")
    places = {event_id: re.sub(r"[^\s]*(?=shop\.py)", "", str(each)) for event_id, each in stacks(order, hanging())}
    page = as_html(shown, stacks=places)

    def ask(tab: Page) -> None:
        tab.locator("#open button", has_text="charge-1").click()

    def point(tab: Page) -> None:
        box = tab.locator(".row", has_text="activity charge-1").locator(".track").bounding_box()
        assert box is not None
        tab.mouse.move(box["x"] + 0.14 * box["width"], box["y"] + 12)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        picture(browser, terminal(shown, 100, MONOKAI), "timeline-terminal-dark.png", (900, 500), "dark")
        picture(
            browser, terminal(shown, 60, DEFAULT_TERMINAL_THEME), "timeline-terminal-light.png", (560, 700), "light"
        )
        picture(browser, page, "timeline-page-light.png", WIDE, "light", point)
        picture(browser, page, "timeline-page-dark.png", WIDE, "dark", ask)
        picture(browser, page, "timeline-page-narrow-light.png", NARROW, "light")
        picture(browser, page, "timeline-page-narrow-dark.png", NARROW, "dark", ask)
        browser.close()


if __name__ == "__main__":
    main()

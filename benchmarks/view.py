"""How long timelines of long histories take to make, and what they weigh: ``python benchmarks/view.py [EVENTS]``.

With playwright installed and Chromium on the path, also how long the page takes to be seen, scrolled and filtered.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from flowpy.view import as_html, as_svg, timeline
from flowpy.view.terminal import as_text
from view.histories import long

T = TypeVar("T")

SCROLL = """async () => {
  const rows = document.querySelector('#rows'), frames = [], frame = () => new Promise(requestAnimationFrame);
  let last = performance.now();
  for (let step = 0; step < 60; step++) {
    rows.scrollTop = rows.scrollHeight * step / 60;
    await frame(); await frame();
    const now = performance.now();
    frames.push((now - last) / 2);
    last = now;
  }
  frames.sort((a, b) => a - b);
  return [frames[30], frames[57]];
}"""
FILTER = """() => {
  const field = document.querySelector('#filter'), begin = performance.now();
  field.value = 'table_77';
  field.dispatchEvent(new Event('input'));
  return performance.now() - begin;
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def timed(what: str, make: Callable[[], T]) -> T:
    """Do something and say how long it took, and how much came of it."""
    begin = time.perf_counter()
    made = make()
    weight = f", {len(made.encode()):,} bytes" if isinstance(made, str) else ""
    print(f"{what:<10} {time.perf_counter() - begin:.3f} s{weight}")
    return made


def in_chromium(page: str) -> None:
    """Say how the page does in a browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None or importlib.util.find_spec("playwright") is None:
        print("in Chromium: not measured, playwright or Chromium is missing")
        return
    playwright: Any = importlib.import_module("playwright.sync_api")
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as playing:
        file = Path(folder, "page.html")
        file.write_text(page, encoding="utf-8")
        browser = playing.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1400, "height": 800})
        tab.goto(file.as_uri())
        median, slow = tab.evaluate(SCROLL)
        print(
            f"in Chromium: first paint {tab.evaluate(PAINT):.0f} ms, frame while scrolling {median:.1f} ms (median), "
        )
        print(f"             {slow:.1f} ms (95 of 100), first filter {tab.evaluate(FILTER):.0f} ms")
        browser.close()


def main() -> None:
    """Measure."""
    events = long(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000).history()
    shown = timed("model", lambda: timeline(events))
    print(f"           {len(events):,} events, {len(shown.rows):,} rows")
    timed("text", lambda: as_text(shown))
    timed("SVG", lambda: as_svg(shown))
    in_chromium(timed("HTML", lambda: as_html(shown)))


if __name__ == "__main__":
    main()

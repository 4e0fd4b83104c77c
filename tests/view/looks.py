"""What a machine can tell of how pages look, in light and dark, on a telephone and on a wide screen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from .chromium import document_at

LAYOUT = """
  const whole = document.documentElement;
  if (whole.scrollWidth > innerWidth) tell(`is ${whole.scrollWidth} wide`);
  for (const each of document.querySelectorAll("h1, h2, h3, p, li, dt, dd, img"))
    if (each.getBoundingClientRect().right > innerWidth + 1 && !each.closest("pre, .table-wrapper, .scroll, aside"))
      tell(`${each.tagName} sticks out: ${each.textContent.slice(0, 40)}`);
  for (const each of document.images) {
    if (!each.alt) tell(`${each.src} says nothing to who cannot see it`);
    if (each.complete && !each.naturalWidth) tell(`${each.src} is not shown`);
  }
  if (!document.title.trim()) tell("has no title");
"""
"""Tells what is wider than the window, pictures that are not there or without words, pages without a title."""

CONTRAST = """
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  const colour = (text) => {
    if (!colours.has(text)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = text;
      pen.fillRect(0, 0, 1, 1);
      colours.set(text, [...pen.getImageData(0, 0, 1, 1).data]);
    }
    return colours.get(text);
  };
  const over = (upper, lower) => [0, 1, 2].map((at) => (upper[at] * upper[3] + lower[at] * (255 - upper[3])) / 255);
  const light = (each) => [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => {
    const part = each[at] / 255;
    return sum + share * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  }, 0);
  const grounds = new Map();
  const ground = (each) => {
    if (!each) return colour("Canvas");
    if (!grounds.has(each)) {
      const own = colour(getComputedStyle(each).backgroundColor);
      grounds.set(each, own[3] === 255 ? own : over(own, ground(each.parentElement)));
    }
    return grounds.get(each);
  };
  const seen = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const each = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    const around = [each, each.parentElement, each.parentElement?.parentElement];
    const kind = around.map((one) => `${one?.tagName}.${one?.className}`).join();
    if (!text || seen.has(kind) || !each.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    seen.add(kind);
    const below = ground(each), shown = over(colour(getComputedStyle(each).color), below);
    const [dark, bright] = [light(shown), light(below)].sort((one, other) => one - other);
    const contrast = (bright + 0.05) / (dark + 0.05);
    if (contrast < 4.5)
      tell(`${each.tagName} ${each.className} has a contrast of ${contrast.toFixed(1)} only: ${text.slice(0, 30)}`);
  }
"""
"""Tells what text hardly differs from its ground; of elements alike one is enough."""

LOOK = """<!doctype html><meta charset="utf-8"><title>looks</title><iframe></iframe><pre id="said"></pre><script>
const frame = document.querySelector("iframe"), said = document.querySelector("#said");
const look = async () => {
  for (const [page, ...looks] of PLAN) {
    await new Promise((then) => { frame.onload = then; frame.src = page; });
    for (const [width, script] of looks) {
      frame.style = `width: ${width}px; height: 800px; border: 0; color-scheme: normal`;
      const tell = (what) => said.append(`${page}, ${width} wide: ${what}\\n`);
      new frame.contentWindow.Function("tell", script)(tell);
    }
  }
  said.append("looked at all\\n");
};
look();
</script>"""


def flaws_of(folder: Path, pages: Iterable[str], *, scheme: str) -> list[str]:
    """What a machine can tell of how pages look, in one scheme of colours.

    Args:
        folder: Where the pages are; what their policy would forbid to look at is not in it.
        pages: Their paths in it.
        scheme: ``light`` or ``dark``; what fits a telephone in the light does so in the dark.
    """
    looks = [(1400, CONTRAST), *([(400, LAYOUT)] if scheme == "light" else [])]
    look = LOOK.replace("PLAN", json.dumps([(page, *looks) for page in pages]).replace("</", "<\\/"))
    with _served(folder, look) as address:
        flags = ["--virtual-time-budget=600000", *(["--force-dark-mode"] if scheme == "dark" else [])]
        document = document_at(f"{address}/{_OWN}", folder, *flags, size="1500,900")
    found = re.search(r'<pre id="said">(.*?)</pre>', document, re.DOTALL)
    *flaws, last = unescape(found[1]).splitlines() if found else [""]
    assert last == "looked at all", document[-2_000:]
    return [f"{scheme}: {flaw}" for flaw in flaws]


_OWN = "looks"


class _Pages(SimpleHTTPRequestHandler):
    """The pages of a folder, and beside them the one that looks at them."""

    def __init__(self, look: str, *request: Any, directory: str) -> None:
        self.look = look
        super().__init__(*request, directory=directory)

    def do_GET(self) -> None:
        if self.path == f"/{_OWN}":
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(self.look.encode())
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _served(folder: Path, look: str) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Pages, look, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()

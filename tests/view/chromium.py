"""Pages in headless Chromium, where there is one: Debian's package chromium, or what FLOWPY_CHROMIUM names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = os.environ.get("FLOWPY_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)

needs_chromium = pytest.mark.skipif(
    PROGRAM is None or sys.version_info >= (3, 12),
    reason="needs Chromium, Debian's package chromium; looked at on one Python, as pages are the same on all",
)


def document(page: Path, *, size: str = "1400,800") -> str:
    """The document of a page as it is once its scripts have run, as HTML."""
    return document_at(page.as_uri(), page.parent, size=size)


def document_at(url: str, folder: Path, *more: str, size: str = "1400,800") -> str:
    """The same for what is at an address; the folder is for what Chromium keeps, further flags may be given."""
    assert PROGRAM is not None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={size}"]
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [PROGRAM, *flags, profile, "--virtual-time-budget=3000", *more, "--dump-dom", url],
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()


def told_by(page: Path, script: str, *, size: str = "1400,800") -> list[str]:
    """What a script says with ``tell(…)`` that is run at the end of a page, whose own policy would not let it."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    told = (
        "const said = document.createElement('pre'); said.id = 'said'; document.body.append(said);"
        "const tell = (what) => { said.append(`${what}\\n`); };"
        "const $ = (selector) => document.querySelector(selector);"
        "const key = (name, at = document.body) =>"
        " at.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));"
        "const rows = () => [...document.querySelectorAll('.row .label')].map((label) => label.textContent);"
    )
    changed = page.with_name(f"told-{page.name}")
    changed.write_text(text.replace("</body>", f"<script>{told}{script}</script></body>"), encoding="utf-8")
    found = re.search(r'<pre id="said">(.*?)</pre>', document(changed, size=size), re.DOTALL)
    return unescape(found[1]).splitlines() if found else []

"""Sphinx: the site that ``make docs`` builds of these pages, which stay readable without it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs")]

import flowpy  # noqa: E402 - of this repository, wherever another one is installed

project = "flowpy"
author = "the flowpy authors"
version = release = flowpy.__version__
copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docstrings"]
# README.md is the index on a git host, index.md shows it here.
exclude_patterns = ["README.md", "pictures/*.md"]
suppress_warnings = ["myst.strikethrough"]

# Anchors of headings are those that git hosts make.
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_numpy_docstring = False
add_module_names = False

nitpicky = True
# Nothing is fetched while the site is built, so what other packages document is not linked; neither is what is private
# here, nor are names of types that stand for others (type variables, aliases).
nitpick_ignore_regex = [
    (r"py:.*", r"(?!flowpy\.).*"),
    (r"py:.*", r"flowpy\.(?!errors\.[A-Z]).*"),
]

html_theme = "furo"
html_title = "flowpy"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["theme"]
html_css_files = ["site.css"]
# The theme's own style for the dark underlines modules and classes, as if they were links.
pygments_dark_style = "a11y-high-contrast-dark"
html_copy_source = False
html_show_sphinx = False

SHOWN = {
    "index": "docs/README.md",
    "samples": "samples/README.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
}
"""Pages of the site that show a file which a git host wants elsewhere."""

LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def _show(_: Any, page: str, source: list[str]) -> None:
    """Put the file into its page, and let links lead to the pages that show what they name."""
    place = ROOT / SHOWN.get(page, f"docs/{page}.md")
    if page in SHOWN:
        contents = re.findall(r"^```\{toctree\}\n.*?^```$", source[0], re.MULTILINE | re.DOTALL)
        source[0] = "\n".join([place.read_text(encoding="utf-8"), *contents])
    pages = {(ROOT / file).resolve(): name for name, file in SHOWN.items()}

    def lead(link: re.Match[str]) -> str:
        text, path, anchor = link.groups(default="")
        target = (place.parent / path).resolve()
        if target.is_dir():  # It has no place on the site.
            return text
        if not target.exists():  # No link, but code that looks like one.
            return link[0]
        here = os.path.relpath(target, (ROOT / "docs" / page).parent)
        return f"[{text}]({f'/{pages[target]}.md' if target in pages else here}{anchor})"

    source[0] = LINK.sub(lead, source[0])


def _keep_whole(_: Any, page: Any) -> None:
    """Let no option be cut after a hyphen: words of code that fit on a line of a telephone stay on one."""
    for code in page.findall(nodes.literal):
        longest = max(map(len, code.astext().split()), default=0)
        if longest <= 32:
            code["classes"].append("whole" if longest <= 20 else "whole wide")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _show)
    app.connect("doctree-read", _keep_whole)

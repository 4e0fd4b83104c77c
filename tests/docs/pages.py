"""The pages, and what they tell their readers to type: the commands in fences, in lines of text and in docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen
from tests.docs.sessions import commands

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for pattern in ("*.md", "docs/**/*.md", "samples/*.md", "benchmarks/*.md")
    for path in sorted(ROOT.glob(pattern))
}
"""The text of each page, by its path from the root."""

SKELETON: Final = ROOT / "src/flowpy/cli/skeleton"
MADE: Final = str((SKELETON / "readme.txt").relative_to(ROOT))
"""The page that ``flowpy init`` makes."""

PROGRAMS: Final = frozenset(
    "apt apt-get aws bash cat cd cp curl docker echo env eval export flowpy git head helm journalctl jq "
    "kubectl make mkdir mypy npx pip pip3 pipx poetry printf pytest python python3 rm ruff seq sh source "
    "sphinx-build sqlite3 sudo systemctl tox uv uvx valgrind".split()
)
"""What begins a command in a line of text or in a docstring. In a fence every line is one."""

_FENCE: Final = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_SPAN: Final = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_BEGINS: Final = re.compile(r"(?:[A-Z_]+=\S+ )*([a-z0-9_-]+) \S")
_COMMENT: Final = re.compile(r"(?:^|\s+)#\s.*")


@frozen
class Fence:
    """A fence of a page.

    Attributes:
        page: Path of the page.
        line: Number of its first line on the page.
        language: What it is marked with.
        text: What stands in it.
    """

    page: str
    line: int
    language: str
    text: str


@frozen
class Session:
    """Commands that are typed one after the other, in one folder.

    Attributes:
        page: Path of the page.
        line: Where they stand on it.
        kind: Language of the fence, "line" for code in a line of text, "block" for an indented one.
        commands: The command lines, without prompt and comment.
    """

    page: str
    line: int
    kind: str
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def fences(page: str, *languages: str) -> list[Fence]:
    """Those of a page in these languages, in their order."""
    text = PAGES[page]
    return [
        Fence(page, text[: found.start(3)].count("\n") + 1, found[2], found[3])
        for found in _FENCE.finditer(text)
        if found[2] in languages
    ]


def sessions() -> list[Session]:
    """All that readers are told to type, page by page."""
    pages = {**PAGES, MADE: (SKELETON / "readme.txt").read_text(encoding="utf-8").format(name="shop", module="shop")}
    found = [session for page, text in pages.items() for session in _of_page(page, text)]
    for pattern in ("samples/*.py", "benchmarks/*.py", "src/**/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            found += _of_module(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    return found


def _of_page(page: str, text: str) -> Iterator[Session]:
    for found in _FENCE.finditer(text):
        typed = tuple(_typed(found[2], found[3]))
        if typed:
            yield Session(page, text[: found.start(3)].count("\n") + 1, found[2], typed)
    yield from _of_prose(page, 1, _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text))


def _typed(language: str, text: str) -> Iterator[str]:
    if language == "sh":
        for line in text.replace("\\\n", "").splitlines():
            if command := " ".join(_COMMENT.sub("", line).split()):
                yield command
    elif language == "ini":
        yield from re.findall(r"^Exec\w+=(.+)$", text, re.MULTILINE)
    elif language == "yaml":
        yield from (" ".join(words.split(", ")) for words in re.findall(r"command: \[(.+)\]", text))
    else:
        yield from commands(text)


def _of_module(page: str, text: str) -> Iterator[Session]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            told = ast.get_docstring(node)
            if told is not None:
                yield from _of_prose(page, node.body[0].lineno, told)


def _of_prose(page: str, first: int, text: str) -> Iterator[Session]:
    lines = text.splitlines()
    for found in _SPAN.finditer(text):
        command = " ".join(found[2].replace("\\|", "|").split())
        begins = _BEGINS.match(command)
        if begins and begins[1] in PROGRAMS:
            yield Session(page, first + text[: found.start()].count("\n"), "line", (command,))
    block: list[str] = []
    for number, line in enumerate([*lines, ""], first):
        begins = _BEGINS.match(line.strip())
        if begins and begins[1] in PROGRAMS and line.startswith("    "):
            block.append(_COMMENT.sub("", line).strip())
        elif block:
            yield Session(page, number - len(block), "block", tuple(block))
            block = []

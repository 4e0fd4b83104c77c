"""Child workflows: parts of the work that are runs of their own, with a history, an id and an end of their own.

One for each book keeps the parent's history small. A child may be looked up, cancelled and found by its tag like any
other run, and may fail without its parent. A parent's ``child_policy`` says what becomes of its children if it is
terminated or times out: here they are cancelled, and may clean up.

Flow's recipe: ChildWorkflow.

    flowpy run samples.child_workflows:library docs
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from flowpy import ChildFailed, activity, workflow

CHAPTER = "\n## "  # how its heading begins


@activity(start_to_close_timeout="1m")
def books(folder: Path) -> list[Path]:
    """The books in a folder, by name; they are written in Markdown."""
    return sorted(folder.glob("*.md"))


@activity(start_to_close_timeout="1m")
def chapters(file: Path) -> int:
    """How many chapters a book has, the one without a heading included."""
    return file.read_text().count(CHAPTER) + 1


@activity(start_to_close_timeout="10m")
def words(file: Path, chapter: int) -> int:
    """How many different words a chapter has."""
    return len(set(file.read_text().split(CHAPTER)[chapter].lower().split()))


@workflow(execution_start_to_close_timeout="1d")
async def book(file: Path) -> list[int]:
    """Count the words of each chapter of a book."""
    return await asyncio.gather(*[words(file, chapter) for chapter in range(await chapters(file))])


@workflow(child_policy="REQUEST_CANCEL")
async def library(folder: Path) -> dict[str, list[int]]:
    """Count the words of all books in a folder, but for those that cannot be read."""
    shelf = await books(folder)
    children = [book.options(tag_list=["book", file.stem])(file) for file in shelf]
    counted: dict[str, list[int]] = {}
    for file, child in zip(shelf, children, strict=True):
        try:
            counted[file.stem] = await child
        except ChildFailed:
            counted[file.stem] = []
    return counted

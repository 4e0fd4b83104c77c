"""The table of all changes in ``docs/mutations.md``: ``python -m tests.mutations.page`` writes it anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .changes import Change
from .harmful import HARMFUL
from .harmless import HARMLESS
from .kit import ROOT

PAGE: Final = ROOT / "docs" / "mutations.md"
_TABLES: Final = {"harmful": HARMFUL, "harmless": HARMLESS}


def written(text: str) -> str:
    """The page with its tables, and the numbers of their rows, as they are to be."""
    for name, changes in _TABLES.items():
        table = "\n".join(_table(changes))
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        text = re.sub(f"{begin}.*?{end}", lambda _, new=f"{begin}\n\n{table}\n\n{end}": new, text, flags=re.DOTALL)
        text = re.sub(rf"\d+ {name} changes", f"{len(changes)} {name} changes", text)
    return text


def _table(changes: Iterable[Change]) -> Iterator[str]:
    yield "| change | recorded histories | test | strict test | hash seeds | check |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for change in changes:
        seen = change.seen
        yield f"| {change.what} | {seen.replay} | {seen.test} | {seen.strict} | {seen.seeds} | {seen.check} |"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""Choice: which activities run depends on data, such as the result of another one.

Plain Python decides: ``match`` for one of several, an ``if`` in a comprehension for any number of them.

Flow's recipes: Choice (exclusive and multi choice).

    flowpy run samples.choice:describe README.md
    flowpy run samples.choice:report README.md '["lines", "words"]'
"""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path

from flowpy import activity, all_of, workflow


@activity(start_to_close_timeout="1m")
def kind(file: Path) -> str:
    """What sort of file it is, judged by its name, such as ``text``."""
    guessed, _ = mimetypes.guess_type(file)
    return (guessed or "unknown").partition("/")[0]


@activity(start_to_close_timeout="1m")
def lines(file: Path) -> str:
    """How many lines it has."""
    return f"{len(file.read_text().splitlines())} lines"


@activity(start_to_close_timeout="1m")
def words(file: Path) -> str:
    """How many words it has."""
    return f"{len(file.read_text().split())} words"


@activity(start_to_close_timeout="1m")
def fingerprint(file: Path) -> str:
    """What tells it from other files."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]


@workflow
async def describe(file: Path) -> str:
    """Exclusive choice: one activity, which depends on the sort of file."""
    match await kind(file):
        case "text":
            return await lines(file)
        case "image" | "video" | "audio":
            return await fingerprint(file)
        case other:
            return f"{other}, not described"


@workflow
async def report(file: Path, wanted: set[str]) -> list[str]:
    """Multi choice: any number of activities, side by side."""
    known = {"lines": lines, "words": words, "fingerprint": fingerprint}
    return await all_of(each(file) for name, each in known.items() if name in wanted)

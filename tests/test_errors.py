"""What errors say, and what is to be done about them."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowpy import errors

SOURCE = Path(errors.__file__).parent
CLASSES = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.FlowpyError)]
TAKING = [
    one
    for one in CLASSES
    if issubclass(one, errors.ServiceError | errors.PayloadError | errors.DeclarationError | errors.HistoryError)
]


@pytest.mark.parametrize("made", TAKING)
def test_the_text_ends_with_the_remedy(made: type[errors.FlowpyError]) -> None:
    error = made("the key is not here", remedy="give it")

    assert (str(error), error.what, error.remedy) == ("the key is not here; give it", "the key is not here", "give it")


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("It is empty.", "It is empty. Record it again."),
        ("what is it?", "what is it? Record it again."),
        ("one line\nand another", "one line\nand another\nRecord it again."),
    ],
)
def test_what_and_remedy_are_told_apart_whatever_is_between_them(what: str, text: str) -> None:
    error = errors.HistoryError(what, remedy="Record it again.")

    assert (str(error), error.what) == (text, what)


def test_without_a_remedy_the_text_is_what_happened() -> None:
    error = errors.CallError("no; never")

    assert (str(error), error.what, error.remedy) == ("no; never", "no; never", "")


def test_a_remedy_goes_where_the_error_goes() -> None:
    error = errors.PayloadMissing("there is no object x", uri="x", remedy="restore it")

    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert (str(other), other.what, other.remedy, other.uri) == (str(error), error.what, "restore it", "x")


def test_a_place_put_in_front_leaves_the_remedy_at_the_end() -> None:
    error = errors.PayloadKeyUnknown("the key is not here", remedy="give it")
    error.args = (f"input cannot be opened: {error}",)

    assert (error.what, error.remedy) == ("input cannot be opened: the key is not here", "give it")


ADVICE = re.compile(r"(?:[;:.] )(?:give|say|keep|drop|use|put|rename|leave|wrap|register|record) [^{]", re.IGNORECASE)
"""How what is to be done begins."""


def raised() -> Iterator[tuple[str, str]]:
    """Where errors of flowpy are made, and the text that is given as what happened."""
    names = {one.__name__ for one in TAKING}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in ("local", "runtime", "replay"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", ast.unparse(node.args[0])


def test_advice_is_given_as_the_remedy_and_not_in_what_happened() -> None:
    made = list(raised())

    assert len(made) > 150
    assert [place for place, text in made if ADVICE.search(text)] == []


def test_no_article_is_written_before_a_name_that_is_put_in() -> None:
    before = re.compile(r"\b[Aa]n? \{")
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sorted(SOURCE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if before.search(line)
    ]

    assert found == []

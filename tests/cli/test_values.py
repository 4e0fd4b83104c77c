"""Values on the command line: JSON or text, as the signature wants it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import click
import pytest
from attrs import frozen

from flowpy.cli.values import bind, read_value, shown
from flowpy.declare.signature import Signature


@frozen
class Parcel:
    items: list[str]


def call(number: int, text: str, amount: Decimal, day: date | None, parcel: Parcel, *, gift: bool = False) -> None: ...


SIGNATURE = Signature.of(call)
GIVEN = ("17", "17", "1.10", "2026-11-30", '{"items": ["lamp"]}')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17", 17),
        ("true", True),
        ("null", None),
        ("o-7", "o-7"),
        ('"17"', "17"),
        ("", ""),
        ("[1", "[1"),
        ("NaN", "NaN"),
    ],
)
def test_json_if_it_parses_as_json_else_text(text: str, value: Any) -> None:
    assert read_value(text) == value


def test_each_value_is_of_its_parameters_type() -> None:
    args, kwargs = bind((*GIVEN, "gift=true"), SIGNATURE)

    assert args == [17, "17", Decimal("1.10"), date(2026, 11, 30), Parcel(["lamp"])]
    assert str(args[2]) == "1.10"
    assert kwargs == {"gift": True}


def test_parameters_by_name_and_text_with_an_equals_sign() -> None:
    assert bind((GIVEN[0], "a=b", *GIVEN[2:]), SIGNATURE)[0][1] == "a=b"
    assert bind(("text=a", "number=1", "amount=2", "day=null", 'parcel={"items": []}'), SIGNATURE)[1]["text"] == "a"


def test_without_a_signature_values_stay_as_they_are() -> None:
    assert bind(("17", "a=b"), None) == ([17, "a=b"], {})
    assert bind((), None, '{"args": [1], "kwargs": {"b": 2}}') == ([1], {"b": 2})


def test_the_exact_list() -> None:
    exact = '[17, "17", "1.10", null, {"items": []}]'

    assert bind((), SIGNATURE, exact) == ([17, "17", Decimal("1.10"), None, Parcel([])], {})
    with pytest.raises(click.UsageError, match="--input is no list of arguments"):
        bind((), SIGNATURE, "17")


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("x", *GIVEN[1:]), "argument 'number' of call"),
        (GIVEN[:4], "missing argument 'parcel'"),
        ((*GIVEN, "more"), "takes 5 positional arguments, 6 were given"),
        ((*GIVEN, "number=1"), "argument 'number' twice"),
        ((GIVEN[0], "texts=a", *GIVEN[2:]), r"has no parameter 'texts'"),
    ],
)
def test_what_does_not_fit(texts: tuple[str, ...], told: str) -> None:
    with pytest.raises(click.UsageError, match=told):
        bind(texts, SIGNATURE)


def test_values_for_people() -> None:
    assert (shown("é"), shown(None), shown([1])) == ("é", "null", "[\n  1\n]")

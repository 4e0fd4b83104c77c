"""A payload fits its annotation or is refused, with the place and the value; unions choose alike in every process."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import typing
import uuid
from typing import Any, Literal, NamedTuple, TypedDict

import pytest

from flowpy.data import Converter
from flowpy.errors import PayloadNotDecodable


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Circle:
    radius: float
    kind: Literal["circle"] = "circle"


@dataclasses.dataclass
class Square:
    side: float
    colour: str = "red"


@dataclasses.dataclass
class Disc:
    radius: float
    kind: Literal["disc"]


@dataclasses.dataclass
class Node:
    value: int
    left: Node | Leaf | None = None
    right: Node | Leaf | None = None


@dataclasses.dataclass
class Leaf:
    value: int
    left: Node | Leaf | None = None


@dataclasses.dataclass
class Percent:
    value: int

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 100:
            raise ValueError(f"{self.value} is no percentage")


class Pair(NamedTuple):
    a: int
    b: str = "b"


class Address(TypedDict):
    number: int


@pytest.mark.parametrize(
    ("text", "type_", "said"),
    [
        ("true", int, "expected int, found true"),
        ("5.0", int, r"expected int, found 5\.0"),
        ('"5"', int, 'expected int, found "5"'),
        ("5", str, "expected str, found 5"),
        ("null", str, "expected str, found null"),
        ("1", bool, "expected bool, found 1"),
        ("true", float, "expected float, found true"),
        ("1e999", float, "expected float"),
        ("0", type(None), "expected None, found 0"),
        ("true", Level, "expected Level"),
        ("7", Level, r"expected Level \(one of 1\), found 7"),
        ("true", Literal[1], "expected Literal"),
        ('"abc"', list[str], "an array"),
        ('{"a": 1}', list[str], "an array"),
        ('"abc"', set[str], "an array"),
        ("[1]", dict[str, int], "an object"),
        ("[1]", tuple[int, int], "an array of 2"),
        ('[1, "a", 2]', tuple[int, str], "an array of 2"),
        ("[1, 2]", Pair, r"value\['b'\].*expected str, found 2"),
        ("[]", Pair, "an array of 2"),
        ("[1]", Circle, "an object"),
        ('"x"', Circle, "an object"),
        ("[]", Address, "an object"),
        ("{}", Address, r"value\.number does not fit.*missing"),
        ("{}", Circle, r"value\.radius does not fit.*the field 'radius' is missing"),
        ('{"radius": "big"}', Circle, r'value\.radius does not fit its type .*Circle: expected float, found "big"'),
        ('[{"value": 1, "left": {"value": true, "right": null}}]', list[Node], r"value\[0\]\.left\.value.*found true"),
        ('{"value": 101}', Percent, "101 is no percentage"),
        ('{"a": 1}', dict[int, int], "expected int"),
        ('{"01": 1}', dict[int, int], "expected int"),
        ('"2025-01-31"', dt.datetime, "ISO 8601"),
        ("5", dt.datetime, "ISO 8601"),
        ('"tomorrow"', dt.date, "ISO 8601"),
        ('"5"', dt.timedelta, "a number of seconds"),
        ("1e300", dt.timedelta, "a number of seconds"),
        ('"x"', uuid.UUID, "32 hex digits"),
        ('"ten"', decimal.Decimal, "12.50"),
        ("1.5", decimal.Decimal, "12.50"),
        ('"***"', bytes, "base64"),
        ("[1]", object.__init__.__class__, "no way to build"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_payload_that_does_not_fit_is_refused_with_place_and_value(text: str, type_: Any, said: str) -> None:
    converter = Converter()
    with pytest.raises(PayloadNotDecodable, match=said):
        converter.decode(text, type_)
    with pytest.raises(PayloadNotDecodable, match=said):
        converter.decoder(type_)(text)


@pytest.mark.parametrize(
    "text",
    [
        "05",
        "+5",
        "5 5",
        "٣",
        "²",
        "1_000",
        "0x5",
        ".5",
        "5.",
        "NaN",
        "Infinity",
        "-Infinity",
        "nope",
        "'a'",
        '"a',
        '"\n"',
        "[1,]",
        "{1: 2}",
        '{"a": NaN}',
        "[",
        "tru",
        "None",
        "\ufeff5",
        "9" * 5000,
    ],
)
@pytest.mark.parametrize("type_", [int, str, float, bool, Any, list[int], type(None)], ids=str)
def test_what_is_not_json_is_refused_by_every_decoder(text: str, type_: Any) -> None:
    with pytest.raises(PayloadNotDecodable):
        Converter().decoder(type_)(text)


@pytest.mark.parametrize(
    ("text", "type_", "value"), [(" 5 ", int, 5), ("\n-0", int, 0), ("5e0", float, 5.0), ("5", float, 5.0)]
)
def test_any_json_spelling_is_read(text: str, type_: Any, value: Any) -> None:
    decoded = Converter().decoder(type_)(text)
    assert decoded == value
    assert type(decoded) is type_


def test_message_of_a_large_payload_is_short() -> None:
    with pytest.raises(PayloadNotDecodable) as caught:
        Converter().decode('"' + "x" * 30_000 + '"', int, "result of activity charge-1")
    assert len(str(caught.value)) < 300
    assert str(caught.value).startswith("result of activity charge-1 does not fit its type int")


@pytest.mark.parametrize(
    ("text", "union", "value"),
    [
        ("5", float | int, 5),
        ("5.5", float | int, 5.5),
        ("true", int | bool, True),
        ("null", int | None, None),
        ('"2025-01-31"', str | dt.date, dt.date(2025, 1, 31)),
        ('"2025-01-31T00:00:00"', dt.date | dt.datetime, dt.datetime(2025, 1, 31)),
        ('"AAAA"', bytes | str, "AAAA"),
        ("[1]", list[str] | list[int], [1]),
        ('{"a": 1}', Circle | dict[str, int], {"a": 1}),
        ('{"radius": 1}', Square | Circle, Circle(1.0)),
        ('{"side": 1}', Circle | Square, Square(1.0)),
        ('{"radius": 1, "kind": "disc"}', Circle | Disc, Disc(1.0, "disc")),
        ('{"radius": 1, "kind": "circle"}', Disc | Circle, Circle(1.0)),
        ('{"value": 1, "right": null}', Leaf | Node, Node(1)),
        ("5", str | Any, 5),
    ],
    ids=str,
)
def test_union_takes_the_member_that_fits(text: str, union: Any, value: Any) -> None:
    decoded = Converter().decode(text, union)
    assert decoded == value
    assert type(decoded) is type(value)


def test_union_is_read_alike_whichever_way_round_it_was_seen_first() -> None:
    text = '"2025-01-31T00:00:00"'
    first, second = Converter(), Converter()
    assert first.decode(text, str | dt.datetime) == first.decode(text, dt.datetime | str)
    assert second.decode(text, dt.datetime | str) == second.decode(text, str | dt.datetime)
    assert first.decode(text, str | dt.datetime) == second.decode(text, str | dt.datetime)


def test_union_that_nothing_fits_names_its_members() -> None:
    with pytest.raises(PayloadNotDecodable, match=r"expected int \| str, found \[1\]"):
        Converter().decode("[1]", int | str)


def test_bad_leaf_of_a_deep_union_is_found_without_trying_every_path() -> None:
    text = '{"value": 1, "left": ' * 80 + '{"value": "bad"}' + "}" * 80
    with pytest.raises(PayloadNotDecodable, match="bad"):
        Converter().decode(text, Node | Leaf)


def test_json_alias_that_names_itself_is_read_as_far_as_python_resolves_it() -> None:
    inner = typing.ForwardRef("Json")
    alias: Any = dict[str, inner] | list[inner] | str | int | None  # type: ignore[valid-type]
    assert Converter().decode('{"a": [1, {"b": null}]}', alias) == {"a": [1, {"b": None}]}

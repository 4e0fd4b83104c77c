"""What values look like as payloads, and that they come back as what they were."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import typing
import uuid
from typing import Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import attrs
import pytest

from flowpy.data import Converter, same
from flowpy.errors import (
    DeclarationError,
    PayloadCodecUnknown,
    PayloadError,
    PayloadNotDecodable,
    PayloadNotEncodable,
    PayloadStoreUnavailable,
)

T = TypeVar("T")
OrderId = NewType("OrderId", str)


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1
    price: float | None = None


@dataclasses.dataclass
class Order:
    id: str
    lines: list[Line] = dataclasses.field(default_factory=list)
    parent: Order | None = None


@attrs.frozen
class Place:
    city: str
    at: tuple[float, float]
    _note: str = ""


@dataclasses.dataclass
class Box(Generic[T]):
    content: T


class Colour(enum.Enum):
    RED = "red"
    DEEP = ("blue", 7)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Word(str, enum.Enum):  # noqa: UP042 - as older code has them
    YES = "yes"


class Point(NamedTuple):
    x: int
    y: int = 0


class Address(TypedDict, total=False):
    street: typing.Required[str]
    number: int


class Cents(int):
    pass


UTC = dt.UTC

WRITTEN: list[tuple[Any, str | None, Any]] = [
    (None, "null", type(None)),
    (True, "true", bool),
    (5, "5", int),
    (-(10**30), "-" + "1" + "0" * 30, int),
    (2.5, "2.5", float),
    ('é\n"\N{GRINNING FACE}', '"é\\n\\"\N{GRINNING FACE}"', str),
    ([1, "a", None], '[1, "a", null]', list),
    ([1.0, 2.5], "[1.0, 2.5]", list[float]),
    ((1, "a"), '[1, "a"]', tuple[int, str]),
    ((1, 2, 3), "[1, 2, 3]", tuple[int, ...]),
    ((), "[]", tuple[()]),
    ({3, 20, 1}, "[1, 20, 3]", set[int]),
    (frozenset({"b", "a"}), '["a", "b"]', frozenset[str]),
    (collections.deque([1]), "[1]", collections.deque[int]),
    ({"a": [1], "b": {}}, '{"a": [1], "b": {}}', dict[str, Any]),
    ({1: "a", -2: "b"}, '{"1": "a", "-2": "b"}', dict[int, str]),
    ({dt.date(2025, 1, 2): 1}, '{"2025-01-02": 1}', dict[dt.date, int]),
    ({Level.LOW: 1}, '{"1": 1}', dict[Level, int]),
    (collections.Counter("aab"), '{"a": 2, "b": 1}', collections.Counter[str]),
    (Line("x", 2), '{"sku": "x", "count": 2, "price": null}', Line),
    (Order("1", [Line("x")], Order("0")), None, Order),
    (Place("Rome", (41.9, 12.5), "n"), '{"city": "Rome", "at": [41.9, 12.5], "_note": "n"}', Place),
    (Box(Line("x")), None, Box[Line]),
    (Colour.RED, '"red"', Colour),
    (Colour.DEEP, '["blue", 7]', Colour),
    (Level.HIGH, "2", Level),
    (Rights.READ | Rights.WRITE, "3", Rights),
    (Word.YES, '"yes"', Word),
    (Point(1, 2), "[1, 2]", Point),
    ({"street": "Main", "number": 4}, '{"street": "Main", "number": 4}', Address),
    (Cents(5), "5", Cents),
    (dt.datetime(2025, 1, 31, 12, 0, 0, 250000, UTC), '"2025-01-31T12:00:00.250000+00:00"', dt.datetime),
    (dt.datetime(2025, 1, 31, 12, 0), '"2025-01-31T12:00:00"', dt.datetime),
    (dt.date(2025, 1, 31), '"2025-01-31"', dt.date),
    (dt.time(12, 30), '"12:30:00"', dt.time),
    (dt.timedelta(minutes=1, microseconds=1), "60.000001", dt.timedelta),
    (uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"', uuid.UUID),
    (decimal.Decimal("12.50"), '"12.50"', decimal.Decimal),
    (b"\x00\xff", '"AP8="', bytes),
    (pathlib.PurePosixPath("/a/b"), '"/a/b"', pathlib.PurePosixPath),
    (OrderId("o-7"), '"o-7"', OrderId),
    ("b", '"b"', Literal["a", "b"]),
    (Word.YES, '"yes"', Literal[Word.YES]),
    ([Line("x"), None], None, list[Line | None]),
    (5, "5", typing.Annotated[int, "cents"]),
    (5, "5", typing.Annotated[int, ["notes that cannot be hashed"]]),
]


@pytest.mark.parametrize(("value", "text", "type_"), WRITTEN, ids=lambda part: str(part)[:40])
def test_values_are_plain_json_and_come_back_as_they_were(value: Any, text: str | None, type_: Any) -> None:
    converter = Converter()
    encoded = converter.encode(value)
    assert text is None or encoded == text
    json.loads(encoded)
    decoded = converter.decode(encoded, type_)
    assert decoded == value
    assert type(decoded) is type(value)
    assert converter.decoder(type_)(encoded) == value


def test_without_annotation_the_plain_value_is_given() -> None:
    assert Converter().decode('{"a": [1, 2.5, null, true]}') == {"a": [1, 2.5, None, True]}


def test_absent_and_empty_are_null() -> None:
    converter = Converter()
    for text in (None, "", "null", " null "):
        assert converter.decode(text) is None
        assert converter.decoder(type(None))(text) is None
        assert converter.decoder(int | None)(text) is None
        with pytest.raises(PayloadNotDecodable, match="expected int, found null"):
            converter.decoder(int)(text)


def test_sets_are_written_in_the_order_of_their_json_text() -> None:
    assert Converter().encode({("b", 1), ("a", 2), ("a", 10)}) == '[["a", 10], ["a", 2], ["b", 1]]'


def test_unknown_fields_are_left_out_so_that_types_can_shrink() -> None:
    assert Converter().decode('{"sku": "x", "colour": "red"}', Line) == Line("x")


def test_user_data_that_begins_with_the_mark_is_wrapped() -> None:
    converter = Converter()
    for value in ({"$flowpy": "offload", "uri": "x"}, {"$flowpy": {"$flowpy": 1}}):
        text = converter.encode(value)
        assert text.startswith('{"$flowpy": "value", "value": {')
        assert converter.decode(text) == value
        assert converter.decoder(Any)(text) == value
        assert converter.decode(text, dict[str, Any]) == value


def test_mark_elsewhere_is_not_wrapped() -> None:
    for value in ({"a": 1, "$flowpy": 2}, [{"$flowpy": 2}], {"a": {"$flowpy": 2}}, "$flowpy"):
        text = Converter().encode(value)
        assert json.loads(text) == value
        assert Converter().decode(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"$flowpy": "offload", "uri": "s3://b/k", "sha256": "", "size": 1}', "lacks a member"),
        ('{"$flowpy": "later"}', "unknown kind"),
        ('{"$flowpy": "value"}', "unknown kind"),
        ('{"$flowpy": 5}', "unknown kind"),
        ('{"\\u0024flowpy": ["x"]}', "unknown kind"),
    ],
)
def test_payloads_that_are_malformed_say_so(text: str, said: str) -> None:
    with pytest.raises(PayloadNotDecodable, match=said):
        Converter().decoder(Any)(text)


def test_payloads_kept_elsewhere_say_what_is_missing() -> None:
    pointer = f'{{"$flowpy": "offload", "uri": "s3://b/k", "sha256": "{"0" * 64}", "size": 1}}'
    with pytest.raises(PayloadStoreUnavailable, match="s3://b/k and this process has the stores: none"):
        Converter().decoder(Any)(pointer)
    with pytest.raises(PayloadCodecUnknown, match="encoded by aes and this process has the codecs: none"):
        Converter().decoder(Any)('{"$flowpy": "codec", "name": "aes", "data": ""}')


class Opaque:
    pass


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Opaque(), r"cannot write x as JSON: a .*\.Opaque has no JSON form.*register"),
        ([1, {"a": Opaque()}], r"x\[1\]\.a as JSON"),
        (Order("1", [Line(Opaque())]), r"x\.lines\[0\]\.sku as JSON"),  # type: ignore[arg-type]
        (float("nan"), "nan has no JSON form"),
        ([1.0, float("inf")], r"x\[1\] as JSON: inf"),
        ({"a": {1, float("nan")}}, r"x\.a.*nan"),
        ("\ud800", "half of a surrogate pair"),
        ({"a": ["ok", "\udfff"]}, r"x\.a\[1\]"),
        ({"\ud800": 1}, "a key"),
        ({(1, 2): 3}, r"its key \(1, 2\) is a tuple"),
        ({None: 3}, "its key None"),
        ({True: 3}, "its key True"),
        ({1.5: 3}, r"its key 1\.5"),
        ({1: 3, "1": 4}, "both written as '1'"),
        (10**5000, "Exceeds the limit"),
        ([10**5000], r"x\[0\]"),
        (dt.timedelta.max, "without losing microseconds"),
        (iter([1]), "has no JSON form"),
        (Line, "has no JSON form"),
        (ValueError("x"), "has no JSON form"),
    ],
    ids=lambda part: ascii(part)[:30] if isinstance(part, str) else type(part).__name__,
)
def test_values_without_json_form_are_refused_with_their_place(value: Any, said: str) -> None:
    with pytest.raises(PayloadNotEncodable, match=said):
        Converter().encode(value, "x")


def test_value_that_contains_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(PayloadError, match="contains itself"):
        Converter().encode(circle)
    order = Order("1")
    order.parent = order
    with pytest.raises(PayloadError, match="contains itself"):
        Converter().encode(order)


def test_what_nests_as_deep_as_may_be_comes_back() -> None:
    value: Any = 1
    order = None
    for _ in range(99):
        value = [value]
        order = Order("x", [], order)
    converter = Converter()
    assert converter.decode(converter.encode(value)) == value
    assert converter.decode(converter.encode(order), Order) == order


class Secret:
    """A reference to a credential; the credential itself is looked up where it is used (row Y04)."""

    def __init__(self, name: str) -> None:
        self.name = name


def with_secrets() -> Converter:
    def decode(plain: Any) -> Secret:
        if not isinstance(plain, str) or not plain.startswith("ref:"):
            raise ValueError("not a reference")
        return Secret(plain.removeprefix("ref:"))

    converter = Converter()
    converter.register(Secret, encode=lambda secret: f"ref:{secret.name}", decode=decode)
    return converter


def test_y04_registered_reference_is_all_that_is_written() -> None:
    converter = with_secrets()
    assert converter.encode([Secret("db/main")]) == '["ref:db/main"]'
    assert converter.decode('["ref:db/main"]', list[Secret])[0].name == "db/main"
    assert converter.decode('{"a": "ref:x"}', dict[str, Secret | None])["a"].name == "x"
    with pytest.raises(PayloadNotDecodable, match="not a reference"):
        converter.decode('"hunter2"', Secret)


def test_registering_forgets_what_was_known() -> None:
    converter = Converter()
    with pytest.raises(PayloadNotDecodable, match="no way to build an Opaque"):
        converter.decode("1", Opaque)
    converter.register(Opaque, encode=lambda _: 1, decode=lambda _: Opaque())
    assert isinstance(converter.decoder(Opaque)("1"), Opaque)


@pytest.mark.parametrize("type_", [int, str, list, dict, type(None)])
def test_json_types_cannot_be_registered(type_: Any) -> None:
    with pytest.raises(DeclarationError, match="cannot be changed"):
        Converter().register(type_, encode=str, decode=str)


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("[1, 2]", "[1,2]", True),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
        ("1", "1.0", True),
        ("1", "true", False),
        ("[0]", "[false]", False),
        ("[1, 2]", "[2, 1]", False),
        ("[1]", "[1, 1]", False),
        ('"\\u00e9"', '"é"', True),
        ("plain", "plain", True),
        ("plain", "other", False),
        (None, None, True),
        (None, "null", False),
        ("[", "[1", False),
    ],
)
def test_payloads_are_compared_as_json(a: str | None, b: str | None, alike: bool) -> None:
    assert same(a, b) is alike
    assert Converter().same(b, a) is alike

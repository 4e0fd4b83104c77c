"""Round trips and promises over generated values, types and broken texts."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from typing import Any, NamedTuple

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flowpy.data import (
    Converter,
    Failure,
    decode_arguments,
    decode_context,
    decode_failure,
    encode_arguments,
    encode_failure,
    failure_text,
    input_with_signals,
    same,
)
from flowpy.declare.signature import Signature
from flowpy.errors import ApplicationError, PayloadNotDecodable

CONVERTER = Converter()

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
plain = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=20
)
marked = st.dictionaries(st.just("$flowpy"), plain, min_size=1)


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2
    PAIR = (1, "x")


class Point(NamedTuple):
    x: int
    y: float


@attrs.define
class Leaf:
    name: str
    at: dt.datetime | None
    tags: set[str]


@dataclasses.dataclass
class Tree:
    leaf: Leaf
    colour: Colour
    points: list[Point]
    by_day: dict[dt.date, decimal.Decimal]
    children: list[Tree] = dataclasses.field(default_factory=list)
    more: int | str | list[bool] | None = None


zones = st.just(dt.UTC) | st.none()
leaves = st.builds(Leaf, text, st.none() | st.datetimes(timezones=zones), st.sets(text, max_size=3))
points = st.builds(Point, st.integers(), st.floats(allow_nan=False, allow_infinity=False))
decimals = st.decimals(allow_nan=False)
more = st.none() | st.integers() | text | st.lists(st.booleans(), max_size=3)
trees = st.recursive(
    st.builds(
        Tree,
        leaves,
        st.sampled_from(Colour),
        st.lists(points, max_size=2),
        st.dictionaries(st.dates(), decimals, max_size=2),
        more=more,
    ),
    lambda inner: st.builds(
        Tree, leaves, st.sampled_from(Colour), st.just([]), st.just({}), st.lists(inner, max_size=2)
    ),
    max_leaves=4,
)

TYPED: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (str, text),
    (bool, st.booleans()),
    (bytes, st.binary(max_size=40)),
    (dt.datetime, st.datetimes(timezones=zones)),
    (dt.time, st.times()),
    (dt.timedelta, st.timedeltas(dt.timedelta(days=-36_500), dt.timedelta(days=36_500))),
    (uuid.UUID, st.uuids()),
    (Colour, st.sampled_from(Colour)),
    (tuple[int, str], st.tuples(st.integers(), text)),
    (tuple[float, ...], st.lists(st.floats(allow_nan=False, allow_infinity=False)).map(tuple)),
    (frozenset[int], st.frozensets(st.integers())),
    (dict[int, list[str]], st.dictionaries(st.integers(), st.lists(text, max_size=3), max_size=3)),
    (dict[uuid.UUID, Point], st.dictionaries(st.uuids(), points, max_size=3)),
    (Tree, trees),
]


@given(plain | marked)
def test_plain_values_round_trip(value: Any) -> None:
    encoded = CONVERTER.encode(value)
    assert CONVERTER.decode(encoded) == value
    assert CONVERTER.decoder(Any)(encoded) == value
    assert CONVERTER.encode(CONVERTER.decode(encoded)) == encoded


@given(plain)
def test_text_is_what_json_writes(value: Any) -> None:
    assert CONVERTER.text(value) == json.dumps(value, ensure_ascii=False)
    assert same(CONVERTER.text(value), json.dumps(value, indent=1, sort_keys=True))


@pytest.mark.parametrize(("type_", "values"), TYPED, ids=[str(type_) for type_, _ in TYPED])
def test_typed_values_round_trip(type_: Any, values: st.SearchStrategy[Any]) -> None:
    @given(values)
    def round_trip(value: Any) -> None:
        encoded = CONVERTER.encode(value)
        for decoded in (CONVERTER.decode(encoded, type_), CONVERTER.decoder(type_)(encoded)):
            assert decoded == value
            assert type(decoded) is type(value)
            assert CONVERTER.encode(decoded) == encoded

    round_trip()


@given(st.text(max_size=60) | plain.map(json.dumps).flatmap(lambda t: st.integers(0, len(t)).map(lambda n: t[:n])))
@example("NaN")
@example("5" + "\x00")
def test_decoders_accept_what_json_accepts_and_nothing_else(broken: str) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        expected: Any = json.loads(broken, parse_constant=refuse) if broken else None
    except ValueError:
        expected = PayloadNotDecodable
    for type_ in (Any, int, str, float, bool, list[int], type(None)):
        try:
            value = CONVERTER.decoder(type_)(broken)
        except PayloadNotDecodable:
            assert type_ is not Any or expected is PayloadNotDecodable or "$flowpy" in broken
        else:
            assert value == expected


@given(plain, st.sampled_from([type_ for type_, _ in TYPED]))
def test_anything_read_as_anything_is_a_value_or_the_one_error(value: Any, type_: Any) -> None:
    try:
        decoded = CONVERTER.decode(json.dumps(value), type_)
    except PayloadNotDecodable:
        return
    CONVERTER.encode(decoded)


def four(a: Any, b: Any = None, c: Any = None, /, *, d: Any = None) -> None: ...


def named(a: Any, b: Any = None, c: Any = None, *, d: Any = None) -> None: ...


SIGNATURE = Signature.of(named)


@given(st.lists(plain | marked, min_size=1, max_size=3), st.dictionaries(st.sampled_from("bcd"), plain))
def test_arguments_round_trip(args: list[Any], kwargs: dict[str, Any]) -> None:
    by_name = {name: value for name, value in kwargs.items() if name not in "abc"[: len(args)]}
    read = decode_arguments(encode_arguments(SIGNATURE, tuple(args), by_name), SIGNATURE)
    assert SIGNATURE.bind(read.args, read.kwargs) == SIGNATURE.bind(tuple(args), by_name)


@given(st.none() | st.text(max_size=40) | plain.map(json.dumps))
def test_input_with_signals_is_the_same_input(raw: str | None) -> None:
    signals = [{"name": "s", "input": "5"}]
    try:
        plain_read = decode_arguments(raw, SIGNATURE)
    except PayloadNotDecodable:
        return
    read = decode_arguments(input_with_signals(raw, signals), SIGNATURE)
    assert (read.args, read.kwargs) == (plain_read.args, plain_read.kwargs)
    assert read.signals == plain_read.signals + signals


@given(st.none() | st.text(max_size=80), st.none() | st.text(max_size=80) | plain.map(json.dumps))
def test_any_failure_and_context_is_read(reason: str | None, details: str | None) -> None:
    failure = decode_failure(reason, details)
    assert all(isinstance(part, str) for f in failure.chain() for part in (f.type, f.module, f.message, f.traceback))
    decode_context(details)


# Lone surrogates too: they become escapes, which is why the record is compared once written.
@given(st.lists(st.tuples(st.text(), plain), min_size=1, max_size=5), st.integers(1, 9_000))
def test_any_exception_is_written_within_the_limits(parts: list[tuple[str, Any]], times: int) -> None:
    error: BaseException | None = None
    for message, data in parts:
        outer = ApplicationError(message * times, type=message, data=[data] * (times % 50))
        outer.__cause__ = error
        error = outer
    assert error is not None
    reason, details = encode_failure(error)
    assert len(reason) <= 256
    assert len(details) <= 32_768
    json.loads(details)
    details.encode()
    read = decode_failure(reason, details)
    assert failure_text(read)[1] == details


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    plain,
)
def test_failures_round_trip(message: str, type_: str, data: Any) -> None:
    failure = Failure(type_, "m", message or "x", "t", Failure("C", message="c"), data)
    assert decode_failure(*failure_text(failure)) == failure

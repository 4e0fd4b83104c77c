"""Inputs: the forms of the contract, read leniently."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from flowpy.data import Arguments, Converter, decode_arguments, encode_arguments, input_with_signals
from flowpy.declare.signature import Signature
from flowpy.errors import PayloadCodecUnknown, PayloadNotDecodable, PayloadNotEncodable, PayloadStoreUnavailable


@dataclasses.dataclass
class Line:
    sku: str


def ship(order_id: str, count: int = 1, note: str = "", *, fast: bool = False) -> None: ...


def sort(lines: list[Line], /, *, by: str) -> None: ...


def anything(value) -> None: ...  # type: ignore[no-untyped-def]


def nothing() -> None: ...


SHIP, SORT, ANYTHING, NOTHING = (Signature.of(function) for function in (ship, sort, anything, nothing))


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        (("o-7",), {}, '["o-7"]'),
        (("o-7", 2), {}, '["o-7", 2]'),
        (("o-7",), {"count": 2}, '["o-7", 2]'),
        ((), {"order_id": "é"}, '["é"]'),
        (("o-7",), {"note": "n"}, '{"args": ["o-7"], "kwargs": {"note": "n"}}'),
        (("o-7",), {"fast": True}, '{"args": ["o-7"], "kwargs": {"fast": true}}'),
    ],
)
def test_arguments_are_an_array_and_names_only_where_they_must(
    args: tuple[Any, ...], kwargs: dict[str, Any], text: str
) -> None:
    assert encode_arguments(SHIP, args, kwargs) == text
    read = decode_arguments(text, SHIP)
    assert SHIP.bind(read.args, read.kwargs) == SHIP.bind(args, kwargs)


def test_no_arguments_are_an_empty_array() -> None:
    assert encode_arguments(NOTHING, (), {}) == "[]"
    assert decode_arguments("[]", NOTHING) == Arguments((), {}, [])


def test_arguments_get_their_types() -> None:
    text = encode_arguments(SORT, ([Line("x")],), {"by": "sku"})
    assert text == '{"args": [[{"sku": "x"}]], "kwargs": {"by": "sku"}}'
    assert decode_arguments(text, SORT) == Arguments(([Line("x")],), {"by": "sku"}, [])


def test_argument_that_cannot_be_written_is_named() -> None:
    with pytest.raises(PayloadNotEncodable, match=r"argument 'note' of ship\(\)\[1\]"):
        encode_arguments(SHIP, ("o-7",), {"note": ["a", object()]})
    with pytest.raises(PayloadNotEncodable, match=r"argument 'value' of anything\(\)"):
        encode_arguments(ANYTHING, (object(),), {})


def test_wrong_call_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="order_id"):
        encode_arguments(SHIP, (), {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["a"]', "a"),
        ('"a"', "a"),
        ("5", 5),
        ("null", None),
        ("plain words", "plain words"),
        ("{cut", "{cut"),
        ('{"a": 1}', {"a": 1}),
        ('{"args": 1}', {"args": 1}),
        ('{"args": [1], "other": 2}', {"args": [1], "other": 2}),
        ('{"kwargs": {}}', {"kwargs": {}}),
        ('[{"args": [1]}]', {"args": [1]}),
        ('{"args": ["a"]}', "a"),
        ('{"$flowpy": "value", "value": {"$flowpy": 1}}', {"$flowpy": 1}),
    ],
)
def test_z06_inputs_from_elsewhere_are_the_one_argument(text: str, value: Any) -> None:
    assert decode_arguments(text, ANYTHING).args == (value,)


@pytest.mark.parametrize("text", [None, "", "[]", '{"args": []}', '{"args": [], "kwargs": null}'])
def test_absent_input_is_no_arguments(text: str | None) -> None:
    assert decode_arguments(text, NOTHING) == Arguments()


def test_argument_that_is_a_marked_object_comes_back() -> None:
    text = encode_arguments(ANYTHING, ({"$flowpy": "offload"},), {})
    assert decode_arguments(text, ANYTHING).args == ({"$flowpy": "offload"},)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["o", 1, "n", 4]', r"argument 4 of 4 has no parameter.*: 4; ship\(\) takes 3 by position \(order_id, count"),
        ('["o", "many"]', r"argument 'count' of ship\(\) does not fit its type int: expected int, found \"many\""),
        ("5", r"argument 'order_id' of ship\(\) does not fit its type str"),
        ("[]", r"argument 'order_id' of ship\(\) is missing"),
        (None, r"argument 'order_id' of ship\(\) is missing"),
        ('{"args": ["o"], "kwargs": {"speed": 1}}', r"argument 'speed' of ship\(\) is unknown; it takes order_id"),
        ('{"args": ["o"], "kwargs": {"order_id": "p"}}', "argument 'order_id' .* twice"),
        ('{"args": ["o"], "kwargs": {"fast": 1}}', "argument 'fast' .* expected bool, found 1"),
    ],
)
def test_z06_input_that_does_not_fit_names_the_argument(text: str | None, said: str) -> None:
    with pytest.raises(PayloadNotDecodable, match=said):
        decode_arguments(text, SHIP)


@pytest.mark.parametrize(
    ("text", "name"), [("[[]]", "by"), ('{"args": [], "kwargs": {"lines": [], "by": ""}}', "lines")]
)
def test_keyword_only_is_required_and_positional_only_has_no_name(text: str, name: str) -> None:
    with pytest.raises(PayloadNotDecodable, match=f"argument '{name}' of sort"):
        decode_arguments(text, SORT)


def test_offloaded_input_is_no_argument() -> None:
    pointer = f'{{"$flowpy": "offload", "uri": "s3://b/k", "sha256": "{"0" * 64}", "size": 1}}'
    with pytest.raises(PayloadStoreUnavailable, match="s3://b/k and this process has the stores: none"):
        decode_arguments(pointer, ANYTHING)
    with pytest.raises(PayloadNotDecodable, match="lacks a member"):
        decode_arguments('{"$flowpy": "offload", "uri": "s3://b/k"}', ANYTHING)


SIGNALS: list[dict[str, Any]] = [{"name": "approve", "input": "true"}, {"name": "stop", "input": None}]
CARRIED: list[dict[str, Any]] = [{"name": "approve", "input": "true"}, {"name": "stop"}]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('["o-7", 2]', {"args": ["o-7", 2]}),
        (None, {"args": []}),
        ("plain", {"args": ["plain"]}),
        ('{"args": ["o"], "kwargs": {"fast": true}}', {"args": ["o"], "kwargs": {"fast": True}}),
    ],
)
def test_signals_nobody_received_go_with_the_input(text: str | None, form: dict[str, Any]) -> None:
    carrying = input_with_signals(text, SIGNALS)
    assert carrying is not None
    assert json.loads(carrying) == {**form, "signals": CARRIED}


def test_carried_signals_are_read_oldest_first() -> None:
    first = input_with_signals(encode_arguments(SHIP, ("o",), {}), SIGNALS[:1])
    second = input_with_signals(first, SIGNALS[1:])
    assert decode_arguments(second, SHIP) == Arguments(("o",), {}, CARRIED)


def test_input_without_signals_to_add_stays_as_it_is() -> None:
    assert input_with_signals("[1,2]", []) == "[1,2]"
    assert input_with_signals(None, []) is None


def test_nothing_can_be_added_to_an_encoded_input() -> None:
    with pytest.raises(PayloadCodecUnknown, match="codec"):
        input_with_signals('{"$flowpy": "codec", "name": "aes", "data": ""}', SIGNALS)


def test_odd_signals_in_an_input_are_passed_over() -> None:
    text = (
        '{"args": [1], "signals": [5, {"input": "x"}, {"name": 5}, {"name": "a", "input": "{\\"b\\": 1}", "more": 1}]}'
    )
    assert decode_arguments(text, ANYTHING).signals == [{"name": "a", "input": '{"b": 1}'}]


@pytest.mark.parametrize("arguments", [["o-7", 2], ["o-7", 2, "n", True]])
def test_input_that_names_java_classes_says_what_to_do_about_it(arguments: list[Any]) -> None:
    text = json.dumps(["[Ljava.lang.Object;", arguments])
    with pytest.raises(PayloadNotDecodable, match=r"found \[\"o-7\".*Flow Framework for Java.*plain JSON"):
        decode_arguments(text, SHIP)
    with pytest.raises(PayloadNotDecodable, match=r"takes 1 by position.*anything\(array: str, arguments: list"):
        decode_arguments(text, ANYTHING)


def test_converter_given_is_used() -> None:
    class Money:
        pass

    converter = Converter()
    converter.register(Money, encode=lambda _: "money", decode=lambda _: Money())
    assert encode_arguments(ANYTHING, (Money(),), {}, converter) == '["money"]'

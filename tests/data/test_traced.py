"""Inputs that carry the trace they belong to: put on, taken off by every reader, and no part of what is compared."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.data import DEFAULT, decode_arguments, encode_arguments, input_with_signals
from flowpy.data.limits import DATA
from flowpy.data.traced import traced, untraced
from flowpy.declare.signature import Signature
from flowpy.errors import PayloadNotDecodable

CONTEXT = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": 'vendor={"}],'}


def ship(order_id: str, *, colour: str = "white") -> None: ...


SIGNATURE = Signature.of(ship)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values, st.dictionaries(st.text(min_size=1), st.text(), min_size=1, max_size=3))
def test_what_is_put_on_comes_off(value, context):
    text = json.dumps(value)

    made = traced(text, context)

    if not made.startswith('{"$flowpy": "traced", "version": 1, "context": {'):
        assert made == text
    else:
        assert json.loads(made)["input"] == value
        assert untraced(made) == (text, context)


@given(json_values, st.sampled_from([None, 0, 2]), st.sampled_from([(",", ":"), (", ", ": ")]))
def test_it_is_known_however_a_tool_wrote_the_json(value, indent, separators):
    form = {"$flowpy": "traced", "version": 1, "context": CONTEXT, "input": value}

    text, context = untraced(json.dumps(form, indent=indent, separators=separators))

    assert (json.loads(text), context) == (value, CONTEXT)


@given(st.text())
def test_all_else_stays_as_it_is(text):
    assert untraced(text)[0] in (text, text or None)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[]",
        '{"$flowpy": "traced"}',
        '{"$flowpy": "traced", "version": 2, "context": {"a": "b"}, "input": []}',
        '{"$flowpy": "traced", "version": 1, "context": {"a": 1}, "input": []}',
        '{"$flowpy": "traced", "version": 1, "context": {"a": "b", "input": []}',
        '{"$flowpy": "traced", "version": 1, "context": {"a": "b"}, "input": []',
        '{"$flowpy": "traced", "version": 1, "context": ' + '{"a":' * 2_000 + "1" + "}" * 2_000 + ', "input": []}',
    ],
)
def test_what_is_no_such_form_stays_as_it_is(text):
    assert untraced(text) == (text, {})


def test_a_newer_form_is_refused_loudly():
    newer = '{"$flowpy": "traced", "version": 2, "input": ["o-7"]}'

    with pytest.raises(PayloadNotDecodable, match="a newer flowpy wrote it"):
        decode_arguments(newer, SIGNATURE)


def test_no_context_leaves_every_byte():
    assert traced('["o-7"]', {}) == '["o-7"]'


def test_an_input_carries_one_context():
    once = traced("[]", CONTEXT)

    assert traced(once, {"traceparent": "00-1"}) == once


def test_an_input_that_would_become_too_long_goes_without():
    text = json.dumps(["x" * (DATA - 60)])

    assert traced(text, CONTEXT) == text


def test_every_reader_of_arguments_takes_it_off():
    text = traced(encode_arguments(SIGNATURE, ("o-7",), {"colour": "red"}), CONTEXT)

    arguments = decode_arguments(text, SIGNATURE)
    continued = input_with_signals(text, [{"name": "approval", "input": "true"}], DEFAULT)

    assert (arguments.args, arguments.kwargs) == (("o-7",), {"colour": "red"})
    assert json.loads(continued or "")["args"] == ["o-7"]

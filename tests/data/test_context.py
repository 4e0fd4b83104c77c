"""The executionContext, flowpy's own and others'."""

from __future__ import annotations

import json

import pytest

from flowpy.data import Context, decode_context, encode_context
from flowpy.errors import PayloadNotEncodable


def test_context_has_the_form_of_the_contract() -> None:
    text = encode_context({"step": 3}, "3.12")
    assert json.loads(text) == {"flowpy": 1, "python": "3.12", "state": {"step": 3}}
    assert decode_context(text) == Context(1, "3.12", {"step": 3})


def test_state_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(PayloadNotEncodable, match="set_state"):
        encode_context(object(), "3.12")


@pytest.mark.parametrize(
    "text",
    [None, "", "v1", "[1]", "5", '{"component": "1.0"}', '{"flowpy": "1"}', '{"flowpy": true}', "<xml/>", "[" * 500],
)
def test_v06_context_of_another_framework_means_version_one(text: str | None) -> None:
    assert decode_context(text) == Context(flowpy=1, python=None, state=None)


def test_later_versions_are_told() -> None:
    assert decode_context('{"flowpy": 2, "python": 3, "new": 1}') == Context(2, None, None)

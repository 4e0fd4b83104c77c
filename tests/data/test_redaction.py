"""Values are left out of messages where they are secret."""

from __future__ import annotations

import pytest

from flowpy.data import Converter
from flowpy.data.redaction import hiding, shown
from flowpy.errors import PayloadNotDecodable


def test_a_message_shows_the_value_that_did_not_fit() -> None:
    with pytest.raises(PayloadNotDecodable, match="4242"):
        Converter().decode('"4242"', int)


def test_where_values_are_hidden_it_shows_how_long_it_is() -> None:
    with (
        hiding(True),
        pytest.raises(PayloadNotDecodable, match=r"expected int, found <\d+ characters, not shown>") as raised,
    ):
        Converter().decode('"4242"', int)

    assert "4242" not in str(raised.value)


def test_it_ends_where_it_began() -> None:
    with hiding(True), hiding(False):
        assert shown("4242") == "<4 characters, not shown>"
    assert shown("4242") == "4242"

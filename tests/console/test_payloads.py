"""Payloads as a person reads them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from flowpy.console.payloads import payload_of, visible


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", ""),
        ("no JSON", "no JSON"),
        ("4200", "4200"),
        ('"text"', '"text"'),
        ("[1,2]", "[1, 2]"),
        ('{"name":"ünï"}', '{"name": "ünï"}'),
        ({"name": "order"}, '{"name": "order"}'),
        (7, "7"),
        ("{broken", "{broken"),
        ("[" * 30_000, "[" * 20_000),
        ("9" * 5_000, "9" * 5_000),
        ('["\\u202e"]', '["\\u202e"]'),
        ("\ud800\x00", "\\ud800\\u0000"),
        (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "2026-01-01T00:00:00+00:00"),
        ([1] * 40, "[\n" + ",\n".join(["  1"] * 40) + "\n]"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_json_is_laid_out_and_the_rest_is_as_it_is(value: Any, text: str) -> None:
    assert payload_of(value).text == text


def test_lines_of_a_traceback_stand_below_each_other() -> None:
    traceback = 'File "shop.py", line 7\n  pay()\n\nValueError'
    shown = payload_of({"traceback": traceback, "path": r"C:\new\\names", "more": "." * 40})

    assert shown.text.splitlines()[1:5] == [
        r'  "traceback": "File \"shop.py\", line 7',
        "      pay()",
        "    ",
        '    ValueError",',
    ]
    assert r"C:\\new\\\\names" in shown.text


def test_what_is_left_out_is_counted() -> None:
    cut = payload_of("p" * 100, most=30)

    assert (len(cut.text), cut.left_out) == (30, 70)


def test_lines_and_tabs_stay() -> None:
    assert visible("a\n\tb\r") == "a\n\tb\\u000d"

"""Large payloads: they come through whole, and the history holds references."""

from __future__ import annotations

import json

import pytest

from flowpy import WorkflowFailed
from flowpy.data import MemoryStore
from flowpy.testing import Environment
from samples.large_payloads import concordance, storing

LINES = 2_000


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def flowpy_converter(store):
    return storing(store)


@pytest.fixture
def book(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text("".join(f"line {number}\n" for number in range(LINES)))
    return file


def test_large_results_come_through_as_references(swf, store, book):
    run = swf.start(concordance, book)
    found = run.result()

    assert (len(found), len(found["line"])) == (LINES + 1, LINES)
    assert max(len(json.dumps(event, default=str)) for event in run.history()) < 1_000
    assert {len(kept) > 16_384 for kept in store.objects.values()} == {True}


def test_small_payloads_stand_in_the_history(swf, store, book):
    book.write_text("one line")

    assert swf.run(concordance, book) == {"one": [1], "line": [1]}
    assert store.objects == {}


def test_a_stored_history_replays_where_the_store_is(swf, replay, histories, book):
    found = swf.run(concordance, book)  # the same contents have the same references

    assert replay(concordance, histories / "large_payloads.references.history.json").result == found


def test_without_a_store_they_are_refused(book):
    with Environment() as swf, pytest.raises(WorkflowFailed, match="PayloadTooLarge: result of activity 'index'"):
        swf.run(concordance, book)

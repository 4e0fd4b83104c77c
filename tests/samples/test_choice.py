"""Choice: only what is chosen is called."""

from __future__ import annotations

import pytest

from samples.choice import describe, fingerprint, kind, lines, report, words


@pytest.fixture
def poem(tmp_path):
    file = tmp_path / "poem.txt"
    file.write_text("roses are red\nviolets are blue\n")
    return file


def test_one_of_several(swf, poem):
    assert swf.run(describe, poem) == "2 lines"
    assert swf.calls(lines) == [(poem,)]
    assert swf.calls(fingerprint) == []


def test_another_one(swf, poem):
    picture = poem.rename(poem.with_suffix(".png"))

    assert swf.run(describe, picture) == fingerprint.fn(picture)
    assert swf.calls(lines) == []


def test_none(swf, poem):
    swf.stub(kind, returns="model")

    assert swf.run(describe, poem) == "model, not described"


def test_any_number(swf, poem):
    assert swf.run(report, poem, {"words", "lines"}) == ["2 lines", "6 words"]
    assert swf.calls(words) == [(poem,)]
    assert swf.calls(fingerprint) == []
    assert swf.run(report, poem, set()) == []

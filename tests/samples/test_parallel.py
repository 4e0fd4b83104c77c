"""Parallel: as long as the longest takes; a failure leaves out one item, or cancels the others."""

from __future__ import annotations

import datetime as dt
import hashlib

import pytest

from flowpy import WorkflowFailed
from samples.parallel import checksum, inventory, size, total
from samples.table import count


@pytest.fixture
def files(tmp_path):
    found = [tmp_path / name for name in ("a", "bb", "ccc")]
    for file in found:
        file.write_text(file.name)
    return found


def test_a_fixed_set(swf, files):
    digests = [hashlib.new(algorithm, b"ccc").hexdigest() for algorithm in ("sha256", "md5")]

    assert swf.run(checksum, files[2]) == " ".join(["3", *digests])


def test_as_many_as_there_are_items(swf, files):
    swf.stub(size, delay="30s")
    began = swf.now()

    assert swf.run(inventory, files) == {"a": 1, "bb": 2, "ccc": 3}
    assert len(swf.calls(size)) == len(files)
    assert swf.now() - began == dt.timedelta(seconds=30)


def test_what_cannot_be_read_is_left_out(swf, files):
    files[1].unlink()

    assert swf.run(inventory, files) == {"a": 1, "ccc": 3}


def test_all_together(swf, files):
    assert swf.run(total, files) == 6


def test_the_others_are_cancelled_when_one_fails(swf, files):
    swf.stub(size, raises=FileNotFoundError("bb"), delay="1s").then(returns=1, delay="1h")
    began = swf.now()
    run = swf.start(total, files)
    with pytest.raises(WorkflowFailed, match="FileNotFoundError: bb"):
        run.result()

    assert count(run.history(), "ActivityTaskCanceled") == len(files) - 1
    assert swf.now() - began < dt.timedelta(minutes=1)

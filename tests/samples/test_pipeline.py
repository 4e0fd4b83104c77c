"""Data pipeline: all rows, so many batches at a time, progress for all to see, and nothing twice after a crash."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from flowpy import WorkflowFailed
from samples import pipeline
from samples.pipeline import AT_ONCE, Progress, load, load_all

ROWS, BATCH = 60, 10
SUM = sum(range(ROWS)) * 100 + ROWS * 5


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(pipeline, "CHUNK", 4)


@pytest.fixture
def sales(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text("item,price\n" + "".join(f"item {number},{number}.05\n" for number in range(ROWS)))
    return file


@pytest.fixture
def database(tmp_path):
    return tmp_path / "sales.db"


def loaded(database):
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT count(*), sum(cents) FROM sale").fetchone()


def test_all_rows_are_loaded(swf, sales, database):
    assert swf.run(load_all, sales, database, BATCH) == SUM
    assert loaded(database) == (ROWS, SUM)


def test_so_many_batches_at_a_time(swf, sales, database):
    swf.stub(load, returns=1, delay="10m")
    run = swf.start(load_all, sales, database, BATCH)
    assert len(swf.calls(load)) == AT_ONCE

    swf.advance("11m")
    assert len(swf.calls(load)) == ROWS // BATCH
    run.result()


def test_progress_is_published(swf, sales, database):
    swf.stub(load, returns=1, delay="10m")
    run = swf.start(load_all, sales, database, BATCH)
    assert run.describe().state is None

    swf.advance("11m")
    assert run.describe().state == {"batches": 6, "done": 4}
    run.result()
    assert run.describe().state == {"batches": 6, "done": 6}


def test_a_batch_goes_on_where_its_worker_died(swf, sales, database):
    swf.stub(load, times_out="HEARTBEAT", heartbeats=[Progress(4, 620)]).then(by=load.fn)

    assert swf.run(load_all, sales, database, BATCH) == SUM
    assert [call.attempt for call in swf.calls(load) if call.args[2:] == (0, 10)] == [1, 2]
    assert loaded(database) == (ROWS - 4, SUM - 620)  # the first four were only said to be there


def test_a_batch_that_dies_again_and_again_fails_the_run(swf, sales, database):
    swf.stub(load, times_out="HEARTBEAT")
    with pytest.raises(WorkflowFailed, match="timed out: HEARTBEAT"):
        swf.run(load_all, sales, database, BATCH)

    assert len([call for call in swf.calls(load) if call.args[2:] == (0, 10)]) == load.retry.attempts


def test_a_batch_written_twice_is_there_once(sales, database, swf):
    swf.run(load_all, sales, database, BATCH)
    swf.run(load_all, sales, database, BATCH)

    assert loaded(database) == (ROWS, SUM)

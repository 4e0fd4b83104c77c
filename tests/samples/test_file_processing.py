"""File processing: all steps on the machine of the first, and on another one if that has died."""

from __future__ import annotations

import datetime as dt
import gzip

import pytest

from flowpy import Client, WorkflowFailed
from flowpy.local import Engine, LocalService, VirtualClock
from samples.file_processing import (
    MACHINES,
    SHARED,
    TAKEN_WITHIN,
    compress,
    download,
    own_task_list,
    process,
    upload,
    workers,
)
from samples.table import attributes


@pytest.fixture(autouse=True)
def _machine(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "machine-7")


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "report.txt"
    file.write_text("the same line\n" * 1000)
    return file


@pytest.fixture
def target(tmp_path):
    return tmp_path / "report.txt.gz"


def task_lists(run):
    """The task list of each activity of a run, in the order in which they were scheduled."""
    scheduled = [attributes(event) for event in run.history() if event["eventType"] == "ActivityTaskScheduled"]
    return [(told["activityType"]["name"], told["taskList"]["name"]) for told in scheduled]


def test_a_file_is_compressed_on_the_machine_that_fetched_it(swf, source, target):
    run = swf.start(process, source, target)

    assert run.result() == target.stat().st_size < source.stat().st_size
    assert gzip.decompress(target.read_bytes()) == source.read_bytes()
    assert task_lists(run) == [
        ("download", SHARED),
        ("compress", own_task_list()),
        ("upload", own_task_list()),
    ]


def test_two_workers_on_a_machine_do_it_all(source, target):
    swf = LocalService(Engine(VirtualClock()), hold=0.1)
    client = Client("files", swf, sleep=swf.sleep, clock=swf.now)
    swf.call("RegisterDomain", {"name": "files", "workflowExecutionRetentionPeriodInDays": "1"})
    shared, own = workers(client)
    with own, shared, swf.attending():
        run = client.start(process, source, target)

        assert run.result(timeout="1h") == target.stat().st_size


def test_nothing_is_left_on_the_machine(swf, source, target):
    run = swf.start(process, source, target)
    run.result()
    (uploaded,) = swf.calls(upload)

    assert not uploaded.args[0].parent.exists()


def test_another_machine_begins_again_if_the_first_has_died(swf, source, target):
    swf.stub(download, returns=("files-dead", source)).then(by=download.fn)
    swf.stub(compress, times_out="SCHEDULE_TO_START").then(by=compress.fn)
    began = swf.now()
    run = swf.start(process, source, target)
    run.result()

    assert task_lists(run) == [
        ("download", SHARED),
        ("compress", "files-dead"),
        ("download", SHARED),
        ("compress", own_task_list()),
        ("upload", own_task_list()),
    ]
    assert swf.now() - began == dt.timedelta(minutes=int(TAKEN_WITHIN.removesuffix("m")))


def test_in_the_end_it_is_given_up(swf, source, target):
    swf.stub(compress, times_out="SCHEDULE_TO_START")
    with pytest.raises(WorkflowFailed, match="SCHEDULE_TO_START"):
        swf.run(process, source, target)

    assert len(swf.calls(download)) == MACHINES


def test_only_a_machine_that_does_not_answer_is_given_up(swf, source, target):
    swf.stub(compress, times_out="START_TO_CLOSE")
    with pytest.raises(WorkflowFailed, match="START_TO_CLOSE"):
        swf.run(process, source, target)

    assert len(swf.calls(download)) == 1

"""An attempt goes on where the one before it stopped, however that ended."""

from __future__ import annotations

import pytest

from flowpy import ActivityFailed, Retry, activity, current_activity, workflow


@activity(retry=Retry(attempts=3, initial="1s"), start_to_close_timeout="1h")
def copy(files: list[str]) -> list[str]:
    running = current_activity()
    done = running.last_details(list[str]) or []
    for file in files[len(done) :]:
        if file.startswith("bad") and running.attempt == 1:
            raise ConnectionError("the disk is away")
        done.append(file)
        running.heartbeat(done)
    return [f"attempt {running.attempt}", *done]


@workflow
async def backup(files: list[str]) -> list[str]:
    return await copy(files)


@workflow
async def last_words(files: list[str]) -> list[str]:
    try:
        await copy.options(retry=Retry(attempts=1))(files)
    except ActivityFailed as error:
        return error.failure.heartbeat
    return []


def test_after_a_failure(swf):
    assert swf.run(backup, ["a", "bad b", "c"]) == ["attempt 2", "a", "bad b", "c"]


@pytest.mark.parametrize("timeout", ["HEARTBEAT", "START_TO_CLOSE"])
def test_after_a_timeout(swf, timeout):
    swf.stub(copy, times_out=timeout, heartbeats=[["a"], ["a", "b"]], delay="30m").then(delay=1)
    assert swf.run(backup, ["a", "b", "c"]) == ["attempt 2", "a", "b", "c"]


def test_the_workflow_may_read_it_too(swf):
    assert swf.run(last_words, ["a", "bad b"]) == ["a"]

"""docs/histories.md: what it records can be replayed without telling whose history it is."""

from __future__ import annotations

from pathlib import Path

import boto3
import pytest
from tests.docs.programs import printed

import flowpy
from flowpy import Client, Worker, activity, workflow
from flowpy.local import Engine, LocalService, VirtualClock
from flowpy.local import client as local_client
from flowpy.testing import replay
from flowpy.worker import WorkerSettings

PAGE = "docs/histories.md"


@activity
def charge(key: str) -> str:
    return key


@workflow
async def parcel() -> int:
    return flowpy.random().randint(1, 6)


@workflow
async def order() -> int:
    await charge(str(flowpy.uuid4()))
    return await parcel()


def test_what_it_records_says_whose_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    swf = LocalService(Engine(VirtualClock()), hold=0.05)
    client = Client("shop", swf, sleep=swf.sleep, clock=swf.now)
    settings = WorkerSettings(register_domain=1)
    with Worker(client, workflows=[order, parcel], activities=[charge], settings=settings):
        run = client.start(order, workflow_id="order-o-7")
        swf.wait_until(lambda: run.describe().status == "CLOSED")
    monkeypatch.setattr(flowpy, "Client", lambda _: client)
    monkeypatch.setattr(boto3, "client", lambda _: local_client(swf))
    monkeypatch.chdir(tmp_path)

    assert [*printed(PAGE, capsys, monkeypatch, run_id=run.run_id)] == [("", "")]

    replayed = replay(order, "order-o-7.history.json", strict=True)
    assert replayed.result == run.result()
    assert replayed.warnings == []

"""The commands in this process, against an SWF in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from flowpy import Client
from flowpy.cli.commands import flowpy as command
from flowpy.cli.connecting import Connection
from flowpy.testing import Environment

SHOP = """\
import flowpy
from flowpy import Signal, activity, execute, query, workflow

approval = Signal("approval", bool)


@activity
def charge(order_id: str, cents: int) -> str:
    if cents < 0:
        raise ValueError("less than nothing")
    return f"r-{order_id}-{cents}"


@activity(external=True)
def ship(order_id: str) -> str: ...


@workflow(version="1.0", execution_start_to_close_timeout="30d")
async def order(order_id: str, cents: int = 4200) -> str:
    receipt = await charge(order_id, cents)
    if not await approval.receive(timeout="3d"):
        raise flowpy.ApplicationError("declined")
    return receipt


@workflow(name="Parcel", version="2.0")
class Parcel:
    def __init__(self) -> None:
        self.step = "begun"

    @execute
    async def run(self) -> str:
        flowpy.set_state({"step": "packing"})
        self.step = await Signal("step", str).receive()
        await flowpy.sleep("10m")
        return self.step

    @query
    def status(self, times: int = 1) -> str:
        return self.step * times

    @query
    def broken(self) -> str:
        return {}["no"]
"""

Flowpy = Callable[..., Result]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module ``shop``, which is the current one."""
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("FLOWPY_DOMAIN", "AWS_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL_SWF", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def shop_module(shop: Path) -> Any:
    import importlib

    return importlib.import_module("shop")


@pytest.fixture
def flowpy(swf: Environment, shop: Path, monkeypatch: pytest.MonkeyPatch) -> Flowpy:
    """Run a command in the folder of the shop; all that can happen then has happened when it returns."""
    monkeypatch.setenv("FLOWPY_DOMAIN", "test")

    def connect(connection: Connection) -> Client:
        service = swf.client.service
        return Client(connection.domain or "", service, sleep=swf.advance, clock=swf.clock)

    def invoke(*arguments: str, **options: Any) -> Result:
        result = CliRunner().invoke(command, arguments, obj=connect, prog_name="flowpy", **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        swf.settle()
        return result

    return invoke

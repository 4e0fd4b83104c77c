"""Make the pictures of the console: ``PYTHONPATH=src python docs/pictures/make_console.py [FOLDER]``.

All of them go to the folder, those of the documentation beside this file. Needs the extra ``server``, playwright, and
Chromium, which ``FLOWPY_CHROMIUM`` names if it is not on the path.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

import flowpy
from flowpy import Retry, Signal, activity, workflow
from flowpy.console import Console
from flowpy.local.server import Application, Regions, Server
from flowpy.testing import Environment

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("FLOWPY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
WIDE, NARROW = (1000, 720), (400, 720)
SHOWN = ("console-execution-light.png", "console-executions-dark.png", "console-execution-narrow-dark.png")

approval = Signal("approval", bool)


@activity
def reserve(order_id: str, items: list[str]) -> int:
    """Price of what is reserved, in cents."""
    return 8_450 * len(items or order_id)


@activity(start_to_close_timeout="60s", retry=Retry(attempts=5, initial="20s"))
def charge(order_id: str, cents: int) -> str:
    """The receipt."""
    return f"{order_id}-{cents}"


@activity(task_list="gifts")
def wrap(order_id: str) -> None:
    """Wait for a person with paper."""


@workflow
async def fraud_check(order_id: str) -> str:
    """Take a while."""
    await flowpy.sleep("40s")
    return f"{order_id} is clean"


@workflow
async def order(order_id: str, items: list[str]) -> str:
    """Reserve, check, charge and wrap."""
    cents = await reserve(order_id, items)
    await fraud_check.options(workflow_id=f"fraud-{order_id}")(order_id)
    paid = charge(order_id, cents)
    if not await approval.receive(timeout="3d"):
        raise flowpy.ApplicationError("declined")
    wrapped = wrap(order_id)
    receipt = await paid
    await wrapped
    return receipt


def shop(swf: Environment) -> str:
    """Let orders run for a while; the runId of one that is in trouble."""
    for number in range(1, 8):
        swf.start(order, f"o-{number}", ["lamp"], workflow_id=f"order-o-{number}", tag_list=["eu"])
        swf.advance("7s")
    swf.stub(wrap, delay="1h")
    for number in range(1, 7):
        swf.signal(f"order-o-{number}", approval, number % 3 != 0)
    swf.advance("5m")
    swf.stub(reserve, delay="4s")
    swf.stub(charge, raises=ConnectionResetError("the bank hung up"), delay="14s")
    run = swf.start(order, "o-8", ["lamp", "rug"], workflow_id="order-o-8", tag_list=["eu", "gift"])
    swf.advance("1m")
    swf.signal(run, approval, value=True)
    swf.advance("1m")
    return run.run_id


def pictures(browser: Browser, url: str, domain: str, run_id: str, folder: Path) -> None:
    """Each page, in both schemes and widths."""
    execution = urlencode({"domain": domain, "workflow_id": "order-o-8", "run_id": run_id})
    pages = {
        "domains": "/",
        "executions": f"/executions?domain={domain}",
        "task-lists": f"/task-lists?domain={domain}",
        "execution": f"/execution?{execution}",
    }
    for scheme in ("light", "dark"):
        for size, name in ((WIDE, ""), (NARROW, "-narrow")):
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
            tab: Page = context.new_page()
            for page, path in pages.items():
                tab.goto(url + path)
                tab.screenshot(path=str(folder / f"console-{page}{name}-{scheme}.png"))
            context.close()


def main() -> None:
    """Make those of the documentation, or all there are in a folder that is named."""
    with Environment(strict=False) as swf, TemporaryDirectory() as made:
        run_id = shop(swf)
        regions = Regions(lambda _: swf.engine)
        folder = Path(sys.argv[1]) if sys.argv[1:] else Path(made)
        with Server(Application(regions, 0, Console(regions.by_name))) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            pictures(browser, server.url, swf.client.domain, run_id, folder)
            browser.close()
        for name in SHOWN:
            shutil.copy(folder / name, HERE / name)


if __name__ == "__main__":
    main()

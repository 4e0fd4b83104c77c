"""The samples that are changed, and their tests."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import flowpy
from flowpy.testing import Environment

from .kit import ROOT, Sample

ITEMS: Final = ["lamp", "teapot", "rug"]


def approved(shop: Any, swf: Environment) -> None:
    shop.PACKING = 0
    with swf.paused():
        run = swf.start(shop.order, "o-7", ITEMS)
        run.signal("approval", True)
    run.result()


def declined(shop: Any, swf: Environment) -> None:
    shop.PACKING = 0
    with swf.paused():
        run = swf.start(shop.order, "o-7", ITEMS)
        run.signal("approval", False)
    with suppress(flowpy.WorkflowFailed):
        run.result()


def cancelled(shop: Any, swf: Environment) -> None:
    run = swf.start(shop.order, "o-8", ["lamp"])
    swf.advance("1d")
    run.cancel()
    with suppress(flowpy.WorkflowCanceled):
        run.result()


def packed(shop: Any, swf: Environment) -> None:
    shop.PACKING = 0
    swf.run(shop.pack_and_ship, "o-7", ITEMS)


def taken_back(shop: Any, swf: Environment) -> None:
    stock = swf.start(shop.stock, workflow_id="stock")
    run = swf.start(shop.take_back, "Ann", ITEMS)
    run.signal("arrived", "Ann Example")
    run.result()
    stock.result()


def forgotten(shop: Any, swf: Environment) -> None:
    swf.run(shop.take_back, "Ann", ITEMS)


def collected(shop: Any, swf: Environment) -> None:
    swf.run(shop.rounds, 5)


def appraised(shop: Any, swf: Environment) -> None:
    swf.run(shop.nightly, ITEMS)


def complained(shop: Any, swf: Environment) -> None:
    run = swf.start(shop.Complaint, "Ann")
    run.signal("say", "too late")
    run.signal("say", "too blue")
    run.signal("enough")
    run.result()


ORDER: Final = Sample(
    ROOT / "samples" / "order.py",
    {"approved": approved, "declined": declined, "cancelled": cancelled, "packed": packed},
)

_RETURNS: Final = ROOT / "tests" / "mutations" / "returns.py"
TAKE_BACK: Final = Sample(
    _RETURNS,
    {"taken back": taken_back, "forgotten": forgotten},
    before=(('    if flowpy.patched("thanks"):\n        await thank(customer)\n', ""),),
)
ROUNDS: Final = Sample(_RETURNS, {"collected": collected})
NIGHTLY: Final = Sample(_RETURNS, {"appraised": appraised})
COMPLAINT: Final = Sample(_RETURNS, {"complained": complained})

SAMPLES: Final = (ORDER, TAKE_BACK, ROUNDS, NIGHTLY, COMPLAINT)

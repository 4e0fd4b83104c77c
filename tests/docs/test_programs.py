"""All Python of a page is run: as one program that prints what is shown, or by the test that is named here."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from tests.docs.machine import started_and_stopped
from tests.docs.pages import PAGES, ROOT, fences
from tests.docs.programs import printed

import flowpy
from flowpy.data import Encryption
from flowpy.worker import WorkerSettings

Names = dict[str, Any]


def as_it_is(monkeypatch: pytest.MonkeyPatch) -> Names:
    return {}


def at_the_root(monkeypatch: pytest.MonkeyPatch) -> Names:
    monkeypatch.chdir(ROOT)
    return {}


def with_a_key(monkeypatch: pytest.MonkeyPatch) -> Names:
    monkeypatch.setenv("SHOP_KEY_2026_01", base64.b64encode(Encryption.new_key()).decode())
    return {}


def with_a_region(monkeypatch: pytest.MonkeyPatch) -> Names:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setattr(flowpy.Worker, "run", started_and_stopped)
    return {}


def with_an_order(monkeypatch: pytest.MonkeyPatch) -> Names:
    @flowpy.activity
    def charge(order_id: str) -> None: ...

    @flowpy.workflow
    async def order(order_id: str) -> None: ...

    return {"flowpy": flowpy, "charge": charge, "order": order, **with_a_region(monkeypatch)}


def with_the_face(monkeypatch: pytest.MonkeyPatch) -> Names:
    return {
        "Signal": flowpy.Signal,
        "WorkerSettings": WorkerSettings,
        "activity": flowpy.activity,
        "workflow": flowpy.workflow,
    }


PROGRAMS: Final[dict[str, Callable[[pytest.MonkeyPatch], Names]]] = {
    "docs/concepts.md": as_it_is,
    "docs/embedded-service.md": as_it_is,
    "docs/interceptors.md": as_it_is,
    "docs/migrating.md": with_the_face,
    "docs/payloads.md": with_a_key,
    "docs/replaying.md": at_the_root,
    "docs/running-workers.md": with_an_order,
    "docs/runs-in-memory.md": with_the_face,
    "docs/telemetry.md": as_it_is,
    "docs/timeline.md": at_the_root,
    "docs/writing-workflows.md": with_a_region,
}
"""What each page takes for granted."""

ELSEWHERE: Final = {
    "README.md": "tests/test_readme.py",
    "docs/activities.md": "tests/docs/test_activities.py",
    "docs/command-line.md": "tests/docs/test_command_line.py",
    "docs/determinism-guard.md": "tests/docs/test_determinism_guard.py",
    "docs/histories.md": "tests/docs/test_histories.py",
    "docs/non-determinism.md": "tests/replay/test_non_determinism_page.py",
    "docs/testing.md": "tests/docs/test_testing.py",
    "docs/tutorial.md": "tests/docs/test_tutorial.py",
}
"""Pages whose Python is files, tests, or code before and after a change: each test says so if a block is left over."""


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_page_prints_what_it_shows(
    page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = PROGRAMS[page](monkeypatch)

    for out, shown in printed(page, capsys, monkeypatch, **names):
        assert out == shown


@pytest.mark.parametrize("page", sorted(page for page in PAGES if fences(page, "python")))
def test_the_python_of_a_page_is_run(page: str) -> None:
    assert (page in PROGRAMS) + (page in ELSEWHERE) == 1
    if page in ELSEWHERE:
        assert page.rpartition("/")[2] in (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")


def test_no_page_is_named_that_has_no_python() -> None:
    assert [page for page in (*PROGRAMS, *ELSEWHERE) if not fences(page, "python")] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_fence_is_of_a_kind_that_is_looked_at(page: str) -> None:
    """Commands are ``sh`` or ``console``, programs ``python``, files of settings what they are: all are tried."""
    kinds = set(re.findall(r"^```(.+)$", PAGES[page], re.MULTILINE))

    settings = {"dockerfile", "ini", "json", "toml", "yaml"}
    assert kinds <= {"console", "python", "sh", "text", *settings, "{eval-rst}", "{toctree}"}

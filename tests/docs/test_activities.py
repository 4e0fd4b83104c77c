"""docs/activities.md is two files: they run as written and print what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, fences

import flowpy
from flowpy.client import ActivityTask

PAGE = "docs/activities.md"
TEXT = PAGES[PAGE]


def test_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    for name in ("warehouse.py", "try_it.py"):
        named = f"# {name}\n"
        parts = [code.text.removeprefix(named) for code in fences(PAGE, "python") if code.text.startswith(named)]
        (tmp_path / name).write_text("\n".join(parts), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-W", "error", "try_it.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stdout, done.returncode) == ("".join(shown.text for shown in fences(PAGE, "text")), 0), done.stderr


def test_every_block_belongs_to_a_file() -> None:
    assert {code.text.partition("\n")[0] for code in fences(PAGE, "python")} == {"# warehouse.py", "# try_it.py"}


@pytest.mark.parametrize("name", [name for name in vars(ActivityTask) if not name.startswith("_")])
def test_it_shows_what_can_be_done_by_token(name: str) -> None:
    assert f"`.{name}(" in TEXT


def test_the_errors_it_names_exist() -> None:
    named = set(re.findall(r"`((?:Activity|Unknown)[A-Z]\w+)`", TEXT))

    assert named - {*flowpy.__all__, "ActivityEnvironment"} == set()

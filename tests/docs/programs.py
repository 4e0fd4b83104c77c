"""Pages whose Python is one program: what it prints, beside what the page shows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.docs.pages import ROOT, fences


def printed(
    page: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **names: Any
) -> Iterator[tuple[str, str]]:
    """What was printed before each fence ``text``, and what stands in it; at last what is not shown, and "".

    Args:
        page: Path of the page from the root.
        capsys: Catches what is printed.
        monkeypatch: Keeps the program among the modules while it runs.
        names: What the page takes for granted.
    """
    module = ModuleType(f"page_{page.rpartition('/')[2].removesuffix('.md').replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    vars(module).update(names)
    for fence in fences(page, "python", "text"):
        if fence.language == "text":
            yield capsys.readouterr().out, fence.text
        else:
            # On the lines where it stands, so that a traceback leads to the page.
            code = "\n" * (fence.line - 1) + fence.text
            exec(compile(code, str(ROOT / page), "exec", dont_inherit=True), vars(module))  # noqa: S102 - our own file
    yield capsys.readouterr().out, ""

"""The site, built once for all that look at it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHONS = [sys.executable, *([str(ROOT / ".venv-docs" / "bin" / "python")] if sys.version_info < (3, 12) else [])]
"""What the extra docs brings may be installed here, or where ``make docs`` has it: built with that once is enough."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; a warning is an error."""
    python = next((python for python in PYTHONS if _has_sphinx(python)), None)
    if python is None:
        pytest.skip("what the extra docs brings is not installed")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [python, "-m", "sphinx", "-b", "html", "-W", "-n", "--keep-going", "-q", str(ROOT / "docs"), str(folder)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def _has_sphinx(python: str) -> bool:
    asked = [python, "-c", "import furo, myst_parser, sphinx"]
    return Path(python).exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0

"""The ``flowpy`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; its commands need the extra ``cli``."""
    try:
        from flowpy.cli.commands import flowpy
        from flowpy.cli.leaving import end_if_left

        try:
            flowpy(prog_name="flowpy")
        except SystemExit as ended:
            end_if_left(ended.code)
            raise
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich"}:
            raise
        sys.exit(f"the flowpy command needs {error.name}, which is not installed: pip install 'flowpy-swf[cli]'")

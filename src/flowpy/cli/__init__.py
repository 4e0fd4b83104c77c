"""The ``flowpy`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; its commands need the extra ``cli``."""
    try:
        from flowpy.cli.commands import flowpy
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("the flowpy command needs click, which is not installed: pip install 'flowpy-swf[cli]'")
    flowpy(prog_name="flowpy")

"""The commands of ``flowpy``."""

from __future__ import annotations

import click

from flowpy import __version__
from flowpy.cli.check import check

__all__ = ["flowpy"]


@click.group()
@click.version_option(__version__, package_name="flowpy-swf")
def flowpy() -> None:
    """Long-running business processes as Python functions, on Amazon SWF."""


flowpy.add_command(check)

"""``flowpy server``."""

from __future__ import annotations

import math
from typing import Any

import click

from flowpy.cli.failing import Exit, Failure

__all__ = ["server"]


def _number(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """Refuse nan, which is neither below nor above anything."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is no number of seconds")
    return value


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", help="Port to listen on, 0 for a free one.  [default: 8042]"
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address to listen on; nothing is authenticated, so think before you open it.  [default: 127.0.0.1]",
)
@click.option("--db", metavar="FILE", help="SQLite file that keeps everything.  [default: in memory only]")
@click.option(
    "--hold", type=click.FloatRange(0), callback=_number, metavar="SECONDS", help="How long a poll waits for a task."
)
@click.option("--region", metavar="NAME", help="Region of FILE and of unsigned requests.  [default: us-east-1]")
@click.pass_context
def server(context: click.Context, /, **options: str | float | None) -> None:
    """Run an SWF on this machine until Ctrl-C: any SWF client works once its endpoint points here.

    A browser on this machine sees there what it does. Without that page it is python -m flowpy.local.
    """
    try:
        from flowpy.console import Console
        from flowpy.local.server.command import CannotServe, serve
    except ModuleNotFoundError as error:
        if error.name not in {"httptools", "jinja2", "markupsafe", "uvicorn"}:
            raise
        raise Failure(f"{error.name} is not installed", Exit.NO, "pip install 'flowpy-swf[server]'") from error
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        status = serve(**given, site=lambda regions: Console(regions.by_name))
    except CannotServe as error:
        raise Failure(error.what, Exit.NO if error.is_address else Exit.USAGE, error.remedy, error=error) from error
    context.exit(status)

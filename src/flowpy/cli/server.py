"""``flowpy server``."""

from __future__ import annotations

import click

from flowpy.cli.failing import Exit, Failure

__all__ = ["server"]


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
@click.option("--hold", type=click.FloatRange(0), metavar="SECONDS", help="How long a poll waits for a task.")
@click.option("--region", metavar="NAME", help="Region of FILE and of unsigned requests.  [default: us-east-1]")
@click.pass_context
def server(context: click.Context, /, **options: str | float | None) -> None:
    """Run an SWF on this machine until Ctrl-C: any SWF client works once its endpoint points here.

    A browser on this machine sees there what it does. Without that page it is python -m flowpy.local.
    """
    try:
        from flowpy.console import Console
        from flowpy.local.server.command import main
    except ModuleNotFoundError as error:
        if error.name not in {"httptools", "jinja2", "markupsafe", "uvicorn"}:
            raise
        raise Failure(f"{error.name} is not installed", Exit.NO, "pip install 'flowpy-swf[server]'") from error
    given = [f"--{name}={value}" for name, value in options.items() if value is not None]
    context.exit(main(given, lambda regions: Console(regions.by_name)))

"""``python -m flowpy.local``: the embedded SWF from a shell."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from flowpy.local.engine import Engine, SystemClock
from flowpy.local.server.application import DEFAULT_HOLD, Application, Site
from flowpy.local.server.regions import Regions, file_of, regions_beside
from flowpy.local.server.server import Server

__all__ = ["CannotServe", "main", "serve"]

_ADVICE: Final = {
    errno.EADDRINUSE: "is another one running there? --port takes another, 0 a free one",
    errno.EACCES: "ports below 1024 are for the system: --port takes another, 0 a free one",
}
"""What to do, by why an address cannot be had."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m flowpy.local",
        description="Amazon SWF on this machine: any SWF client works once its endpoint points here.",
    )
    parser.add_argument("--port", type=int, default=8042, help="port to listen on, 0 for a free one (default 8042)")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; nothing is authenticated, so think before you open it (default 127.0.0.1)",
    )
    parser.add_argument("--db", metavar="FILE", help="SQLite file that keeps everything (default: in memory only)")
    parser.add_argument(
        "--hold", type=float, default=DEFAULT_HOLD, help="seconds that a poll waits for a task (default %(default)g)"
    )
    parser.add_argument(
        "--region",
        default="us-east-1",
        help="region that FILE is for, and that requests are for which are not signed; signed ones name theirs, and "
        "each further region has a file beside FILE (default %(default)s)",
    )
    return parser


def _open_files() -> None:
    """A poller that waits holds a socket; many systems allow only 1,024 at first, and more when asked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class CannotServe(Exception):
    """The address or the file cannot be had.

    Attributes:
        what: What happened.
        remedy: What to do.
        is_address: Whether it is the address, not the file.
    """

    def __init__(self, what: str, remedy: str, *, is_address: bool) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy
        self.is_address = is_address


def _complain(what: str, status: int) -> int:
    sys.stderr.write(f"flowpy.local: {what}\n")
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Serves until SIGINT or SIGTERM, as arguments say.

    Args:
        argv: Arguments; default those of the process.

    Returns:
        The exit status.
    """
    given = _parser().parse_args(argv)
    if not given.hold >= 0:
        return _complain("--hold is a number of seconds, 0 or more", 2)
    if not 0 <= given.port <= 65_535:
        return _complain("--port is a number from 0 to 65535", 2)
    try:
        return serve(**vars(given))
    except CannotServe as error:
        return _complain(str(error), 1)


def serve(
    *,
    port: int = 8042,
    host: str = "127.0.0.1",
    db: str | None = None,
    hold: float = DEFAULT_HOLD,
    region: str = "us-east-1",
    site: Callable[[Regions], Site] | None = None,
) -> int:
    """Serves until SIGINT or SIGTERM.

    Args:
        port: Port to listen on, 0 for a free one.
        host: Address to listen on.
        db: SQLite file that keeps everything; None: memory.
        hold: Seconds that a poll waits for a task.
        region: Region that the file is for, and requests that are not signed.
        site: Makes what answers requests that are none to SWF; default nothing but a line of text.

    Returns:
        The exit status.

    Raises:
        CannotServe: The address or the file cannot be had.
    """
    _open_files()
    try:
        regions = _regions(region, Path(db) if db else None)
    except OSError as error:
        what, _, remedy = str(error).rpartition("; ")
        raise CannotServe(what or str(error), remedy, is_address=False) from error
    try:
        server = Server(_application(regions, hold, site), host, port)
    except OSError as error:
        regions.close()
        remedy = _ADVICE.get(error.errno or 0, f"is {host} an address of this machine? --host takes another")
        raise CannotServe(error.strerror or str(error), remedy, is_address=True) from error
    # The first request of all reads the service's model, which takes a while.
    regions.engine().call("ListDomains", {"registrationStatus": "REGISTERED"})
    # What is there by now stays: the garbage collector need not go through it again and again.
    gc.freeze()
    kept = db or "memory"
    hint = f"use it with: export AWS_ENDPOINT_URL_SWF={server.url}"
    sys.stdout.write(f"Amazon SWF is at {server.url} ({kept}); {hint}\n")
    if site is not None:
        sys.stdout.write(f"In a browser on this machine: {server.url}\n")
    sys.stdout.flush()
    # uvicorn lets the signal that ended it happen once more: it must not keep the stores from being closed, nor be
    # lost where SIGINT was ignored before, as shells have it for what a script starts behind an "&".
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        server.run()
    except KeyboardInterrupt:
        return 130
    finally:
        regions.close()
    return 0


def _application(regions: Regions, hold: float, site: Callable[[Regions], Site] | None) -> Application:
    return Application(regions, hold, None if site is None else site(regions))


def _regions(default: str, path: Path | None) -> Regions:
    if path is None:
        return Regions(lambda region: Engine(SystemClock(), seed=_seed(), region=region), default)
    # sqlite3 comes with some Pythons and not with others; in memory it is not needed.
    from flowpy.local.store import SQLiteStore

    def make(region: str) -> Engine:
        store = SQLiteStore(file_of(path, region, default))
        return Engine(SystemClock(), seed=_seed(), region=region, store=store)

    return Regions(make, default, regions_beside(path))


def _seed() -> str:
    """Another one for every process, so that no two runs ever have the same runId."""
    return os.urandom(8).hex()

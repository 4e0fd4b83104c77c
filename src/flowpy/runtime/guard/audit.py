"""What Python reports by itself: audit events. The hook cannot be removed, so it is inert unless somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import Any, Final

Audited = Callable[[str, str, FrameType], None]
"""Called with the rule's id, the name of the call, and the frame that made it."""


def _events(rule: str, names: str) -> dict[str, tuple[str, str]]:
    return {name: (rule, name) for name in names.split()}


_EVENTS: Final[dict[str, tuple[str, str]]] = {
    "open": ("FLOW107", "open"),
    "builtins.input": ("FLOW112", "input"),
    **_events("FLOW106", "os.putenv os.unsetenv os.chdir socket.gethostname"),
    **_events(
        "FLOW107",
        "os.listdir os.scandir os.walk os.fwalk os.mkdir os.rmdir os.remove os.rename os.link os.symlink os.truncate "
        "os.chmod os.chown os.chflags os.utime os.lockf os.getxattr os.setxattr os.listxattr os.removexattr glob.glob "
        "glob.glob/2 pathlib.Path.glob pathlib.Path.rglob tempfile.mkstemp tempfile.mkdtemp shutil.copyfile "
        "shutil.copymode shutil.copystat shutil.copytree shutil.move shutil.rmtree shutil.chown shutil.make_archive "
        "shutil.unpack_archive mmap.__new__ fcntl.flock fcntl.lockf sqlite3.connect",
    ),
    **_events(
        "FLOW108",
        "socket.__new__ socket.bind socket.connect socket.sendto socket.sendmsg socket.getaddrinfo socket.getnameinfo "
        "socket.gethostbyname socket.gethostbyaddr socket.getservbyname socket.getservbyport urllib.Request "
        "http.client.connect http.client.send ftplib.connect imaplib.open poplib.connect smtplib.connect "
        "telnetlib.Telnet.open webbrowser.open",
    ),
    **_events(
        "FLOW109",
        "subprocess.Popen os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.kill os.killpg os.startfile "
        "pty.spawn",
    ),
    **_events("FLOW110", "_thread.start_new_thread _thread.start_joinable_thread"),
    **_events("FLOW111", "time.sleep"),
    "sys.setprofile": ("", ""),
}

_stays: Final[dict[int, BaseException]] = {}
"""Threads whose profile function has just raised an error."""

_found: Audited | None = None


def install(found: Audited) -> None:
    """Have audit events of forbidden calls told to a function; the hook is installed once for the process."""
    global _found  # noqa: PLW0603 - there is one hook in a process, whoever asks for it
    if _found is None:
        sys.addaudithook(_hook)
    _found = found


def keep_profile(error: BaseException) -> None:
    """Have Python keep a profile function although it raises an error now.

    Python drops it then, which is an audit event like any other: the hook raises the same error there, and so refuses.
    """
    _stays[get_ident()] = error


def _hook(event: str, arguments: Any, events: Any = _EVENTS) -> None:
    # A default and no global: the hook is still called when the modules of a process that ends are gone.
    if event not in events or _found is None:
        return
    if event == "sys.setprofile":
        error = _stays.pop(get_ident(), None)
        if error is not None:
            raise error
    elif event != "open" or not _is_time_zone(arguments[0]):
        rule, call = events[event]
        _found(rule, call, sys._getframe(1))


def _is_time_zone(path: Any) -> bool:
    """Whether a file is of the time zone database: part of the installation as code is, and opened by C code."""
    # Imports open files too: while zoneinfo itself is imported it has no TZPATH yet.
    folders: tuple[str, ...] = getattr(sys.modules.get("zoneinfo"), "TZPATH", ())
    return isinstance(path, str) and path.startswith(folders)

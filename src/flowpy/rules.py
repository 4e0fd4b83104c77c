"""What workflow code must not do, as one table: the guard holds it while code runs, ``flowpy check`` in its text.

A rule's id never changes, and its names are dotted as in an import: ``"datetime.datetime.now"``. A name that ends in
``.*`` stands for every function of a module.

    >>> RULES["FLOW105"].replacement
    'flowpy.uuid4()'
    >>> rule_of("subprocess.run").id
    'FLOW109'
"""

from __future__ import annotations

import re
from typing import Final, Literal

from attrs import frozen

__all__ = ["COMPUTES_BEYOND", "PATH_METHODS", "RULES", "Rule", "ignored", "rule_of"]


@frozen
class Rule:
    """One thing that workflow code must not do.

    Attributes:
        id: ``FLOW`` and three digits, for ever.
        name: A few words.
        why: What goes wrong.
        replacement: What to write instead.
        calls: Dotted names of functions and modules that do it.
        severity: ``"error"``, or ``"warning"`` for what can be right.
        seen_by: Who finds it: ``"guard, check"``, ``"check"``.
    """

    id: str
    name: str
    why: str
    replacement: str
    calls: tuple[str, ...] = ()
    severity: Literal["error", "warning"] = "error"
    seen_by: str = "guard, check"


def _in(module: str, names: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for name in names.split())


_ACTIVITY: Final = "do it in an activity"

_CLOCK: Final = (
    *_in("time", "time time_ns localtime gmtime ctime asctime strftime"),
    *_in("datetime.datetime", "now utcnow today"),
    "datetime.date.today",
)
_MONOTONIC: Final = _in(
    "time",
    "monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns thread_time thread_time_ns "
    "clock_gettime clock_gettime_ns",
)
_ENVIRONMENT: Final = (
    *_in("os", "environ environb getenv getenvb putenv unsetenv getpid getppid getlogin cpu_count getloadavg uname"),
    *_in("os", "getcwd getcwdb chdir get_terminal_size process_cpu_count sched_getaffinity"),
    *_in("platform", "node uname platform machine system release version processor"),
    *_in("socket", "gethostname getfqdn"),
    *_in("getpass", "getuser"),
)
_FILES: Final = (
    *_in("builtins", "open"),
    *_in("io", "open open_code FileIO"),
    *_in("os", "open listdir scandir walk fwalk stat lstat access readlink remove unlink rename renames replace mkdir"),
    *_in("os", "makedirs rmdir removedirs link symlink truncate chmod chown utime statvfs mkfifo"),
    *_in("os.path", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath samefile"),
    *_in("os.path", "expanduser abspath"),
    *_in("glob", "glob iglob"),
    *_in("pathlib.Path", "cwd home"),
    *_in("sqlite3", "connect"),
    *("shutil.*", "tempfile.*", "fileinput.*"),
)
_NETWORK: Final = (
    "socket.*",
    "urllib.request.*",
    *_in("http.client", "HTTPConnection HTTPSConnection"),
    *("smtplib.*", "ftplib.*", "imaplib.*", "poplib.*"),
    *_in("asyncio", "open_connection open_unix_connection start_server start_unix_server"),
    *("requests.*", "httpx.*", "urllib3.*", "aiohttp.*", "boto3.*", "botocore.session.*"),
    *_in("psycopg", "connect"),
    *_in("psycopg2", "connect"),
)
_SUBPROCESS: Final = (
    "subprocess.*",
    *_in("os", "system popen fork forkpty posix_spawn posix_spawnp kill killpg startfile"),
    *_in("os", "execl execle execlp execlpe execv execve execvp execvpe spawnl spawnle spawnv spawnve spawnlp spawnvp"),
    "pty.spawn",
    *_in("asyncio", "create_subprocess_exec create_subprocess_shell"),
)
_THREADS: Final = (
    *_in("threading", "Thread Timer"),
    *_in("_thread", "start_new_thread start_joinable_thread"),
    *_in("concurrent.futures", "ThreadPoolExecutor ProcessPoolExecutor InterpreterPoolExecutor"),
    *_in("multiprocessing", "Process Pool Manager Queue"),
    *("multiprocessing.pool.*", "asyncio.to_thread"),
)

_TABLE: Final = (
    Rule("FLOW101", "wall clock", "each replay reads another time", "flowpy.now()", _CLOCK),
    Rule(
        "FLOW102",
        "other clocks",
        "each replay measures another time",
        "flowpy.now(); to measure the work itself, do it in an activity",
        _MONOTONIC,
    ),
    Rule(
        "FLOW103",
        "chance",
        "each replay draws other numbers",
        "flowpy.random(), or random.Random with a seed of its own",
        ("random.*",),
    ),
    Rule(
        "FLOW104",
        "entropy",
        "each replay gets other bytes",
        "flowpy.random().getrandbits(); a secret comes from an activity",
        (*_in("os", "urandom getrandom"), "secrets.*", "random.SystemRandom"),
    ),
    Rule(
        "FLOW105",
        "uuid",
        "each replay makes another id",
        "flowpy.uuid4()",
        _in("uuid", "uuid1 uuid4 uuid6 uuid7 getnode"),
    ),
    Rule(
        "FLOW106",
        "environment",
        "another machine, or the next deployment, has another one",
        "the workflow's input, or flowpy.side_effect()",
        _ENVIRONMENT,
    ),
    Rule("FLOW107", "files", "each replay reads what is there then, and writes again", _ACTIVITY, _FILES),
    Rule("FLOW108", "network", "each replay asks again, and is answered otherwise", _ACTIVITY, _NETWORK),
    Rule("FLOW109", "subprocess", "each replay runs it again", _ACTIVITY, _SUBPROCESS),
    Rule(
        "FLOW110",
        "threads, executors",
        "what runs beside the code ends at another moment in each replay",
        f"asyncio.create_task for workflow code; for work, {_ACTIVITY}",
        _THREADS,
    ),
    Rule(
        "FLOW111",
        "blocking sleep",
        "it holds up every run of the worker, and again in each replay",
        "await asyncio.sleep(...), in plain def code flowpy.sleep(...).result(): a durable timer",
        _in("time", "sleep"),
    ),
    Rule(
        "FLOW112",
        "input",
        "nobody is there to answer, and each replay asks again",
        "a flowpy.Signal",
        (*_in("builtins", "input"), "sys.stdin", "getpass.getpass"),
    ),
    Rule(
        "FLOW120",
        "order of a set",
        "text hashes otherwise in each process, so a set of it has another order",
        "sorted(...), a list or a dict",
        seen_by="check",
    ),
    Rule(
        "FLOW121",
        "id() and hash()",
        "addresses and the hashes of text differ in each process",
        "a key of the data itself",
        _in("builtins", "id hash"),
        seen_by="check",
    ),
    Rule(
        "FLOW122",
        "as_completed of coroutines",
        "their tasks are made in the order of addresses (the loop refuses it too)",
        "asyncio.create_task each first, or give it promises",
        seen_by="check",
    ),
    Rule(
        "FLOW123",
        "another event loop",
        "workflow code runs on the run's own loop, stepped by the worker",
        "await the coroutine",
        _in("asyncio", "run Runner new_event_loop set_event_loop"),
        seen_by="check",
    ),
    Rule(
        "FLOW130",
        "swallowed control flow",
        "cancellation, continue_as_new and the end of the code in memory are BaseExceptions: swallowed, they are lost",
        "except Exception, or raise at the end of the handler",
        seen_by="check",
    ),
    Rule(
        "FLOW131",
        "state of the module",
        "runs share it, and a replay in another process does not find it",
        "arguments, local variables, attributes of the workflow's object",
        severity="warning",
        seen_by="check",
    ),
    Rule("FLOW190", "file that cannot be read", "nothing in it was checked", "correct the syntax", seen_by="check"),
    Rule(
        "FLOW191",
        "ignored without a reason",
        "nobody will know why it is harmless",
        "# flowpy: ignore[FLOW101] because ...",
        seen_by="check",
    ),
)

RULES: Final = {rule.id: rule for rule in _TABLE}
"""Every rule by its id, in order."""

PATH_METHODS: Final = frozenset(
    "chmod exists expanduser glob group hardlink_to is_dir is_file is_mount is_symlink iterdir lchmod lstat "
    "mkdir open owner read_bytes read_text readlink rename replace resolve rglob rmdir samefile stat symlink_to touch "
    "unlink walk write_bytes write_text".split()
)
"""Methods of ``pathlib.Path`` that touch the disk; the others only compute."""

COMPUTES_BEYOND: Final = {
    "time.localtime": 0,
    "time.gmtime": 0,
    "time.ctime": 0,
    "time.asctime": 0,
    "time.strftime": 1,
}
"""Functions that read the clock only if they are given no more arguments than that; with more they compute."""

_CALLS: Final = {name: rule for rule in _TABLE for name in rule.calls}
_HARMLESS: Final = frozenset({"random.Random", "socket.inet_aton", "socket.inet_ntoa", "socket.htons", "socket.ntohs"})


def rule_of(name: str) -> Rule | None:
    """The rule that using a dotted name breaks, or None: its own, or that of what it is a part of.

    >>> rule_of("os.environ.get").id, rule_of("os.path.join")
    ('FLOW106', None)
    """
    if name in _HARMLESS:
        return None
    while name:
        rule = _CALLS.get(name)
        package = name.rpartition(".")[0]
        if rule is None:
            rule = _CALLS.get(f"{package}.*")
        if rule is not None:
            return rule
        name = package
    return None


_IGNORE: Final = re.compile(r"#\s*flowpy:\s*ignore\[(?P<ids>[\w\s,]*)\]\s*(?P<reason>.*)")


def ignored(line: str) -> tuple[frozenset[str], str]:
    """The rules that a comment in a line of code asks not to be reported, and the reason it gives.

    >>> ids, reason = ignored("pid = os.getpid()  # flowpy: ignore[FLOW106] only for the log")
    >>> sorted(ids), reason
    (['FLOW106'], 'only for the log')
    """
    found = _IGNORE.search(line) if "flowpy:" in line else None
    if found is None:
        return frozenset(), ""
    return frozenset(filter(None, re.split(r"[\s,]+", found["ids"]))), found["reason"].strip()

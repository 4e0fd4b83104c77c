"""Worker processes at full load for a long time: is memory flat, do threads or descriptors leak?

    python benchmarks/soak.py [--minutes 30] [--processes 2] [--open 40] [--json] [--check]

Worker processes (``flowpy worker --processes N``) and the embedded service, in memory, each a process of its own.
Every run has activities one after another and two at once (``def`` and ``async def``), a timer, signals and a child;
``--open`` of them are open at any time, each that ends is followed by a new one. The service keeps all histories: its
memory grows and is shown only for comparison.

The verdict is the slope of a line through the memory of each worker after the warm-up, the first fifth of the time
(Theil-Sen: the median of the slopes of all pairs, which single outliers do not move), and the number of threads and
descriptors at the end beside that after the warm-up.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import local_servers
from attrs import frozen
from timing import table

CACHED: Final = 50
"""Runs that a worker keeps at most. One that went on in another process is kept until there is no room for it: with the
default of 1,000 that takes longer than the warm-up."""
FLAT: Final = 2.0
"""MiB an hour that a process may grow by and be flat, when measured for half an hour."""
SPARE: Final = 3
"""Threads or descriptors that may be more at the end than after the warm-up: which are open changes all the time."""
WARM: Final = 0.2
EVERY: Final = 10.0
"""Seconds between two looks."""
HERE: Final = Path(__file__).parent

LOAD = """
import asyncio
import flowpy

go_on = flowpy.Signal("go_on", int)

@flowpy.activity
def add(number: int) -> int:
    return number + 1

@flowpy.activity
async def double(number: int) -> int:
    await asyncio.sleep(0.01)
    return number * 2

@flowpy.activity
def fail(number: int) -> int:
    raise ValueError("x" * 500)

@flowpy.workflow
def child(number: int) -> int:
    return add(number).result()

@flowpy.workflow
async def soak(steps: int) -> int:
    number = 0
    for _ in range(steps):
        number = await add(number)
    for one in await asyncio.gather(double(number), double(number)):
        number += one
    try:
        await fail(number)
    except flowpy.ActivityFailed:
        number += 1
    await asyncio.sleep(1)
    number += await go_on.receive()
    return await child(number)
"""


@frozen
class Sample:
    """What was seen of a process at a time.

    Attributes:
        seconds: Since the start.
        kib: Resident memory.
        threads: Its threads.
        descriptors: Its open files and sockets.
    """

    seconds: float
    kib: int
    threads: int
    descriptors: int


def look(pid: int, seconds: float) -> Sample:
    """What /proc says of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found = dict(re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE))
    return Sample(seconds, int(found["VmRSS"]), int(found["Threads"]), len(list(Path(f"/proc/{pid}/fd").iterdir())))


def slope(samples: list[Sample]) -> float:
    """MiB an hour."""
    pairs = itertools.combinations(samples, 2)
    slopes = [(b.kib - a.kib) / 1024 / (b.seconds - a.seconds) * 3600 for a, b in pairs]
    return statistics.median(slopes) if slopes else 0.0


class Load:
    """Keeps a number of runs open, on threads of its own."""

    def __init__(self, url: str, open_runs: int) -> None:
        sys.path.insert(0, str(Path.cwd()))
        import soaking

        from flowpy import Client

        self.module, self.client = soaking, Client("soak", endpoint_url=url)
        self.ended, self.wrong = 0, 0
        self._enough, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(open_runs)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Start no more runs, and wait for those that are open."""
        self._enough.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, number: int) -> None:
        for count in itertools.count():
            if self._enough.wait(0.01):
                return
            id_ = f"soak-{number}-{count}"
            # A kept connection may be closed just as it is used; with an id of its own a run is started only once.
            run = _persist(lambda id_=id_: self.client.start(self.module.soak, 10, workflow_id=id_, attach=True))
            _persist(lambda run=run: run.signal(self.module.go_on, number))
            # 10 + 2 · 20, and one for the failure, and the signal, and one in the child.
            right = run.result(timeout=300) == 52 + number
            with self._lock:
                self.ended += 1
                self.wrong += not right


def _persist(call: Callable[[], Any]) -> Any:
    from flowpy import ServiceUnavailable

    while True:
        try:
            return call()
        except ServiceUnavailable:
            time.sleep(0.1)


@contextlib.contextmanager
def workers(url: str, processes: int, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """``flowpy worker --processes N``."""
    options = ["--domain", "soak", "--register-domain", "1", "--endpoint-url", url, "--log-level", "ERROR"]
    options += ["--cached-runs", str(CACHED)]
    # Nothing is open any more when they are stopped: their polls need not be waited for.
    options += ["--grace", "5", "--processes", str(max(2, processes)), "--health-port", str(port)]
    process = subprocess.Popen([sys.executable, "-m", "flowpy.cli", "worker", "soaking", *options])  # noqa: S603
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(120)
        if code:
            print(f"the workers ended with exit code {code}", file=sys.stderr)


def health(port: int, path: str = "healthz") -> dict[str, Any]:
    """What the supervisor says."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as reply:
        told: dict[str, Any] = json.load(reply)
        return told


def wait_until_ready(port: int) -> None:
    """Wait until all workers poll."""
    for _ in range(600):
        with contextlib.suppress(OSError):
            health(port, "readyz")
            return
        time.sleep(0.1)
    raise SystemExit("the workers did not start")


def soak(minutes: float, processes: int, open_runs: int, show: bool) -> dict[str, Any]:
    """Run it. Returns the figures."""
    port = local_servers._free_port()  # noqa: SLF001 - of the same folder
    with local_servers.flowpy_server() as server, workers(server.url, processes, port) as supervisor:
        wait_until_ready(port)
        pids = {f"worker {each['number']}": each["pid"] for each in health(port)["processes"]}
        watched = {"service": server.pid, "supervisor": supervisor.pid, **pids}
        samples: dict[str, list[Sample]] = {name: [] for name in watched}
        load = Load(server.url, open_runs)
        load.start()
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < minutes * 60:
            time.sleep(min(EVERY, max(0.1, minutes * 60 - now)))
            for name, pid in watched.items():
                samples[name].append(look(pid, time.monotonic() - begin))
            if show:
                said = " ".join(f"{name} {each[-1].kib // 1024} MiB" for name, each in samples.items())
                print(f"{now:5.0f} s, {load.ended} runs: {said}", file=sys.stderr, flush=True)
        seconds, ended = time.monotonic() - begin, load.ended
        load.stop()
        report = health(port)
        same = {f"worker {each['number']}": each["pid"] for each in report["processes"]} == pids
    return {
        "python": platform.python_version(),
        "minutes": minutes,
        "runs": ended,
        "runs_per_second": ended / seconds,
        "wrong_results": load.wrong,
        "workers_died": not same,
        "counts": [each.get("counts", {}) for each in report["processes"]],
        "processes": {name: figures(each) for name, each in samples.items()},
    }


def figures(samples: list[Sample]) -> dict[str, Any]:
    """Of one process: at the end of the warm-up, at the end, and the slope between."""
    warm = samples[int(len(samples) * WARM) :]
    first, last = warm[0], warm[-1]
    return {
        "mib": [first.kib / 1024, last.kib / 1024],
        "mib_per_hour": slope(warm),
        "threads": [first.threads, last.threads],
        "descriptors": [first.descriptors, last.descriptors],
    }


def faults(result: dict[str, Any]) -> list[str]:
    """What is not as it should be."""
    found = [] if not result["wrong_results"] else [f"{result['wrong_results']} wrong results"]
    if result["workers_died"]:
        found.append("a worker died")
    # Shorter than this, what Python's allocator does once is a steep slope.
    allowed = FLAT * max(1.0, (30 / result["minutes"]) ** 2)
    for name, each in result["processes"].items():
        if name == "service":
            continue
        if each["mib_per_hour"] > allowed:
            found.append(f"{name} grows by {each['mib_per_hour']:.1f} MiB an hour, over {allowed:.1f}")
        found += [
            f"{name} has {each[what][1]} {what}, {each[what][0]} after the warm-up"
            for what in ("threads", "descriptors")
            if each[what][1] > each[what][0] + SPARE
        ]
    return found


def main() -> int:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0, help="how long, default 30")
    parser.add_argument("--processes", type=int, default=2, help="worker processes, 2 or more, default 2")
    parser.add_argument("--open", type=int, default=40, help="runs that are open at any time, default 40")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit code 1 if memory, threads or descriptors grow")
    given = parser.parse_args()
    os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "soaking.py").write_text(LOAD, encoding="utf-8")
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])
        with contextlib.chdir(folder):
            result = soak(given.minutes, given.processes, given.open, not given.json)
    result["faults"] = faults(result)
    if given.json:
        print(json.dumps(result, indent=2))
    else:
        rows = [
            [name, *each["mib"], each["mib_per_hour"], *each["threads"], *each["descriptors"]]
            for name, each in result["processes"].items()
        ]
        head = ["", "MiB warm", "MiB end", "MiB / h", "threads warm", "end", "descriptors warm", "end"]
        print(table(head, rows))
        print(f"\n{result['runs']} runs in {given.minutes:g} minutes, {result['runs_per_second']:.1f} a second")
        print("not flat: " + "; ".join(result["faults"]) if result["faults"] else "flat: nothing grows")
    return 1 if given.check and result["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())

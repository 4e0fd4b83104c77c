"""Activities that run in processes of their own; a module by itself, because those processes import it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path

from flowpy.data import Converter, Encryption, Payloads
from flowpy.declare import activity
from flowpy.errors import ActivityCancelRequested, ApplicationError
from flowpy.worker import current_activity


class Cents:
    def __init__(self, amount: int) -> None:
        self.amount = amount


converter = Converter(payloads=Payloads([Encryption({"k": bytes(32)}, current="k")]))
converter.register(Cents, encode=lambda cents: cents.amount, decode=Cents)


@activity(executor="process")
def where(day: date) -> list[int]:
    return [os.getpid(), os.getppid(), day.year]


@activity(executor="process")
def broken(name: str) -> None:
    raise ApplicationError("no such day", type="NoSuchDay", data={"name": name})


@activity(executor="process")
def end(way: str) -> None:
    current_activity().heartbeat({"way": way})
    if way == "exit":
        os._exit(7)
    os.kill(os.getpid(), getattr(signal, way))


@activity(executor="process")
def leave(name: str) -> None:
    sys.exit(3)


@activity(executor="process")
def patient(folder: str) -> str:
    """Stops at a heartbeat."""
    running = current_activity()
    running.heartbeat("begun")
    assert running.cancellation.wait(20)
    try:
        running.heartbeat("stopping")
    finally:
        Path(folder, "stopped").touch()
    return "not reached"


@activity(executor="process")
def deaf(folder: str) -> None:
    """Never heartbeats, but lets go of what it holds when it is terminated."""
    try:
        current_activity().heartbeat("begun")
        time.sleep(20)
    finally:
        Path(folder, "terminated").touch()


@activity(executor="process")
def stubborn(folder: str) -> None:
    """Does not even end when it is terminated."""
    begun = current_activity().heartbeat
    while True:
        try:
            begun()
            time.sleep(20)
        except ActivityCancelRequested:
            Path(folder, "terminated").touch()


@activity(executor="process")
def locked(folder: str) -> None:
    """C code that holds the interpreter's lock, with a process of its own."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"])
    Path(folder, "pids").write_text(f"{os.getpid()} {child.pid}")
    Path(folder, "pids").rename(Path(folder, "began"))
    ctypes.PyDLL(None).sleep(20)


@activity(executor="process")
def fork(name: str) -> int | None:
    forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,))
    forked.start()
    forked.terminate()
    forked.join(10)
    return forked.exitcode


@activity(executor="process")
def resume(name: str) -> list[object]:
    running = current_activity()
    return [running.attempt, running.last_details(dict[str, int])]


@activity(executor="process")
def double(cents: Cents) -> Cents:
    return Cents(cents.amount * 2)


@activity(executor="process")
def speak(name: str) -> None:
    os.write(1, f"out {name}\n".encode())
    sys.stderr.write(f"err {name}\n")


@activity(executor="process", manual=True)
def hand_over(folder: str) -> None:
    Path(folder, "token").write_text(current_activity().task_token)


def plain(number: int) -> int:
    return number + 1


declared_elsewhere = activity(name="plus_one", executor="process")(plain)


class Shop:
    @activity(executor="process")
    @staticmethod
    def count(items: list[str]) -> int:
        return len(items)


@activity(executor="process")
def threads(name: str) -> bool:
    return threading.current_thread() is threading.main_thread()

"""What runs in a process of its own: activities with ``executor="process"``, one after the other.

The process is one of the worker's, started by ``multiprocessing``'s start method "spawn", so that it shares no lock and
no connection with it. What goes through the pipe is JSON: where the function is, which the worker knows by its own
declarations and never by a task, the task and its input one way, heartbeats and the answer the other way.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import FrameType
from typing import Any, Final

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.redaction import hiding
from flowpy.declare.activity import Activity, activity
from flowpy.errors import ActivityCancelRequested, CallError, ServiceUnavailable
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import Response, execute, failed

__all__ = ["NAME", "imported", "refuse_to_start_here", "serve"]

NAME: Final = "flowpy-activity"
"""Name of the processes."""

_LINGER: Final = 5.0
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

Message = dict[str, Any]


def imported(module: str, qualname: str) -> Any:
    """Import what a module has under a name.

    Args:
        module: Name of the module.
        qualname: Dotted name in it.

    Raises:
        ImportError: There is no such module, or importing it fails.
        AttributeError: It has no such name.
    """
    found: Any = import_module(module)
    for name in qualname.split("."):
        found = getattr(found, name)
    return found


def refuse_to_start_here() -> None:
    """Refuse to start a worker in such a process.

    Raises:
        CallError: The program starts a worker whenever it is imported, and the process has just done so.
    """
    if multiprocessing.current_process().name == NAME:
        raise CallError(
            "a worker was started by importing the program: a process that runs activities imports it too",
            remedy='start the worker under if __name__ == "__main__":',
        )


def serve(connection: Connection, lifeline: Connection) -> None:
    """Run activities until the worker closes the connection or is gone.

    Args:
        connection: Where messages go and come.
        lifeline: The end of a pipe to which nothing is ever written; it closes when the worker dies.
    """
    # A group of its own: keys pressed in the worker's terminal do not reach it, and whatever it starts ends with it.
    os.setsid()
    _die_with(lifeline)
    _Child(connection).run()


def _die_with(lifeline: Connection) -> None:
    """Have the kernel end this group when the lifeline closes, even while C code holds the interpreter's lock.

    Elsewhere than on Linux the thread that reads does it, as soon as it gets the lock.
    """
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        # SIGIO ends a process that does not handle it.
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


class _Child:
    """Activities run on the main thread, where a signal can interrupt them; another thread reads messages."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._tasks: SimpleQueue[Message | None] = SimpleQueue()
        self._replies: SimpleQueue[Message] = SimpleQueue()
        self._loop = ActivityLoop()
        self._context: ActivityContext | None = None
        self._token = ""
        self._cancel: Message | None = None
        self._is_working = False
        self._is_interruptible = False
        self._is_to_end = False

    def run(self) -> None:
        """Work until there is nobody to work for."""
        # The worker decides: a service manager that signals all processes must not take its grace from it.
        for number in _SIGNALS:
            signal.signal(number, self._interrupt)
        # What an activity forks must be ended by them as ever: multiprocessing's pools do it so.
        fork = _Fork()
        os.register_at_fork(before=fork.begin, after_in_parent=fork.end, after_in_child=fork.begin_anew)
        threading.Thread(target=self._read, name="flowpy-messages", daemon=True).start()
        while (task := self._tasks.get()) is not None:
            answer = self._work(task)
            self._context, self._is_working = None, False
            self._send({"answer": answer})

    # --- the activity -------------------------------------------------------------------------

    def _work(self, task: Message) -> Message | None:
        converter = DEFAULT
        context = ActivityContext(task["task"], task["domain"])
        try:
            converter = DEFAULT if task["converter"] is None else imported(*task["converter"])
            context = self._begin(task, converter)
            self._is_interruptible = True
            with hiding(converter.payloads.redact):
                response = execute(_declared(task), task["input"], context, converter, self._loop)
        except ActivityCancelRequested:
            response = Response("RespondActivityTaskCanceled", {})
        except BaseException as error:
            response = failed(error, context, converter)
        finally:
            self._is_interruptible = False
        if context.has_unsent_details:
            self._beat(context)
        return None if response is None else {"operation": response.operation, "fields": response.fields}

    def _begin(self, task: Message, converter: Converter) -> ActivityContext:
        self._context = ActivityContext(
            task["task"], task["domain"], converter=converter, wake=self._beat, previous=self._previous
        )
        self._pass_on()
        return self._context

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_to_end and self._is_interruptible:
            self._is_interruptible = False
            raise ActivityCancelRequested("the activity was asked to stop, did not, and is terminated")

    def _beat(self, context: ActivityContext) -> None:
        self._send({"heartbeat": context.take_details() if context.has_unsent_details else None})

    def _previous(self, _context: ActivityContext) -> str | None:
        self._send({"previous": None})
        reply = self._replies.get()
        if reply.get("error") is not None:
            raise ServiceUnavailable(reply["error"], operation="GetWorkflowExecutionHistory")
        details: str | None = reply["details"]
        return details

    # --- messages -----------------------------------------------------------------------------

    def _send(self, message: Message) -> None:
        with _uninterrupted(), self._sending:
            self._connection.send_bytes(json.dumps(message).encode())

    def _read(self) -> None:
        try:
            while True:
                self._take(json.loads(self._connection.recv_bytes()))
        except (EOFError, OSError):
            pass
        # Closed: an idle process ends as Python does; one that works for nobody any more is ended.
        if not self._is_working:
            self._tasks.put(None)
            time.sleep(_LINGER)
        os.killpg(0, signal.SIGKILL)

    def _take(self, message: Message) -> None:
        match message["do"]:
            case "run":
                self._token, self._cancel = message["task"]["taskToken"], None
                self._is_to_end, self._is_working = False, True
                self._tasks.put(message)
            case "cancel" if message["token"] == self._token:
                self._cancel = message
                self._pass_on()
            case "cancel":
                pass  # its activity has ended, and another one runs here by now
            case "previous":
                self._replies.put(message)
            case "terminate":
                self._is_to_end = True
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _pass_on(self) -> None:
        # Called by both threads: whichever comes second has the message as well as the context.
        context, cancel = self._context, self._cancel
        if context is not None and cancel is not None:
            context.request_cancel(gone=cancel["gone"])


def _declared(task: Message) -> Activity[..., Any]:
    """The activity, whether the name is that of its declaration or of the plain function that was declared."""
    found = imported(*task["function"])
    plain = found.fn if isinstance(found, Activity) else found
    declared: Activity[..., Any] = activity(**task["task"]["activityType"], manual=task["manual"])(plain)
    return declared


class _Fork(threading.local):
    """Signals are held back while a thread forks, or the one that comes too early would be lost."""

    before: Collection[int] = ()

    def begin(self) -> None:
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)

    def end(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)

    def begin_anew(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.end()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold signals back: a message must be sent as a whole or not at all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""The processes in which a worker runs activities with ``executor="process"``.

There are as many as run at once, bounded by the worker's places for activities; they are kept for the next tasks. One
that dies fails the task it ran and no other, and the next task gets a new one.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from attrs import define, field

from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.activity import Activity
from flowpy.errors import ActivityProcessDied, DeclarationError, PayloadError, ServiceError
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.child import imported
from flowpy.worker.executing import Response, failed
from flowpy.worker.process import ActivityProcess

__all__ = ["Processes"]

_KILL_AFTER: Final = 3.0
_LOOK_EVERY: Final = 0.5
_CANCELED: Final = Response("RespondActivityTaskCanceled", {})


@define(eq=False)
class Processes:
    """Runs activities in processes.

    Args:
        activities: Those that may be run; checked here, so that a worker does not start with one that never could.
        converter: Decodes the arguments and encodes the result, in the process.
        previous: Gives what the attempts before had recorded.
        grace: Seconds that a cancelled activity gets to stop.

    Raises:
        DeclarationError: An activity, or the converter, cannot be imported by name.
    """

    activities: Iterable[Activity[..., Any]]
    converter: Converter
    previous: Callable[[ActivityContext], str | None]
    grace: float
    _converter_name: tuple[str, str] | None = field(init=False)
    _idle: list[ActivityProcess] = field(factory=list, init=False)
    _all: set[ActivityProcess] = field(factory=set, init=False)
    _is_closed: bool = field(default=False, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _owner: int = field(factory=os.getpid, init=False)

    def __attrs_post_init__(self) -> None:
        for activity in self.activities:
            _check(activity)
        self._converter_name = None if self.converter is DEFAULT else _name_of(self.converter)
        # Before multiprocessing waits for its processes, as it does when the interpreter ends.
        atexit.register(self.close)

    def run(self, activity: Activity[..., Any], text: str | None, context: ActivityContext) -> Response | None:
        """Run an activity to its end in a process. Raises nothing.

        Args:
            activity: The declared activity.
            text: Input of the task, None if it has none.
            context: Context of the task here, to which heartbeats go and from which a cancel comes.

        Returns:
            The answer, or None if there is none: a manual activity returned, or the worker has stopped.
        """
        try:
            process = self._take()
        except Exception as error:
            return failed(error, context, self.converter)
        if process is None:
            return None
        conversation = _Conversation(process, context, self.previous, self.grace)
        try:
            answer = conversation.hold(self._message(activity, text, context))
        except (EOFError, OSError):
            return self._died(process, activity, context, conversation)
        if conversation.terminated is None:
            self._give_back(process)
        else:
            self._discard(process)
        if answer is None or self._is_closed:
            return None
        return Response(answer["operation"], answer["fields"])

    @property
    def is_closed(self) -> bool:
        """Whether the worker has stopped: an activity without an answer has not ended then, it was ended."""
        return self._is_closed

    def close(self) -> None:
        """End all processes; activities that still run are terminated, and killed if that does not end them soon."""
        atexit.unregister(self.close)
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._is_closed = True
            every, idle = list(self._all), list(self._idle)
            self._idle.clear()
        for process in idle:
            process.close()
        for process in set(every).difference(idle):
            with suppress(OSError):
                process.send({"do": "terminate"})
        deadline = time.monotonic() + _KILL_AFTER
        for process in every:
            if not process.join(max(0.0, deadline - time.monotonic())):
                process.kill()
                process.join(_KILL_AFTER)

    def _message(self, activity: Activity[..., Any], text: str | None, context: ActivityContext) -> dict[str, Any]:
        return {
            "do": "run",
            "function": [activity.fn.__module__, activity.fn.__qualname__],
            "converter": self._converter_name,
            "manual": activity.manual,
            "domain": context.domain,
            "task": {
                "taskToken": context.task_token,
                "activityId": context.activity_id,
                "activityType": activity.type,
                "workflowExecution": {"workflowId": context.workflow_id, "runId": context.run_id},
            },
            "input": text,
        }

    def _died(
        self,
        process: ActivityProcess,
        activity: Activity[..., Any],
        context: ActivityContext,
        conversation: _Conversation,
    ) -> Response | None:
        self._discard(process)
        if self._is_closed:
            return None
        if conversation.terminated is not None:
            return _CANCELED
        error = ActivityProcessDied(
            f"the process that ran activity {activity.name!r} died: {process}; what it had to say is in the worker's "
            "standard error. SIGKILL is often the system, short of memory"
        )
        return failed(error, context, self.converter)

    # --- processes ----------------------------------------------------------------------------

    def _take(self) -> ActivityProcess | None:
        with self._lock:
            while self._idle and not self._is_closed:
                process = self._idle.pop()
                if process.is_alive:
                    return process
                self._all.discard(process)
                process.close()
        process = ActivityProcess.start()
        with self._lock:
            if not self._is_closed:
                self._all.add(process)
                return process
        process.kill()
        return None

    def _give_back(self, process: ActivityProcess) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append(process)
                return
        process.close()

    def _discard(self, process: ActivityProcess) -> None:
        process.kill()
        process.join(_KILL_AFTER)
        process.close()
        with self._lock:
            self._all.discard(process)


@define(eq=False)
class _Conversation:
    """One activity in one process, from its task to its answer."""

    process: ActivityProcess
    context: ActivityContext
    previous: Callable[[ActivityContext], str | None]
    grace: float
    canceled: float | None = None
    terminated: float | None = None

    def hold(self, task: dict[str, Any]) -> dict[str, Any] | None:
        """Raises EOFError or OSError if the process dies."""
        self.process.send(task)
        self.context.when_canceled(self._cancel)
        while True:
            message = self.process.receive(_LOOK_EVERY)
            self._press()
            if message is None:
                continue
            if "answer" in message:
                answer: dict[str, Any] | None = message["answer"]
                return answer
            if "previous" in message:
                self.process.send({"do": "previous", **self._previous()})
            else:
                self.context.record(message["heartbeat"])

    def _cancel(self) -> None:
        with suppress(OSError):
            # Perhaps long after the end, when the process runs something else: the token tells.
            self.process.send({"do": "cancel", "token": self.context.task_token, "gone": self.context.gone})

    def _previous(self) -> dict[str, Any]:
        try:
            return {"details": self.previous(self.context)}
        except (ServiceError, PayloadError) as error:
            return {"error": str(error)}

    def _press(self) -> None:
        """Ask an activity that was cancelled ever more urgently."""
        if not self.context.cancel_requested:
            return
        now = time.monotonic()
        if self.canceled is None:
            self.canceled = now
        elif self.terminated is None:
            if now - self.canceled >= self.grace:
                self.terminated = now
                self.process.send({"do": "terminate"})
        elif now - self.terminated >= _KILL_AFTER:
            self.process.kill()


def _check(activity: Activity[..., Any]) -> None:
    """Refuse what the process would not find."""
    fn = activity.fn
    where = f"activity {activity.name!r}: another process cannot import {fn.__qualname__!r} from {fn.__module__!r}"
    try:
        found = imported(fn.__module__, fn.__qualname__)
    except (ImportError, AttributeError) as error:
        raise DeclarationError(f"{where}: {error}") from error
    if (found.fn if isinstance(found, Activity) else found) is not fn:
        raise DeclarationError(f"{where}: something else has that name there")
    if fn.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        raise DeclarationError(f"{where}: it was typed in, and is in no file")


def _name_of(converter: Converter) -> tuple[str, str]:
    """Module and name of a converter, by which another process gets one that does the same."""
    # __main__ last: the process would have to run the whole program for it.
    for name, module in sorted(sys.modules.items(), key=lambda item: item[0] == "__main__"):
        for key, value in list(getattr(module, "__dict__", {}).items()):
            if value is converter:
                return name, key
    raise DeclarationError(
        'the converter cannot be imported by another process, as executor="process" needs it',
        remedy="give it a name at the top level of a module",
    )

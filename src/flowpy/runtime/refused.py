"""What an event loop offers and a workflow cannot have: each refusal names the replacement (law L8)."""

from __future__ import annotations

import inspect
from asyncio import tasks as asyncio_tasks
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from flowpy.errors import NotDeterministic

_ACTIVITY: Final = "do it in an activity"
_REMEDIES: Final = {
    "run_in_executor": "put the blocking code into an activity and await its promise",
    "call_soon_threadsafe": "threads cannot reach a workflow; send it a signal",
    "set_default_executor": _ACTIVITY,
    "set_task_factory": "tasks are the run's own; wrap the coroutine instead",
    "set_exception_handler": "an error that nobody awaits fails the run; await what may fail",
    "set_debug": "the loop has no debug mode",
    "run_forever": "a workflow is stepped by its worker; await instead",
    "run_until_complete": "a workflow is stepped by its worker; await instead",
    "stop": "return from the workflow function instead",
    "close": "return from the workflow function instead",
    "getaddrinfo": _ACTIVITY,
    "getnameinfo": _ACTIVITY,
    "create_connection": _ACTIVITY,
    "create_server": _ACTIVITY,
    "create_unix_connection": _ACTIVITY,
    "create_unix_server": _ACTIVITY,
    "create_datagram_endpoint": _ACTIVITY,
    "connect_accepted_socket": _ACTIVITY,
    "start_tls": _ACTIVITY,
    "sendfile": _ACTIVITY,
    "sock_sendfile": _ACTIVITY,
    "sock_recv": _ACTIVITY,
    "sock_recv_into": _ACTIVITY,
    "sock_recvfrom": _ACTIVITY,
    "sock_recvfrom_into": _ACTIVITY,
    "sock_sendall": _ACTIVITY,
    "sock_sendto": _ACTIVITY,
    "sock_connect": _ACTIVITY,
    "sock_accept": _ACTIVITY,
    "add_reader": _ACTIVITY,
    "remove_reader": _ACTIVITY,
    "add_writer": _ACTIVITY,
    "remove_writer": _ACTIVITY,
    "connect_read_pipe": _ACTIVITY,
    "connect_write_pipe": _ACTIVITY,
    "subprocess_shell": _ACTIVITY,
    "subprocess_exec": _ACTIVITY,
    "add_signal_handler": "declare a flowpy.Signal and receive it",
    "remove_signal_handler": "declare a flowpy.Signal and receive it",
}


def _refusal(name: str, remedy: str) -> Callable[..., Any]:
    def refuse(_self: object, *_args: Any, **_kwargs: Any) -> Any:
        raise NotDeterministic(f"loop.{name}() cannot be replayed in workflow code: {remedy}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Refused: {remedy}."
    return refuse


class Refused:
    """The methods of an event loop that raise NotDeterministic."""


for _name, _remedy in _REMEDIES.items():
    setattr(Refused, _name, _refusal(_name, _remedy))

_COMPLETED: Final = ("as_completed", "_AsCompletedIterator.__init__", "as_completed.<locals>.<setcomp>")
_ENSURE: Final = frozenset(
    f.__code__ for f in (asyncio_tasks.ensure_future, getattr(asyncio_tasks, "_ensure_future", None)) if f is not None
)


def refuse_as_completed(frame: FrameType | None, coroutine: Any) -> None:
    """Refuse coroutines given straight to ``asyncio.as_completed``.

    The standard library makes their tasks while it walks a set of coroutine objects, which is in address order and
    so never the same twice; nothing outside can put that right.

    Args:
        frame: The frame that called ``create_task``.
        coroutine: Closed before the error is raised.
    """
    if frame is None or frame.f_code not in _ENSURE:
        return
    given: list[Any] = [coroutine]
    refused = False
    while frame is not None and frame.f_code.co_filename == asyncio_tasks.__file__:
        refused = refused or frame.f_code.co_qualname.startswith(_COMPLETED)
        given += frame.f_locals.get("fs") or frame.f_locals.get("aws") or ()
        frame = frame.f_back
    if not refused:
        return
    # The others of the set would each be reported as never awaited, which hides the one error that matters.
    for one in given:
        if inspect.iscoroutine(one):
            one.close()
    raise NotDeterministic(
        "asyncio.as_completed(coroutines) starts them in the order of their addresses, which no replay can repeat: "
        "give it tasks (asyncio.create_task each first) or promises"
    )

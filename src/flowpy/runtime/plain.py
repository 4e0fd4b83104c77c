"""The bridge for plain ``def`` code: it runs in a greenlet, and ``promise.result()`` suspends it, not the thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import greenlet

from flowpy.runtime.promise import PlainGreenlet
from flowpy.runtime.undead import TRIES, keep


async def run_plain(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a plain function as a coroutine: every promise it waits for is awaited here.

    The greenlet shares the context of the task it stands for; a new greenlet would begin with an empty one.
    """
    plain = PlainGreenlet(function)
    plain.gr_context = greenlet.getcurrent().gr_context
    awaited = plain.switch(*args, **kwargs)
    while not plain.dead:
        try:
            value = await awaited
        except GeneratorExit:
            _kill(plain)
            raise
        except BaseException as error:
            plain.parent = greenlet.getcurrent()
            awaited = plain.throw(error)
        else:
            plain.parent = greenlet.getcurrent()
            awaited = plain.switch(value)
    return awaited


def _kill(plain: PlainGreenlet) -> None:
    """Unwind the frames of code that will never go on; what refuses to die is kept."""
    for _ in range(TRIES):
        plain.parent = greenlet.getcurrent()
        # What it raises as it dies concerns nobody.
        with suppress(BaseException):
            plain.throw(greenlet.GreenletExit)
        if plain.dead:
            return
    keep(plain)


def call(function: Callable[..., Any], is_async: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The coroutine that runs a function of workflow code, whichever way it is written."""
    return function(*args, **kwargs) if is_async else run_plain(function, args, kwargs)

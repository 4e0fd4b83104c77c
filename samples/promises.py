"""Promises: values that are not there yet, passed on as if they were.

An ``@asynchronous`` function is workflow code that runs when its arguments are ready, in lists and dicts too. What it
is called with are promises, what it works with are values. An activity is scheduled in the same way.

Flow's HelloWorldWorkflowAsync and -Parallel, ``@Asynchronous``, and ``@Wait``.

    flowpy run samples.promises:greet Ann Bob
"""

from __future__ import annotations

from flowpy import activity, asynchronous, workflow


@activity(start_to_close_timeout="1m")
def title(name: str) -> str:
    """A name as it is written on a letter."""
    return name.strip().title()


@activity(start_to_close_timeout="1m")
def salutation(names: list[str]) -> str:
    """How a letter to some people begins."""
    return f"Dear {' and '.join(names)},"


@asynchronous
async def greeting(names: list[str], *, closing: str) -> str:
    """Runs when all names are there; the promise it returns stands for its value."""
    return f"{await salutation(names)} {closing}"


@workflow
async def greet(first: str, second: str) -> str:
    """A letter to two people."""
    names = [title(first), title(second)]
    return await greeting(names, closing=f"{len(first) + len(second)} letters for you")

"""Hello: one workflow, one activity.

The smallest thing that runs. The workflow decides what is done, the activity does it, perhaps on another machine.

Flow's sample: HelloWorld.

    flowpy run samples.hello:hello World
"""

from __future__ import annotations

from flowpy import activity, workflow


@activity(start_to_close_timeout="1m")
def greeting(name: str) -> str:
    """The greeting for somebody."""
    return f"Hello, {name}!"


@workflow
async def hello(name: str) -> str:
    """Greet somebody."""
    return await greeting(name)

"""Changes that break nothing, many of which look as if they did: no part of the kit may take one for an error."""

from __future__ import annotations

from typing import Final

from .changes import change
from .samples import COMPLAINT, NIGHTLY, ORDER, ROUNDS, TAKE_BACK

HARMLESS: Final = (
    change(
        "a comment and a docstring",
        ORDER,
        ('    """Charge the customer and', '    # In cash, too.\n    """Take the money, and'),
    ),
    change(
        "a local variable is renamed",
        ORDER,
        ("    receipt = await", "    paper = await"),
        ("Delivery(order_id, receipt, parcels)\n", "Delivery(order_id, paper, parcels)\n"),
    ),
    change("an activity gets a longer timeout", ORDER, ('timeout="5m", heartbeat', 'timeout="2h", heartbeat')),
    change(
        "an activity gets another retry policy",
        ORDER,
        ('Retry(attempts=3, initial="1s")', 'Retry(attempts=9, initial="7s")'),
    ),
    change(
        "a retry policy is taken away: attempts under way keep theirs",
        ORDER,
        (', retry=Retry(attempts=3, initial="1s")', ""),
    ),
    change(
        "an activity gets another task list",
        ORDER,
        (
            '@activity(start_to_close_timeout="1m")\ndef charge',
            '@activity(task_list="money", start_to_close_timeout="1m")\ndef charge',
        ),
    ),
    change(
        "a workflow gets another timeout and task list",
        ROUNDS,
        (
            '@workflow(version="1.0")\nasync def rounds',
            '@workflow(version="1.0", task_list="vans", execution_start_to_close_timeout="3d")\nasync def rounds',
        ),
    ),
    change(
        "what an activity does",
        ORDER,
        (
            "    return sum(PRICES[item] for item in items)",
            "    time.time()\n    return 2 * sum(PRICES[item] for item in items)",
        ),
    ),
    change(
        "a log line",
        ORDER,
        ("    receipt = await", '    flowpy.logger.info("charging %s", order_id)\n    receipt = await'),
        ("import asyncio\n", "import asyncio\nimport flowpy\n"),
    ),
    change(
        "a new activity behind a patch",
        ORDER,
        ("import asyncio\n", "import asyncio\nimport flowpy\n"),
        (
            "    receipt = await",
            '    if flowpy.patched("greet"):\n        await release(order_id, [])\n    receipt = await',
        ),
    ),
    change(
        "a call is replaced behind a patch",
        TAKE_BACK,
        (
            "        await restock(item)",
            (
                '        if flowpy.patched("no shelf"):\n'
                '            await flowpy.sleep("1d")\n'
                "        else:\n"
                "            await restock(item)"
            ),
        ),
    ),
    change(
        "the old way is taken out when no run from before the patch is open",
        TAKE_BACK,
        ('    if flowpy.patched("thanks"):\n        await thank(customer)\n', "    await thank(customer)\n"),
        since_the_patch=True,
    ),
    change(
        "computations that need no call are reordered",
        COMPLAINT,
        (
            "        self.said: list[str] = []\n        self.over = asyncio.Event()",
            "        self.over = asyncio.Event()\n        self.said: list[str] = []",
        ),
    ),
    change(
        "calls that are made together are reordered",
        ORDER,
        (
            (
                "    approved = approval.receive(timeout=APPROVED_WITHIN)  # the time runs from here on\n"
                "    parcels = await asyncio.gather(*[pack(item) for item in items])"
            ),
            (
                "    packing = asyncio.gather(*[pack(item) for item in items])\n"
                "    approved = approval.receive(timeout=APPROVED_WITHIN)\n"
                "    parcels = await packing"
            ),
        ),
    ),
    change(
        "a new workflow type",
        ROUNDS,
        (
            "async def collected(",
            "@workflow\nasync def lost(item: str) -> int:\n    return await appraise(item)\n\n\nasync def collected(",
        ),
    ),
    change(
        "a query is added",
        COMPLAINT,
        ("    @query\n", "    @query\n    def first(self) -> str:\n        return self.said[0]\n\n    @query\n"),
    ),
    change(
        "a signal handler is added",
        COMPLAINT,
        ("    @query\n", "    @signal\n    def withdraw(self) -> None:\n        self.said.clear()\n\n    @query\n"),
    ),
    change(
        "the workflow publishes its state",
        TAKE_BACK,
        ("    paid = await refund(", '    flowpy.set_state("paying")\n    paid = await refund('),
    ),
    change(
        "calls move into a function that is awaited",
        ORDER,
        (
            "    return await ship(order_id, cents, parcels)\n\n\n@workflow",
            (
                "    return await hand_over(order_id, cents, parcels)\n"
                "\n"
                "\n"
                "async def hand_over(order_id: str, cents: int, parcels: list[str]) -> Delivery:\n"
                "    return await ship(order_id, cents, parcels)\n"
                "\n"
                "\n"
                "@workflow"
            ),
        ),
    ),
    change(
        "the await of a promise that is returned is dropped",
        COMPLAINT,
        ("        return await refund(customer, cents)", "        return refund(customer, cents)"),
    ),
    change("gather becomes all_of", TAKE_BACK, ("asyncio.gather(*[inspection", "flowpy.all_of(*[inspection")),
    change(
        "asyncio.sleep becomes flowpy.sleep", ROUNDS, ("    await asyncio.sleep(fee)", "    await flowpy.sleep(fee)")
    ),
    change(
        "plain def becomes async def",
        NIGHTLY,
        ("def nightly(", "async def nightly("),
        ('flowpy.sleep("1h").result()', "await asyncio.sleep(3600)"),
        ("sum(value.result() for value in values)", "sum([await value for value in values])"),
        ('    refund("the house", total).result()', '    await refund("the house", total)'),
    ),
    change(
        "a function becomes a class",
        TAKE_BACK,
        (
            "async def stock() -> str:\n",
            (
                "class stock:\n"
                "    @execute\n"
                "    async def run(self) -> str:\n"
                '        return await Signal("returned", str).receive()\n'
                "\n"
                "\n"
                "async def shelf() -> str:\n"
            ),
        ),
    ),
    change(
        "an argument with a default is added",
        NIGHTLY,
        ("def nightly(items: list[str])", 'def nightly(items: list[str], day: str = "today")'),
    ),
    change("the result of the run", ROUNDS, ("    return sum(parcels)", "    return 2 * sum(parcels)")),
    change("the message of a failure", ORDER, ("was declined", "is not for you")),
    change(
        "a class of values gets a member with a default",
        ORDER,
        ("    parcels: list[str]\n\n", '    parcels: list[str]\n    thanks: str = ""\n\n'),
    ),
    change(
        "try and finally without a call",
        TAKE_BACK,
        (
            "    paid = await refund(sender, sum(values))",
            "    try:\n        paid = await refund(sender, sum(values))\n    finally:\n        values.clear()",
        ),
    ),
    change(
        "flowpy's clock, chance and uuid",
        TAKE_BACK,
        (
            "    paid = await refund(",
            (
                "    flowpy.set_state([str(flowpy.now()), flowpy.random().random(), str(flowpy.uuid4())])\n"
                "    paid = await refund("
            ),
        ),
    ),
    change(
        "the clock for a log line, with a comment that lets it through",
        ORDER,
        (
            "    receipt = await",
            "    print(time.time(), order_id)  # flowpy: ignore[FLOW101] only printed\n    receipt = await",
        ),
    ),
    change(
        "a set whose order does not show",
        ROUNDS,
        (
            "    return sum(parcels)",
            '    return sum(parcels) if len(set(COURIERS)) > 12 and "moon" not in set(COURIERS) else 0',
        ),
    ),
    change(
        "a set of tasks",
        ROUNDS,
        (
            "    parcels = [await task for task in tasks]",
            "    done, _ = await asyncio.wait(set(tasks))\n    parcels = [task.result() for task in done]",
        ),
    ),
    change(
        "a constant in the module is read",
        TAKE_BACK,
        ("COURIERS = [", "SHELF = 300\nCOURIERS = ["),
        ("    if cents > 300:", "    if cents > SHELF:"),
    ),
    change(
        "an argument has another value",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, cents + 500)"),
        replay="warns of argument 2 (cents); strict: input changed",
    ),
    change(
        "a call gets a longer timeout",
        TAKE_BACK,
        ("await refund(sender", 'await refund.options(start_to_close_timeout="2h")(sender'),
        replay="warns of start_to_close_timeout; strict: input changed",
    ),
    change(
        "a timer gets other seconds",
        ORDER,
        ("UNTIL_THE_COURIER_COMES = 3 ", "UNTIL_THE_COURIER_COMES = 300 "),
        replay="warns of seconds; strict: input changed",
    ),
    change(
        "a promise is awaited in a task of its own",
        ROUNDS,
        ("await pick_up(courier)", "await asyncio.create_task(asyncio.wait_for(pick_up(courier), None))"),
    ),
    change(
        "clean-up is shielded",
        ORDER,
        ("import asyncio\n", "import asyncio\nimport flowpy\n"),
        ("        await release(order_id, items)", "        await flowpy.shield(release(order_id, items))"),
    ),
    change(
        "gather gives failures as values",
        TAKE_BACK,
        ("*[inspection(item) for item in items])", "*[inspection(item) for item in items], return_exceptions=True)"),
    ),
    change(
        "tasks are no longer awaited: the run waits for them",
        ROUNDS,
        ("    parcels = [await task for task in tasks]", "    parcels = [len(tasks)]"),
    ),
    change(
        "a computation is cached by functools",
        ROUNDS,
        ("import asyncio\n", "import asyncio\nimport functools\n"),
        (
            "async def collected(",
            "@functools.cache\ndef worth(total: int) -> int:\n    return total * 2\n\n\nasync def collected(",
        ),
        ("    return sum(parcels)", "    return worth(sum(parcels))"),
    ),
    change(
        "a cancelled activity is waited for",
        ORDER,
        ("await charge(order_id, cents)", 'await charge.options(on_cancel="wait")(order_id, cents)'),
    ),
    change("an activity becomes async", ORDER, ("def charge(", "async def charge(")),
    change(
        "the state of the run decides",
        TAKE_BACK,
        ("    if cents > 300:", "    if cents > 300 and flowpy.info().run_id:"),
    ),
)

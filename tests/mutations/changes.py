"""The changes: what each does to a sample, whether it is harmful, and who has to say so.

Harmful is what would break runs under way, or have replays decide something else. Who says so is stated in full: a part
of the kit that is not named says nothing.
"""

from __future__ import annotations

from typing import Final

from attrs import field, frozen

from .kit import Edits, Sample, Seen
from .samples import ORDER, RETURNS


@frozen
class Change:
    """A row of the table.

    Attributes:
        what: What was changed, in words.
        sample: In which sample.
        edits: Its text, and the text that takes its place.
        seen: What the kit must say of it.
        since_the_patch: The runs from before the sample's patch have all ended.
    """

    what: str
    sample: Sample
    edits: Edits
    seen: Seen = field(factory=Seen)
    since_the_patch: bool = False


def change(what: str, sample: Sample, *edits: tuple[str, str], since_the_patch: bool = False, **seen: str) -> Change:
    """A row."""
    return Change(what, sample, edits, Seen(**seen), since_the_patch)


HARMFUL: Final = (
    # --- calls ------------------------------------------------------------------------------------
    change(
        "an activity is renamed",
        ORDER,
        ("def charge(", "def bill("),
        ("await charge(", "await bill("),
        replay="renamed",
    ),
    change(
        "an activity gets another registered name",
        RETURNS,
        ("@activity\ndef refund(", '@activity(name="pay back")\ndef refund('),
        replay="renamed",
    ),
    change(
        "another activity is called instead",
        RETURNS,
        ("        await restock(item)", "        await thank(item)"),
        replay="renamed",
    ),
    change(
        "an activity gets another version",
        ORDER,
        ('@activity(start_to_close_timeout="1m")\ndef charge', '@activity(version="2.0")\ndef charge'),
        replay="other type",
    ),
    change(
        "a call is inserted",
        ORDER,
        ("    receipt = await charge(", "    await reserve(order_id, [])\n    receipt = await charge("),
        replay="inserted",
    ),
    change(
        "a call is inserted at the end",
        ORDER,
        ("    return Delivery(", "    await release(order_id, parcels)\n    return Delivery("),
        replay="ended differently",
    ),
    change(
        "a call is inserted into an error handler",
        ORDER,
        ("        await release(order_id, items)", "        await charge(order_id, 500)\n        await release(order_id, items)"),
        replay="inserted",
    ),
    change(
        "a call is removed",
        ORDER,
        ("        await release(order_id, items)\n", ""),
        replay="removed",
    ),
    change(
        "calls are reordered",
        ORDER,
        (
            "    parcels = await asyncio.gather(*[pack(item) for item in items])\n    return await ship(order_id, cents, parcels)",
            "    shipped = await ship(order_id, cents, [])\n    await asyncio.gather(*[pack(item) for item in items])\n    return shipped",
        ),
        replay="reordered",
    ),
    change(
        "calls made together are made one after another",
        ORDER,
        (
            "    parcels = await asyncio.gather(*[pack(item) for item in items])\n    return await",
            "    parcels = [await pack(item) for item in items]\n    return await",
        ),
        replay="removed",
    ),
    change(
        "calls made one after another are made together",
        RETURNS,
        (
            "    paid = await refund(sender, sum(values))\n    if",
            "    paid, _ = await asyncio.gather(refund(sender, sum(values)), thank(sender))\n    if",
        ),
        replay="inserted",
    ),
    change(
        "a call is inserted among others of its name",
        RETURNS,
        ("    values = [appraise(item) for item in items]", '    values = [appraise(item) for item in ["box", *items]]'),
        replay="inserted",
    ),
    change(
        "a call is removed from others of its name",
        RETURNS,
        ("    values = [appraise(item) for item in items]", "    values = [appraise(item) for item in items[1:]]"),
        replay="removed",
    ),
    change(
        "calls of one name are made in another order",
        RETURNS,
        ("    values = [appraise(item) for item in items]", "    values = [appraise(item) for item in reversed(items)]"),
        replay="argument 1 (item) (strict: reordered)",
    ),
    change(
        "an await is dropped, so that what follows no longer waits",
        ORDER,
        (
            "    cents = await reserve(order_id, items)\n    parcels",
            "    cents = reserve(order_id, items)\n    parcels",
        ),
        replay="reordered",
    ),
    change(
        "the await of a pause is dropped",
        ORDER,
        ("    await asyncio.sleep(UNTIL", "    asyncio.sleep(UNTIL"),
        replay="removed",
    ),
    change(
        "a call is replaced by a timer",
        RETURNS,
        ("        await restock(item)", "        await flowpy.sleep(60)"),
        replay="other kind",
    ),
    # --- timers, signals, children, tasks ---------------------------------------------------------
    change(
        "a timer is inserted",
        RETURNS,
        ("    values = await asyncio.gather(", '    await flowpy.sleep("1h")\n    values = await asyncio.gather('),
        replay="inserted",
    ),
    change(
        "a timer is removed",
        RETURNS,
        ('    flowpy.sleep("1h").result()\n', ""),
        replay="removed",
    ),
    change(
        "a timeout is taken away",
        RETURNS,
        ('arrived.receive(timeout="14d")', "arrived.receive()"),
        replay="removed",
    ),
    change(
        "a durable pause becomes a blocking one",
        ORDER,
        ("    await asyncio.sleep(UNTIL_THE_COURIER_COMES)", "    time.sleep(UNTIL_THE_COURIER_COMES / 1000)"),
        replay="removed",
        strict="FLOW111",
        check="FLOW111",
    ),
    change(
        "another signal is waited for",
        ORDER,
        ('Signal("approval", bool)', 'Signal("approved", bool)'),
        replay="removed",
    ),
    change(
        "a signal handler is renamed",
        RETURNS,
        ("    @signal\n    async def enough(", "    @signal\n    async def is_over("),
        replay="removed",
    ),
    change(
        "a signal handler calls what it did not",
        RETURNS,
        (
            "    @signal\n    def say(self, what: str) -> None:\n",
            "    @signal\n    async def say(self, what: str) -> None:\n        await thank(what)\n",
        ),
        replay="inserted",
    ),
    change(
        "an extra child is started",
        RETURNS,
        ("    paid = await refund(", '    await inspection("the box")\n    paid = await refund('),
        replay="inserted",
    ),
    change(
        "a child is called in another version",
        RETURNS,
        ('@workflow(version="1.0")\nasync def inspection', '@workflow(version="2.0")\nasync def inspection'),
        replay="other type",
    ),
    change(
        "a child becomes an activity",
        RETURNS,
        ("*[inspection(item) for", "*[appraise(item) for"),
        replay="other kind",
    ),
    change(
        "a request goes to another execution",
        RETURNS,
        ('flowpy.external("stock")', 'flowpy.external("store")'),
        replay="other target",
    ),
    change(
        "a task is started before the others",
        RETURNS,
        (
            "    tasks = [asyncio",
            '    asyncio.create_task(collected("moon", fee))\n    tasks = [asyncio',
        ),
        replay="inserted",
    ),
    # --- ways and ends ----------------------------------------------------------------------------
    change(
        "a condition is changed",
        RETURNS,
        ("    if cents > 300:", "    if cents > 500:"),
        replay="ended differently",
    ),
    change(
        "another way is taken",
        ORDER,
        ("    if not await approved:", "    if await approved:"),
        replay="x",
    ),
    change(
        "the function returns earlier",
        RETURNS,
        ("    paid = await refund(", '    if len(values) > 2:\n        return "too many"\n    paid = await refund('),
        replay="ended differently",
    ),
    change(
        "the function fails where it went on",
        ORDER,
        ("    receipt = await charge(", '    if cents > 9000:\n        raise Declined("too dear")\n    receipt = await charge('),
        replay="ended differently",
    ),
    change(
        "the run continues as new where it returned",
        RETURNS,
        ("    parcels = [await task for task in tasks]\n", "    parcels = [await task for task in tasks]\n    if fee > 1:\n        flowpy.continue_as_new(1)\n"),
        replay="ended differently",
    ),
    change(
        "a cancellation is swallowed",
        ORDER,
        ("    except (Exception, asyncio.CancelledError):\n        await release(order_id, items)\n        raise\n", "    except BaseException:\n        await release(order_id, items)\n        parcels = []\n"),
        replay="ended differently",
        check="FLOW130",
    ),
    change(
        "a cancellation skips the clean-up",
        ORDER,
        ("    except (Exception, asyncio.CancelledError):", "    except Exception:"),
        replay="ended differently",
    ),
    # --- declarations -----------------------------------------------------------------------------
    change(
        "the workflow gets another version, and no worker keeps the old one",
        RETURNS,
        ('@workflow(version="1.0")\nasync def rounds', '@workflow(version="2.0")\nasync def rounds'),
        replay="UnknownWorkflowType",
    ),
    change(
        "the workflow is renamed",
        RETURNS,
        ('@workflow(version="1.0")\nasync def rounds', '@workflow(version="1.0", name="tours")\nasync def rounds'),
        replay="UnknownWorkflowType",
    ),
    change(
        "the workflow wants one argument more",
        RETURNS,
        ("def nightly(items: list[str])", "def nightly(items: list[str], day: str)"),
        replay="ended differently",
        test="x",
    ),
    change(
        "a result is read as another type",
        ORDER,
        ("def reserve(order_id: str, items: list[str]) -> int:", "def reserve(order_id: str, items: list[str]) -> list[int]:"),
        replay="ended differently",
    ),
    # --- patches and side effects -----------------------------------------------------------------
    change(
        "a patch is taken out with the new way",
        RETURNS,
        ('    if flowpy.patched("thanks"):\n        await thank(customer)\n', ""),
        replay="patched",
    ),
    change(
        "a patch is asked for at an earlier place",
        RETURNS,
        ("    number = flowpy.side_effect", '    thanks = flowpy.patched("thanks")\n    number = flowpy.side_effect'),
        ('    if flowpy.patched("thanks"):', "    if thanks:"),
        replay="patched",
    ),
    change(
        "the old way is taken out while runs from before the patch are open",
        RETURNS,
        ('    if flowpy.patched("thanks"):\n        await thank(customer)\n', "    await thank(customer)\n"),
        replay="inserted",
    ),
    change(
        "a side effect is added",
        RETURNS,
        ("    paid = await refund(", "    flowpy.side_effect(lambda: 1)\n    paid = await refund("),
        replay="inserted",
    ),
    change(
        "a side effect becomes plain code",
        RETURNS,
        ("    number = flowpy.side_effect(lambda: 4711)", "    number = 4711"),
        replay="removed",
    ),
    # --- what no replay can repeat ----------------------------------------------------------------
    change(
        "an argument comes from the clock",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, time.time_ns())"),
        replay="argument 2 (cents) (strict: clock)",
        test="clock",
        strict="FLOW101",
        seeds="x",
        check="FLOW101",
    ),
    change(
        "the clock decides",
        RETURNS,
        ("import asyncio\n", "import asyncio\nimport datetime as dt\n"),
        ("    if cents > 300:", "    if dt.datetime.now().year > 2000 and cents > 300:"),
        strict="FLOW101",
        check="FLOW101",
    ),
    change(
        "time is measured",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, time.perf_counter_ns())"),
        replay="argument 2 (cents) (strict: clock)",
        test="clock",
        strict="FLOW102",
        seeds="x",
        check="FLOW102",
    ),
    change(
        "an argument is random",
        RETURNS,
        ("import asyncio\n", "import asyncio\nimport random\n"),
        ("pick_up(courier)\n\n", "pick_up(courier + str(random.random()))\n\n"),
        replay="x",
        test="clock",
        strict="FLOW103",
        seeds="x",
        check="FLOW103",
    ),
    change(
        "an id comes from uuid",
        RETURNS,
        ("import asyncio\n", "import asyncio\nimport uuid\n"),
        ('await restock(item)', "await restock.options(activity_id=str(uuid.uuid4()))(item)"),
        replay="x",
        test="clock",
        strict="FLOW105",
        seeds="x",
        check="FLOW105",
    ),
    change(
        "an argument comes from os.urandom",
        RETURNS,
        ("import asyncio\n", "import asyncio\nimport os\n"),
        ("label(f\"{customer}, number {number}\")", "label(os.urandom(8).hex())"),
        replay="x",
        test="clock",
        strict="FLOW104",
        seeds="x",
        check="FLOW104",
    ),
    change(
        "the environment decides",
        RETURNS,
        ("import asyncio\n", "import asyncio\nimport os\n"),
        ("    if cents > 300:", '    if cents > int(os.environ.get("WORTH_A_SHELF", "300")):'),
        strict="FLOW106",
        check="FLOW106",
    ),
    change(
        "the number of the process is in an argument",
        RETURNS,
        ("import asyncio\n", "import asyncio\nimport os\n"),
        ('refund("the house", total)', 'refund(f"the house, by {os.getpid()}", total)'),
        replay="x",
        strict="FLOW106",
        seeds="x",
        check="FLOW106",
    ),
    change(
        "a file is read",
        RETURNS,
        ("    return sum(parcels)", "    with open(__file__) as file:\n        return sum(parcels) + len(file.readline())"),
        strict="FLOW107",
        check="FLOW107",
    ),
    change(
        "work goes to a thread",
        RETURNS,
        ("    return sum(parcels)", "    return await asyncio.to_thread(sum, parcels)"),
        replay="x",
        test="x",
        strict="FLOW110",
        seeds="x",
        check="FLOW110",
    ),
    change(
        "tasks are started in the order of a set",
        RETURNS,
        ("in sorted(set(COURIERS))]", "in set(COURIERS)]"),
        replay="x",
        seeds="x",
        check="FLOW120",
    ),
    change(
        "a set is joined to a text",
        RETURNS,
        ('appraise(" ".join(self.said))', 'appraise(" ".join({word for said in [*self.said, *COURIERS] for word in said.split()}))'),
        replay="x",
        seeds="x",
        check="FLOW120",
    ),
    change(
        "the hash of a text is an argument",
        RETURNS,
        ("refund(customer, cents)\n\n    @signal", "refund(customer, hash(customer))\n\n    @signal"),
        replay="x",
        seeds="x",
        check="FLOW121",
    ),
    change(
        "the module keeps count of runs",
        RETURNS,
        ('COURIERS = [', "SEEN: list[str] = []\nCOURIERS = ["),
        ("    total = sum(", '    SEEN.append("one more")\n    total = len(SEEN) + sum('),
        replay="x",
        test="x",
        strict="x",
        seeds="x",
        check="FLOW131",
    ),
    change(
        "coroutines are given to as_completed",
        RETURNS,
        (
            "    tasks = [asyncio.create_task(collected(courier, fee)) for courier in sorted(set(COURIERS))]\n"
            "    parcels = [await task for task in tasks]",
            "    rounds = [collected(courier, fee) for courier in COURIERS]\n"
            "    parcels = [await task for task in asyncio.as_completed(rounds)]",
        ),
        replay="x",
        test="x",
        strict="x",
        check="FLOW122",
    ),
    change(
        "a list of the class is shared by all runs",
        RETURNS,
        ("        self.said: list[str] = []\n", ""),
        ("    def __init__(self) -> None:\n", "    said: list[str] = []\n\n    def __init__(self) -> None:\n"),
        replay="x", test="x", strict="x", seeds="x", check="x",
    ),
    change(
        "a default argument remembers",
        RETURNS,
        ("async def collected(courier: str, fee: int)", "async def collected(courier: str, fee: int, met: list[str] = [])"),
        ("    return await pick_up(courier)", "    met.append(courier)\n    return await pick_up(f\"{courier}, {len(met)}\")"),
        replay="x", test="x", strict="x", seeds="x",
    ),
    change(
        "the clock is called by C code",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, next(iter(time.time_ns, None)))"),
        replay="x", test="x", strict="x", seeds="x", check="FLOW101",
    ),
    change(
        "a clock is read when the module is imported",
        ORDER,
        ("PACKING = 0.5", "IMPORTED = time.time_ns()\nPACKING = 0.5"),
        ("charge(order_id, cents)", "charge(order_id, IMPORTED)"),
        replay="x", seeds="x",
    ),
    change(
        "is_replaying decides",
        RETURNS,
        ("    values = [appraise", '    if not flowpy.is_replaying():\n        thank("you")\n    values = [appraise'),
        replay="x", test="x", strict="x", seeds="x",
    ),
    change(
        "is_replaying decides on the last call",
        RETURNS,
        ('    refund("the house", total).result()', '    if not flowpy.is_replaying():\n        refund("the house", total).result()'),
        replay="x", test="x", strict="x", seeds="x",
    ),
    change(
        "a timeout is put around an await",
        RETURNS,
        ("    paid = await refund(sender, sum(values))\n", '    async with asyncio.timeout(60):\n        paid = await refund(sender, sum(values))\n'),
        replay="inserted",
    ),
    change(
        "the await of an event is dropped",
        RETURNS,
        ("        await self.over.wait()", "        self.over.wait()"),
        replay="inserted",
    ),
    change(
        "a call moves into a task of its own",
        RETURNS,
        ("    return await pick_up(courier)", "    return await asyncio.create_task(picked(courier))\n\n\nasync def picked(courier: str) -> int:\n    return await pick_up(courier)"),
        replay="inserted",
    ),
)

HARMLESS: Final = (
    change("a comment and a docstring", ORDER, ('    """Charge the customer and', '    # In cash, too.\n    """Take the money, and')),
    change("a local variable is renamed", ORDER, ("    receipt = await", "    paper = await"), ("Delivery(order_id, receipt, parcels)\n", "Delivery(order_id, paper, parcels)\n")),
    change("an activity gets a longer timeout", ORDER, ('timeout="5m", heartbeat', 'timeout="2h", heartbeat')),
    change("an activity gets another retry policy", ORDER, ('Retry(attempts=3, initial="1s")', 'Retry(attempts=9, initial="7s")')),
    change("a retry policy is taken away: attempts under way keep theirs", ORDER, (', retry=Retry(attempts=3, initial="1s")', "")),
    change("an activity gets another task list", ORDER, ('@activity(start_to_close_timeout="1m")\ndef charge', '@activity(task_list="money", start_to_close_timeout="1m")\ndef charge')),
    change("a workflow gets another timeout and task list", RETURNS, ('@workflow(version="1.0")\nasync def rounds', '@workflow(version="1.0", task_list="vans", execution_start_to_close_timeout="3d")\nasync def rounds')),
    change("what an activity does", ORDER, ("    return sum(PRICES[item] for item in items)", "    time.time()\n    return 2 * sum(PRICES[item] for item in items)")),
    change("a log line", ORDER, ("    receipt = await", '    flowpy.logger.info("charging %s", order_id)\n    receipt = await'), ("import asyncio\n", "import asyncio\nimport flowpy\n")),
    change("a new activity behind a patch", ORDER, ("import asyncio\n", "import asyncio\nimport flowpy\n"), ("    receipt = await", '    if flowpy.patched("greet"):\n        await release(order_id, [])\n    receipt = await')),
    change("a call is replaced behind a patch", RETURNS, ("        await restock(item)", '        if flowpy.patched("no shelf"):\n            await flowpy.sleep("1d")\n        else:\n            await restock(item)')),
    change("the old way is taken out when no run from before the patch is open", RETURNS, ('    if flowpy.patched("thanks"):\n        await thank(customer)\n', "    await thank(customer)\n"), since_the_patch=True),
    change("computations that need no call are reordered", RETURNS, ("        self.said: list[str] = []\n        self.over = asyncio.Event()", "        self.over = asyncio.Event()\n        self.said: list[str] = []")),
    change("calls that are made together are reordered", ORDER, ("    approved = approval.receive(timeout=APPROVED_WITHIN)  # the time runs from here on\n    parcels = await asyncio.gather(*[pack(item) for item in items])", "    packing = asyncio.gather(*[pack(item) for item in items])\n    approved = approval.receive(timeout=APPROVED_WITHIN)\n    parcels = await packing")),
    change("a new workflow type", RETURNS, ("async def collected(", "@workflow\nasync def lost(item: str) -> int:\n    return await appraise(item)\n\n\nasync def collected(")),
    change("a query is added", RETURNS, ("    @query\n", "    @query\n    def first(self) -> str:\n        return self.said[0]\n\n    @query\n")),
    change("a signal handler is added", RETURNS, ("    @query\n", "    @signal\n    def withdraw(self) -> None:\n        self.said.clear()\n\n    @query\n")),
    change("the workflow publishes its state", RETURNS, ("    paid = await refund(", '    flowpy.set_state("paying")\n    paid = await refund(')),
    change("calls move into a function that is awaited", ORDER, ("    return await ship(order_id, cents, parcels)\n\n\n@workflow", "    return await hand_over(order_id, cents, parcels)\n\n\nasync def hand_over(order_id: str, cents: int, parcels: list[str]) -> Delivery:\n    return await ship(order_id, cents, parcels)\n\n\n@workflow")),
    change("the await of a promise that is returned is dropped", RETURNS, ("        return await refund(customer, cents)", "        return refund(customer, cents)")),
    change("gather becomes all_of", RETURNS, ("asyncio.gather(*[inspection", "flowpy.all_of(*[inspection")),
    change("asyncio.sleep becomes flowpy.sleep", RETURNS, ("    await asyncio.sleep(fee)", "    await flowpy.sleep(fee)")),
    change("plain def becomes async def", RETURNS, ("def nightly(", "async def nightly("), ('flowpy.sleep("1h").result()', 'await asyncio.sleep(3600)'), ("sum(value.result() for value in values)", "sum([await value for value in values])"), ('    refund("the house", total).result()', '    await refund("the house", total)')),
    change("a function becomes a class", RETURNS, ("async def stock() -> str:\n", "class stock:\n    @execute\n    async def run(self) -> str:\n        return await Signal(\"returned\", str).receive()\n\n\nasync def shelf() -> str:\n")),
    change("an argument with a default is added", RETURNS, ("def nightly(items: list[str])", 'def nightly(items: list[str], day: str = "today")')),
    change("the result of the run", RETURNS, ("    return sum(parcels)", "    return 2 * sum(parcels)")),
    change("the message of a failure", ORDER, ("was declined", "is not for you")),
    change("a class of values gets a member with a default", ORDER, ("    parcels: list[str]\n\n", '    parcels: list[str]\n    thanks: str = ""\n\n')),
    change("try and finally without a call", RETURNS, ("    paid = await refund(sender, sum(values))", "    try:\n        paid = await refund(sender, sum(values))\n    finally:\n        values.clear()")),
    change("flowpy's clock, chance and uuid", RETURNS, ("    paid = await refund(", "    flowpy.set_state([str(flowpy.now()), flowpy.random().random(), str(flowpy.uuid4())])\n    paid = await refund(")),
    change("the clock for a log line, with a comment that lets it through", ORDER, ("    receipt = await", "    print(time.time(), order_id)  # flowpy: ignore[FLOW101] only printed\n    receipt = await")),
    change("a set whose order does not show", RETURNS, ("    return sum(parcels)", "    return sum(set(parcels)) - sum(set(parcels)) + sum(parcels) if set(parcels) else 0")),
    change("a set of tasks", RETURNS, ("    parcels = [await task for task in tasks]", "    done, _ = await asyncio.wait(set(tasks))\n    parcels = [task.result() for task in done]")),
    change("a set as an argument", RETURNS, ("def pick_up(courier: str)", "def pick_up(courier: str, others: set[str] | None = None)"), ("asyncio.gather(*[inspection(item) for item in items])", "asyncio.gather(*[inspection(item) for item in items])")),
    change("a constant in the module is read", RETURNS, ("COURIERS = [", "SHELF = 300\nCOURIERS = ["), ("    if cents > 300:", "    if cents > SHELF:")),
    change("an argument has another value", ORDER, ("charge(order_id, cents)", "charge(order_id, cents + 500)"), replay="argument 2 (cents) (strict: input changed)"),
    change("a call gets a longer timeout", RETURNS, ("await refund(sender", 'await refund.options(start_to_close_timeout="2h")(sender'), replay="start_to_close_timeout (strict: input changed)"),
    change("a timer gets other seconds", ORDER, ("UNTIL_THE_COURIER_COMES = 3 ", "UNTIL_THE_COURIER_COMES = 300 "), replay="seconds (strict: input changed)"),
    change("a promise is awaited in a task of its own", RETURNS, ("await pick_up(courier)", "await asyncio.create_task(asyncio.wait_for(pick_up(courier), None))")),
    change("clean-up is shielded", ORDER, ("import asyncio\n", "import asyncio\nimport flowpy\n"), ("        await release(order_id, items)", "        await flowpy.shield(release(order_id, items))")),
    change("gather gives failures as values", RETURNS, ("*[inspection(item) for item in items])", "*[inspection(item) for item in items], return_exceptions=True)")),
    change("tasks are no longer awaited: the run waits for them", RETURNS, ("    parcels = [await task for task in tasks]", "    parcels = [len(tasks)]")),
    change("a computation is cached by functools", RETURNS, ("import asyncio\n", "import asyncio\nimport functools\n"), ("async def collected(", "@functools.cache\ndef worth(total: int) -> int:\n    return total * 2\n\n\nasync def collected("), ("    return sum(parcels)", "    return worth(sum(parcels))")),
    change("a cancelled activity is waited for", ORDER, ("await charge(order_id, cents)", 'await charge.options(on_cancel="wait")(order_id, cents)')),
    change("an activity becomes async", ORDER, ("def charge(", "async def charge(")),
    change("the state of the run decides", RETURNS, ("    if cents > 300:", "    if cents > 300 and flowpy.info().run_id:")),
)

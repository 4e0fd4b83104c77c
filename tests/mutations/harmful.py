"""Changes that would break runs under way, or have replays decide something else; who says so is stated in full."""

from __future__ import annotations

from typing import Final

from .changes import change
from .samples import COMPLAINT, NIGHTLY, ORDER, ROUNDS, TAKE_BACK

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
        TAKE_BACK,
        ("@activity\ndef refund(", '@activity(name="pay back")\ndef refund('),
        replay="renamed",
    ),
    change(
        "another activity is called instead",
        TAKE_BACK,
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
        replay="inserted",
    ),
    change(
        "a call is inserted into an error handler",
        ORDER,
        (
            "        await release(order_id, items)",
            "        await charge(order_id, 500)\n        await release(order_id, items)",
        ),
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
            (
                "    parcels = await asyncio.gather(*[pack(item) for item in items])\n"
                "    return await ship(order_id, cents, parcels)"
            ),
            (
                "    shipped = await ship(order_id, cents, [])\n"
                "    await asyncio.gather(*[pack(item) for item in items])\n"
                "    return shipped"
            ),
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
        TAKE_BACK,
        (
            "    paid = await refund(sender, sum(values))\n    if",
            "    paid, _ = await asyncio.gather(refund(sender, sum(values)), thank(sender))\n    if",
        ),
        replay="reordered + inserted",
    ),
    change(
        "a call is inserted among others of its name",
        NIGHTLY,
        (
            "    values = [appraise(item) for item in items]",
            '    values = [appraise(item) for item in ["box", *items]]',
        ),
        replay="inserted",
    ),
    change(
        "a call is removed from others of its name",
        NIGHTLY,
        ("    values = [appraise(item) for item in items]", "    values = [appraise(item) for item in items[1:]]"),
        replay="removed",
    ),
    change(
        "calls of one name are made in another order",
        NIGHTLY,
        (
            "    values = [appraise(item) for item in items]",
            "    values = [appraise(item) for item in reversed(items)]",
        ),
        replay="warns of argument 1 (item); strict: reordered",
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
        replay="ended differently",
    ),
    change(
        "a call is given an id",
        TAKE_BACK,
        ("        await restock(item)", '        await restock.options(activity_id="shelf")(item)'),
        replay="other target",
    ),
    change(
        "a call is replaced by a timer",
        TAKE_BACK,
        ("        await restock(item)", "        await flowpy.sleep(60)"),
        replay="other kind",
    ),
    # --- timers, signals, children, tasks ---------------------------------------------------------
    change(
        "a timer is inserted",
        TAKE_BACK,
        ("    values = await asyncio.gather(", '    await flowpy.sleep("1h")\n    values = await asyncio.gather('),
        replay="inserted",
    ),
    change(
        "a timer is removed",
        NIGHTLY,
        ('    flowpy.sleep("1h").result()\n', ""),
        replay="removed",
    ),
    change(
        "a timeout is taken away",
        TAKE_BACK,
        ('arrived.receive(timeout="14d")', "arrived.receive()"),
        replay="removed",
    ),
    change(
        "a durable pause becomes a blocking one",
        ORDER,
        ("    await asyncio.sleep(UNTIL_THE_COURIER_COMES)", "    time.sleep(UNTIL_THE_COURIER_COMES / 1000)"),
        replay="ended differently",
        strict="FLOW111",
        check="FLOW111",
    ),
    change(
        "another signal is waited for",
        ORDER,
        ('Signal("approval", bool)', 'Signal("approved", bool)'),
        replay="inserted",
    ),
    change(
        "a signal handler is renamed",
        COMPLAINT,
        ("    @signal\n    async def enough(", "    @signal\n    async def is_over("),
        replay="removed",
    ),
    change(
        "a signal handler calls what it did not",
        COMPLAINT,
        (
            "    @signal\n    def say(self, what: str) -> None:\n",
            "    @signal\n    async def say(self, what: str) -> None:\n        await thank(what)\n",
        ),
        replay="inserted",
    ),
    change(
        "an extra child is started",
        TAKE_BACK,
        ("    paid = await refund(", '    await inspection("the box")\n    paid = await refund('),
        replay="inserted",
    ),
    change(
        "a child is called in another version",
        TAKE_BACK,
        ('@workflow(version="1.0")\nasync def inspection', '@workflow(version="2.0")\nasync def inspection'),
        replay="other type + UnknownWorkflowType",
    ),
    change(
        "a child becomes an activity",
        TAKE_BACK,
        ("*[inspection(item) for", "*[appraise(item) for"),
        replay="other kind",
    ),
    change(
        "a request goes to another execution",
        TAKE_BACK,
        ('flowpy.external("stock")', 'flowpy.external("store")'),
        replay="other target",
    ),
    change(
        "a task is started before the others",
        ROUNDS,
        (
            "    tasks = [asyncio",
            '    asyncio.create_task(collected("moon", fee))\n    tasks = [asyncio',
        ),
        replay="inserted",
    ),
    # --- ways and ends ----------------------------------------------------------------------------
    change(
        "a condition is changed",
        TAKE_BACK,
        ("    if cents > 300:", "    if cents > 500:"),
        replay="other branch",
    ),
    change(
        "another way is taken",
        ORDER,
        ("    if not await approved:", "    if await approved:"),
        replay="other branch",
    ),
    change(
        "the function returns earlier",
        TAKE_BACK,
        ("    paid = await refund(", '    if len(values) > 2:\n        return "too many"\n    paid = await refund('),
        replay="ended differently",
    ),
    change(
        "the function fails where it went on",
        ORDER,
        (
            "    receipt = await charge(",
            '    if cents > 9000:\n        raise Declined("too dear")\n    receipt = await charge(',
        ),
        replay="ended differently",
    ),
    change(
        "the run continues as new where it returned",
        ROUNDS,
        (
            "    parcels = [await task for task in tasks]\n",
            "    parcels = [await task for task in tasks]\n    if fee > 1:\n        flowpy.continue_as_new(1)\n",
        ),
        replay="ended differently",
    ),
    change(
        "a cancellation is swallowed",
        ORDER,
        (
            "    except (Exception, asyncio.CancelledError):\n        await release(order_id, items)\n        raise\n",
            "    except BaseException:\n        await release(order_id, items)\n        parcels = []\n",
        ),
        replay="inserted",
        check="FLOW130",
    ),
    change(
        "a cancellation skips the clean-up",
        ORDER,
        ("    except (Exception, asyncio.CancelledError):", "    except Exception:"),
        replay="removed",
    ),
    # --- declarations -----------------------------------------------------------------------------
    change(
        "the workflow gets another version, and no worker keeps the old one",
        ROUNDS,
        ('@workflow(version="1.0")\nasync def rounds', '@workflow(version="2.0")\nasync def rounds'),
        replay="UnknownWorkflowType",
    ),
    change(
        "the workflow is renamed",
        ROUNDS,
        ('@workflow(version="1.0")\nasync def rounds', '@workflow(version="1.0", name="tours")\nasync def rounds'),
        replay="UnknownWorkflowType",
    ),
    change(
        "the workflow wants one argument more",
        NIGHTLY,
        ("def nightly(items: list[str])", "def nightly(items: list[str], day: str)"),
        replay="ended differently",
        test="TypeError",
        strict="TypeError",
    ),
    change(
        "a result is read as another type",
        ORDER,
        (
            "def reserve(order_id: str, items: list[str]) -> int:",
            "def reserve(order_id: str, items: list[str]) -> list[int]:",
        ),
        replay="ended differently",
    ),
    # --- patches and side effects -----------------------------------------------------------------
    change(
        "a patch is taken out with the new way",
        TAKE_BACK,
        ('    if flowpy.patched("thanks"):\n        await thank(customer)\n', ""),
        replay="patched",
    ),
    change(
        "a patch is asked for at an earlier place",
        TAKE_BACK,
        ("    number = flowpy.side_effect", '    thanks = flowpy.patched("thanks")\n    number = flowpy.side_effect'),
        ('    if flowpy.patched("thanks"):', "    if thanks:"),
        replay="patched",
    ),
    change(
        "the old way is taken out while runs from before the patch are open",
        TAKE_BACK,
        ('    if flowpy.patched("thanks"):\n        await thank(customer)\n', "    await thank(customer)\n"),
        replay="inserted",
    ),
    change(
        "a side effect is added",
        TAKE_BACK,
        ("    paid = await refund(", "    flowpy.side_effect(lambda: 1)\n    paid = await refund("),
        replay="inserted",
    ),
    change(
        "a side effect becomes plain code",
        TAKE_BACK,
        ("    number = flowpy.side_effect(lambda: 4711)", "    number = 4711"),
        replay="removed",
    ),
    # --- what no replay can repeat ----------------------------------------------------------------
    change(
        "an argument comes from the clock",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, time.time_ns())"),
        replay="warns of argument 2 (cents); strict: clock",
        test="clock",
        strict="FLOW101",
        seeds="clock",
        check="FLOW101",
    ),
    change(
        "the clock decides",
        TAKE_BACK,
        ("import asyncio\n", "import asyncio\nimport datetime as dt\n"),
        ("    if cents > 300:", "    if dt.datetime.now().year > 2000 and cents > 300:"),
        strict="FLOW101",
        check="FLOW101",
    ),
    change(
        "time is measured",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, time.perf_counter_ns())"),
        replay="warns of argument 2 (cents); strict: clock",
        test="clock",
        strict="FLOW102",
        seeds="clock",
        check="FLOW102",
    ),
    change(
        "an argument is random",
        ROUNDS,
        ("import asyncio\n", "import asyncio\nimport random\n"),
        ("pick_up(courier)\n\n", "pick_up(courier + str(random.random()))\n\n"),
        replay="warns of argument 1 (courier); strict: clock",
        test="clock",
        strict="FLOW103",
        seeds="clock",
        check="FLOW103",
    ),
    change(
        "an id comes from uuid",
        TAKE_BACK,
        ("import asyncio\n", "import asyncio\nimport uuid\n"),
        ("await restock(item)", "await restock.options(activity_id=str(uuid.uuid4()))(item)"),
        replay="other target",
        test="clock",
        strict="FLOW105",
        seeds="clock",
        check="FLOW105",
    ),
    change(
        "an argument comes from os.urandom",
        TAKE_BACK,
        ("import asyncio\n", "import asyncio\nimport os\n"),
        ('label(f"{customer}, number {number}")', "label(os.urandom(8).hex())"),
        replay="warns of argument 1 (customer); strict: clock",
        test="clock",
        strict="FLOW104",
        seeds="clock",
        check="FLOW104",
    ),
    change(
        "the environment decides",
        TAKE_BACK,
        ("import asyncio\n", "import asyncio\nimport os\n"),
        ("    if cents > 300:", '    if cents > int(os.environ.get("WORTH_A_SHELF", "300")):'),
        strict="FLOW106",
        check="FLOW106",
    ),
    change(
        "the number of the process is in an argument",
        NIGHTLY,
        ("import asyncio\n", "import asyncio\nimport os\n"),
        ('refund("the house", total)', 'refund(f"the house, by {os.getpid()}", total)'),
        replay="warns of argument 1 (customer); strict: clock",
        strict="FLOW106",
        seeds="clock",
        check="FLOW106",
    ),
    change(
        "a file is read",
        ROUNDS,
        (
            "    return sum(parcels)",
            "    with open(__file__) as file:\n        return sum(parcels) + len(file.readline())",
        ),
        strict="FLOW107",
        check="FLOW107",
    ),
    change(
        "work goes to a thread",
        ROUNDS,
        ("    return sum(parcels)", "    return await asyncio.to_thread(sum, parcels)"),
        replay="ended differently",
        test="NotDeterministic",
        strict="FLOW110",
        check="FLOW110",
    ),
    change(
        "tasks are started in the order of a set",
        ROUNDS,
        ("in sorted(set(COURIERS))]", "in set(COURIERS)]"),
        replay="warns of argument 1 (courier); strict: reordered",
        seeds="reordered",
        check="FLOW120",
    ),
    change(
        "a set is joined to a text",
        COMPLAINT,
        (
            'appraise(" ".join(self.said))',
            'appraise(" ".join({word for said in [*self.said, *COURIERS] for word in said.split()}))',
        ),
        replay="warns of argument 1 (item); strict: input changed",
        seeds="input changed",
        check="FLOW120",
    ),
    change(
        "the hash of a text is an argument",
        COMPLAINT,
        ("refund(customer, cents)\n\n    @signal", "refund(customer, hash(customer))\n\n    @signal"),
        replay="warns of argument 2 (cents); strict: input changed",
        seeds="input changed",
        check="FLOW121",
    ),
    change(
        "the module keeps count of runs",
        NIGHTLY,
        ("COURIERS = [", "SEEN: list[str] = []\nCOURIERS = ["),
        ("    total = sum(", '    SEEN.append("one more")\n    total = len(SEEN) + sum('),
        replay="warns of argument 2 (cents); strict: input changed",
        test="input changed",
        strict="input changed",
        seeds="input changed",
        check="FLOW131",
    ),
    change(
        "coroutines are given to as_completed",
        ROUNDS,
        (
            (
                "    tasks = [asyncio.create_task(collected(courier, fee)) for courier in sorted(set(COURIERS))]\n"
                "    parcels = [await task for task in tasks]"
            ),
            (
                "    rounds = [collected(courier, fee) for courier in COURIERS]\n"
                "    parcels = [await task for task in asyncio.as_completed(rounds)]"
            ),
        ),
        replay="ended differently",
        test="NotDeterministic",
        strict="NotDeterministic",
        check="FLOW122",
    ),
    change(
        "a list of the class is shared by all runs",
        COMPLAINT,
        ("        self.said: list[str] = []\n", ""),
        ("    def __init__(self) -> None:\n", "    said: list[str] = []\n\n    def __init__(self) -> None:\n"),
        replay="warns of argument 1 (item); strict: input changed",
        test="input changed",
        strict="input changed",
        seeds="input changed",
        check="FLOW131",
    ),
    change(
        "a default argument remembers",
        ROUNDS,
        (
            "async def collected(courier: str, fee: int)",
            "async def collected(courier: str, fee: int, met: list[str] = [])",
        ),
        (
            "    return await pick_up(courier)",
            '    met.append(courier)\n    return await pick_up(f"{courier}, {len(met)}")',
        ),
        replay="warns of argument 1 (courier); strict: input changed",
        test="input changed",
        strict="input changed",
        seeds="input changed",
        check="FLOW131",
    ),
    change(
        "the clock is called by C code",
        ORDER,
        ("charge(order_id, cents)", "charge(order_id, next(iter(time.time_ns, None)))"),
        replay="warns of argument 2 (cents); strict: clock",
        test="clock",
        strict="clock",
        seeds="clock",
        check="FLOW101",
    ),
    change(
        "a clock is read when the module is imported",
        ORDER,
        ("PACKING = 0.5", "IMPORTED = time.time_ns()\nPACKING = 0.5"),
        ("charge(order_id, cents)", "charge(order_id, IMPORTED)"),
        replay="warns of argument 2 (cents); strict: input changed",
        seeds="input changed",
    ),
    change(
        "is_replaying decides",
        NIGHTLY,
        ("    values = [appraise", '    if not flowpy.is_replaying():\n        thank("you")\n    values = [appraise'),
        test="removed",
        strict="removed",
        seeds="removed",
    ),
    change(
        "is_replaying decides on the last call",
        NIGHTLY,
        (
            '    refund("the house", total).result()',
            '    if not flowpy.is_replaying():\n        refund("the house", total).result()',
        ),
        replay="ended differently",
        test="ended differently",
        strict="ended differently",
        seeds="ended differently",
    ),
    change(
        "a timeout is put around an await",
        TAKE_BACK,
        (
            "    paid = await refund(sender, sum(values))\n",
            "    async with asyncio.timeout(60):\n        paid = await refund(sender, sum(values))\n",
        ),
        replay="inserted",
    ),
    change(
        "the await of an event is dropped",
        COMPLAINT,
        ("        await self.over.wait()", "        self.over.wait()"),
        replay="reordered",
    ),
    change(
        "a call moves into a task of its own",
        ROUNDS,
        (
            "    return await pick_up(courier)",
            (
                "    return await asyncio.create_task(picked(courier))\n"
                "\n"
                "\n"
                "async def picked(courier: str) -> int:\n"
                "    return await pick_up(courier)"
            ),
        ),
        replay="inserted",
    ),
)

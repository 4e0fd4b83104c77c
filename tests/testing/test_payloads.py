"""Workflows whose payloads are compressed, encrypted and kept elsewhere: neither they nor the histories show it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import flowpy
from flowpy import Signal, activity, workflow
from flowpy.data import Compression, Converter, Encryption, MemoryStore, Payloads
from flowpy.errors import ActivityFailed, PayloadKeyUnknown, PayloadMissing, PayloadTooLarge
from flowpy.testing import Environment, Replayer

SECRET = "4242-4242"
OLD, NEW = bytes(32), bytes(range(32))

paid = Signal("paid", str)


@activity
def charge(card: str) -> str:
    if card.endswith("blocked"):
        raise ValueError(f"{card} cannot be charged")
    return f"receipt for {card}"


@workflow
async def parcel(card: str) -> str:
    flowpy.set_state({"card": card})
    return await charge(card)


@workflow
async def order(card: str, round: int = 1) -> list[str]:
    flowpy.set_state({"card": card, "round": round})
    noted = flowpy.side_effect(lambda: f"{card} seen")
    try:
        await charge(f"{card} blocked")
    except ActivityFailed as error:
        refused = str(error)
    if round == 1:
        await flowpy.sleep(60)
        flowpy.continue_as_new(card, 2)
    return [noted, refused, await parcel(card), await paid.receive()]


def encrypting(keys: dict[str, bytes], current: str, **options: Any) -> Converter:
    return Converter(payloads=Payloads([Compression(), Encryption(keys, current=current)], **options))


CONVERTERS = {
    "encrypted": lambda: encrypting({"old": OLD}, "old"),
    "kept elsewhere": lambda: encrypting({"old": OLD}, "old", stores=[MemoryStore()], offload_over=0),
    "kept plain": lambda: Converter(payloads=Payloads(stores=[MemoryStore()], offload_over=0)),
    "compressed": lambda: Converter(payloads=Payloads([Compression(over=0)])),
}


def histories(swf: Environment) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    for told in swf.client.list_closed():
        yield told.workflow_id, told.run_id, swf.client.run(told.workflow_id, told.run_id).history()


@pytest.mark.parametrize("name", CONVERTERS)
def test_workflows_see_nothing_of_it(name: str) -> None:
    """Leaving the environment replays every prefix of every history (law L9), strictly."""
    with Environment(converter=CONVERTERS[name](), strict=True) as swf:
        run = swf.start(order, SECRET)
        run.signal(paid, f"{SECRET} is paid")

        assert run.result() == [
            f"{SECRET} seen",
            f"activity charge (charge-1) failed: ValueError: {SECRET} blocked cannot be charged",
            f"receipt for {SECRET}",
            f"{SECRET} is paid",
        ]
        assert swf.client.run(run.workflow_id).describe().state == {"card": SECRET, "round": 2}
        assert swf.calls(charge) == [(f"{SECRET} blocked",), (f"{SECRET} blocked",), (SECRET,)]


@pytest.mark.parametrize("name", ["encrypted", "kept elsewhere"])
def test_histories_tell_no_secret(name: str) -> None:
    with Environment(converter=CONVERTERS[name]()) as swf:
        run = swf.start(order, SECRET)
        run.signal(paid, f"{SECRET} is paid")
        run.result()

        told = [json.dumps(events, default=str) for _, _, events in histories(swf)]

    assert len(told) == 3
    assert [text for text in told if SECRET in text] == []


def test_a_history_encrypted_under_an_old_key_replays_after_rotation() -> None:
    with Environment(converter=encrypting({"old": OLD}, "old")) as swf:
        run = swf.start(order, SECRET)
        run.signal(paid, f"{SECRET} is paid")
        result = run.result()
        recorded = list(histories(swf))

    rotated = Replayer([order, parcel], strict=True, converter=encrypting({"old": OLD, "new": NEW}, "new"))
    replays = [rotated.replay(events, workflow_id=w, run_id=r) for w, r, events in recorded]

    assert [one.warnings for one in replays] == [[], [], []]
    assert result in [one.result for one in replays]
    assert {"card": SECRET, "round": 2} in [one.state for one in replays]


@pytest.mark.parametrize("warm", [False, True])
def test_a_history_without_its_key_is_no_divergence_but_says_which_key(warm: bool) -> None:
    with Environment(converter=encrypting({"old": OLD}, "old")) as swf:
        run = swf.start(parcel, SECRET)
        run.result()
        events = run.history()

    with pytest.raises(PayloadKeyUnknown, match=r"input of event 1 cannot be opened: .* key 'old', which is not here"):
        Replayer(parcel, converter=encrypting({"new": NEW}, "new")).replay(events, warm=warm)


def test_an_argument_that_code_no_longer_gives_is_still_found() -> None:
    """Compared is what was meant, not what it was encrypted to."""
    converter = encrypting({"old": OLD}, "old")
    with Environment(converter=converter) as swf:
        run = swf.start(parcel, SECRET)
        run.result()
        events = run.history()

    @workflow(name="parcel")
    async def changed(card: str) -> str:
        return await charge(card + "!")

    (difference,) = Replayer(changed, converter=converter).replay(events).warnings
    assert (difference.what, difference.recorded, difference.made) == ("argument 1 (card)", SECRET, SECRET + "!")


def test_a_signal_carried_over_is_carried_as_it_was_received() -> None:
    with Environment(converter=encrypting({"old": OLD}, "old")) as swf:
        run = swf.start(order, SECRET)
        run.signal(paid, "x")
        run.result()
        received, carried = [
            {event["eventType"]: event for event in events} for w, _, events in histories(swf) if w == run.workflow_id
        ][::-1]

    raw = received["WorkflowExecutionSignaled"]["workflowExecutionSignaledEventAttributes"]["input"]
    sealed = carried["WorkflowExecutionStarted"]["workflowExecutionStartedEventAttributes"]["input"]
    opened = json.loads(encrypting({"old": OLD}, "old").payloads.open(sealed))
    assert opened["signals"] == [{"name": "paid", "input": raw}]


# --- sizes --------------------------------------------------------------------------------------


@workflow
async def reader(size: int) -> str:
    try:
        return await charge("x" * size)
    except PayloadTooLarge as error:
        return str(error)


def test_what_is_too_large_is_refused_at_the_call_and_the_argument_named() -> None:
    with Environment() as swf:
        assert swf.run(reader, 40_000) == (
            "input of activity charge-1 is 40,004 characters long as JSON and SWF takes 32,768. The largest is "
            "argument 'card' of charge(): 40,002 characters; keep the data elsewhere (S3, a database) and pass a "
            "reference to it"
        )


def test_encryption_leaves_less_room_and_the_call_knows() -> None:
    converter = Converter(payloads=Payloads([Encryption({"old": OLD}, current="old")]))
    with Environment(converter=converter) as swf:
        swf.stub(charge, returns="fits")
        assert swf.run(reader, 24_000) == "fits"
        assert "25,004 characters long as JSON, 33,456 after its codecs" in swf.run(reader, 25_000)


def test_with_a_store_it_goes() -> None:
    store = MemoryStore()
    with Environment(converter=Converter(payloads=Payloads(stores=[store]))) as swf:
        assert swf.run(reader, 1_000_000) == "receipt for " + "x" * 1_000_000
    assert sorted(len(content) for content in store.objects.values()) == [1_000_004, 1_000_014]


@workflow
async def many(count: int) -> int:
    parts = [charge("x" * 20_000 + str(n)) for n in range(count)]
    return len([await part for part in parts])


@pytest.mark.parametrize("name", ["kept plain", "encrypted"])
def test_a_batch_is_as_large_as_what_is_sent(name: str) -> None:
    """120 inputs of 20,000 characters are more than one answer may have; what is sent of them is not."""
    converter = CONVERTERS[name]()
    with Environment(converter=converter) as swf:
        swf.stub(charge, returns="r")
        run = swf.start(many, 120)
        assert run.result() == 120
        kinds = [event["eventType"] for event in run.history()]

    first = kinds.index("DecisionTaskCompleted")
    assert kinds[first + 1 : first + 101] == ["ActivityTaskScheduled"] * 99 + ["TimerStarted"]


def test_encrypted_batches_are_cut_by_what_they_become() -> None:
    """90 inputs of 9,000 bytes are 810,000, and 1,080,000 as base64: they need two answers."""
    converter = Converter(payloads=Payloads([Encryption({"old": OLD}, current="old")]))
    with Environment(converter=converter, strict=True) as swf:
        swf.stub(charge, returns="r")

        @workflow
        async def ninety() -> int:
            return len([await part for part in [charge("x" * 9_000 + str(n)) for n in range(90)]])

        run = swf.start(ninety)
        assert run.result() == 90
        batch = [event["eventType"] for event in run.history()]

    first = batch.index("DecisionTaskCompleted")
    assert 60 < batch[first:].index("TimerStarted") < 90


# --- the environment ----------------------------------------------------------------------------


def test_an_object_that_is_gone_is_an_error_of_the_test() -> None:
    store = MemoryStore()
    converter = Converter(payloads=Payloads(stores=[store], offload_over=0, cache=0))
    with Environment(converter=converter) as swf:
        said = "input of event 1 cannot be opened: there is no object memory://"
        store.put = lambda *_: None  # type: ignore[method-assign] # what is written is lost
        with pytest.raises(PayloadMissing, match=said):
            swf.start(parcel, SECRET)

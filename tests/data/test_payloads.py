"""What is done to payloads on the way out is undone on the way in, and only then."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.data import DATA, HEARTBEAT, Compression, Converter, DecodeOnly, Encryption, MemoryStore, Payloads
from flowpy.errors import (
    DeclarationError,
    PayloadCodecUnknown,
    PayloadCorrupt,
    PayloadKeyUnknown,
    PayloadMissing,
    PayloadNotDecodable,
    PayloadStoreUnavailable,
    PayloadTooLarge,
    PayloadUnavailable,
)

KEY = bytes(range(32))
LONG = json.dumps(list(range(10_000)))


def encryption() -> Encryption:
    return Encryption({"2026": KEY}, current="2026")


CHAINS = {
    "nothing": Payloads,
    "compression": lambda: Payloads([Compression()]),
    "encryption": lambda: Payloads([encryption()]),
    "both": lambda: Payloads([Compression(), encryption()]),
    "store": lambda: Payloads(stores=[MemoryStore()], offload_over=0),
    "all": lambda: Payloads([Compression(), encryption()], [MemoryStore()], offload_over=100),
}


# --- law: opened is what was sealed -------------------------------------------------------------


@pytest.mark.parametrize("chain", CHAINS)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=3_000))
def test_what_is_opened_is_what_was_sealed(chain: str, text: str) -> None:
    payloads, text = CHAINS[chain](), json.dumps(text, ensure_ascii=False)

    assert payloads.open(payloads.seal(text, DATA, "value")) == text


@pytest.mark.parametrize("chain", CHAINS)
@given(size=st.integers(0, 70_000), letter=st.sampled_from(["x", "é", "\N{GRINNING FACE}", "\\"]), noise=st.binary())
def test_what_was_checked_can_be_sent(chain: str, size: int, letter: str, noise: bytes) -> None:
    payloads = CHAINS[chain]()
    text = json.dumps(noise.hex() + letter * size, ensure_ascii=False)
    for limit in (DATA, HEARTBEAT):
        try:
            payloads.check(text, limit, "value")
        except PayloadTooLarge:
            with pytest.raises(PayloadTooLarge):
                payloads.seal(text, limit, "value")
        else:
            assert len(payloads.seal(text, limit, "value")) <= limit


@pytest.mark.parametrize(
    "text", ["[]", '"$flowpy"', '{"$flowpy": "value", "value": 1}', "", "no JSON", '{"a": "$flowpy"}']
)
def test_what_was_not_sealed_is_left_alone(text: str) -> None:
    assert CHAINS["all"]().open(text) is text


def test_values_that_look_sealed_come_back_as_they_were() -> None:
    converter = Converter(payloads=CHAINS["both"]())
    pretended = {"$flowpy": "codec", "name": "zlib", "data": "eA=="}

    sealed = converter.payloads.seal(converter.encode(pretended), DATA, "value")

    assert converter.decode(sealed) == pretended
    assert Converter().decode(converter.encode(pretended)) == pretended


# --- the forms of the contract ------------------------------------------------------------------


def test_an_encoded_payload_names_its_codecs_in_the_order_they_were_applied() -> None:
    sealed = json.loads(CHAINS["both"]().seal(LONG, DATA, "value"))

    assert list(sealed) == ["$flowpy", "name", "data"]
    assert (sealed["$flowpy"], sealed["name"]) == ("codec", "zlib+xaes-256-gcm")
    assert zlib.decompress(encryption().decode(base64.b64decode(sealed["data"]), DATA)).decode() == LONG


def test_a_payload_that_compression_does_not_help_is_not_compressed() -> None:
    assert CHAINS["compression"]().seal("[1]", DATA, "value") == "[1]"
    assert json.loads(CHAINS["both"]().seal("[1]", DATA, "value"))["name"] == "xaes-256-gcm"


def test_a_payload_in_a_store_is_found_by_what_it_is() -> None:
    store = MemoryStore("shop")
    payloads = Payloads(stores=[store], offload_over=100)

    pointer = payloads.seal(LONG, DATA, "value")

    sha256 = hashlib.sha256(LONG.encode()).hexdigest()
    uri = f"memory://shop/{sha256[:2]}/{sha256}"
    assert json.loads(pointer) == {"$flowpy": "offload", "uri": uri, "sha256": sha256, "size": len(LONG)}
    assert list(json.loads(pointer)) == ["$flowpy", "uri", "sha256", "size"]
    assert payloads.seal(LONG, DATA, "value") == pointer
    assert list(store.objects.values()) == [LONG.encode()]


def test_what_goes_to_the_store_is_encoded_first() -> None:
    store = MemoryStore()
    Payloads([encryption()], [store]).seal(LONG, DATA, "value")

    (content,) = store.objects.values()
    assert json.loads(content)["name"] == "xaes-256-gcm"


def test_threshold() -> None:
    payloads = Payloads(stores=[MemoryStore()], offload_over=1_000)

    assert payloads.seal("1" * 1_000, DATA, "value") == "1" * 1_000
    assert '"offload"' in payloads.seal("1" * 1_001, DATA, "value")


def test_where_swf_takes_less_less_goes_to_the_store() -> None:
    payloads = Payloads(stores=[MemoryStore()])

    assert payloads.seal("1" * 3_000, DATA, "result") == "1" * 3_000
    assert '"offload"' in payloads.seal("1" * 3_000, HEARTBEAT, "details")


# --- what does not fit --------------------------------------------------------------------------


def test_what_does_not_fit_after_its_codecs_is_refused_with_both_lengths() -> None:
    with pytest.raises(PayloadTooLarge, match=r"result is 30,000 characters .* 40,\d\d\d after its codecs.* a store"):
        CHAINS["encryption"]().check("1" * 30_000, DATA, "result")


def test_a_key_that_cannot_be_had_is_no_reason_to_refuse_a_call() -> None:
    """The call would fail in workflow code, and the run with it; when it is sealed the run is held."""

    def fetch(_: str) -> bytes:
        raise ConnectionError("no route to the key service")

    payloads, text = Payloads([Encryption(fetch, current="2026")]), "1" * 20_000

    assert payloads.check(text, DATA, "result") is text
    with pytest.raises(PayloadKeyUnknown, match="no route to the key service"):
        payloads.seal(text, DATA, "result")


def test_what_a_store_does_not_take_is_refused() -> None:
    with pytest.raises(PayloadTooLarge, match=r"result is 2,000 bytes long .* allows 1,000"):
        Payloads(stores=[MemoryStore()], largest=1_000).seal("1" * 2_000, DATA, "result")


def test_what_may_be_kept_may_be_kept_encrypted() -> None:
    payloads = Payloads([encryption()], [MemoryStore()], largest=1_000_000)
    text = json.dumps("x" * 999_998)

    payloads.check(text, DATA, "result")
    sealed = payloads.seal(text, DATA, "result")

    assert Payloads([encryption()], payloads._stores, largest=1_000_000).open(sealed) == text


# --- what cannot be opened ----------------------------------------------------------------------


def test_a_codec_that_is_not_here_is_named() -> None:
    sealed = CHAINS["both"]().seal(LONG, DATA, "value")

    with pytest.raises(
        PayloadCodecUnknown, match=r"result cannot be opened: it is encoded by zlib\+xaes-256-gcm .* zlib;"
    ):
        CHAINS["compression"]().open(sealed, "result")


def test_compressed_data_cannot_fill_the_memory() -> None:
    bomb = base64.b64encode(zlib.compress(b"0" * 20_000_000, 9)).decode()
    payloads = Payloads([Compression()], largest=1_000_000)

    with pytest.raises(PayloadCorrupt, match="more than 1,000,000 bytes"):
        payloads.open(json.dumps({"$flowpy": "codec", "name": "zlib", "data": bomb}))


@pytest.mark.parametrize("name", ["zlib+zlib", "zlib+", "", "os.system"])
def test_chains_that_nobody_writes_are_refused(name: str) -> None:
    with pytest.raises(PayloadCodecUnknown):
        CHAINS["compression"]().open(json.dumps({"$flowpy": "codec", "name": name, "data": ""}))


def test_an_object_that_was_changed_is_not_used() -> None:
    store = MemoryStore()
    pointer = Payloads(stores=[store]).seal(LONG, DATA, "value")
    (key,) = store.objects

    for changed in (LONG.encode().replace(b"7", b"8"), LONG.encode() + b" ", b"", LONG.encode()[:-1]):
        store.objects[key] = changed
        with pytest.raises(PayloadCorrupt, match=rf"memory://payloads/{key} is not what was kept there"):
            Payloads(stores=[store]).open(pointer)


def test_an_object_that_is_gone_says_where_it_was() -> None:
    store = MemoryStore()
    pointer = Payloads(stores=[store]).seal(LONG, DATA, "value")
    (key,) = store.objects
    store.objects.clear()

    with pytest.raises(PayloadMissing, match="there is no object") as raised:
        Payloads(stores=[store]).open(pointer)

    assert raised.value.uri == f"memory://payloads/{key}"


SHA256 = "a" * 64


@pytest.mark.parametrize(
    "uri",
    [
        f"memory://other/aa/{SHA256}",
        f"memory://payloads/../secret/{SHA256}",
        f"memory://payloads/bb/{SHA256}",
        "memory://payloads/",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data",
        "",
    ],
)
def test_only_what_a_store_of_ours_would_have_named_so_is_fetched(uri: str) -> None:
    store = MemoryStore()
    pointer = json.dumps({"$flowpy": "offload", "uri": uri, "sha256": SHA256, "size": 3})

    with pytest.raises(PayloadStoreUnavailable, match="this process has the stores: memory://payloads/"):
        Payloads(stores=[store]).open(pointer)

    assert store.reads == 0


def test_an_object_is_no_larger_than_what_may_be_read() -> None:
    store = MemoryStore()
    pointer = Payloads(stores=[store]).seal(LONG, DATA, "value")

    with pytest.raises(PayloadCorrupt, match="allows 1,000"):
        Payloads(stores=[store], largest=1_000).open(pointer)

    assert store.reads == 0


def test_a_pointer_to_a_pointer_is_not_followed() -> None:
    payloads = CHAINS["store"]()
    pointer = payloads.seal(payloads.seal(LONG, DATA, "value"), DATA, "value")

    assert json.loads(payloads.open(pointer))["$flowpy"] == "offload"


@pytest.mark.parametrize(
    "text",
    [
        '{"$flowpy": "offload"}',
        '{"$flowpy": "offload", "uri": 5, "sha256": "", "size": 1}',
        f'{{"$flowpy": "offload", "uri": "x", "sha256": "{SHA256}", "size": true}}',
        f'{{"$flowpy": "offload", "uri": "x", "sha256": "{SHA256}", "size": -1}}',
        f'{{"$flowpy": "offload", "uri": "x", "sha256": "{SHA256.upper()}", "size": 1}}',
        '{"$flowpy": "codec", "name": 5, "data": ""}',
        '{"$flowpy": "codec", "name": "zlib"}',
        '{"$flowpy": "codec"',
    ],
)
def test_what_is_malformed_is_the_problem_of_who_reads_it_and_not_of_the_run(text: str) -> None:
    """One signal that somebody sends must not hold a run for ever."""
    payloads = CHAINS["all"]()

    assert payloads.open(text) is text
    with pytest.raises(PayloadNotDecodable):
        Converter(payloads=payloads).decode(text)


@given(changes=st.lists(st.tuples(st.integers(0, 10_000), st.characters(exclude_categories=("Cs",))), min_size=1))
def test_whatever_is_changed_the_error_is_ours(changes: list[tuple[int, str]]) -> None:
    payloads = CHAINS["both"]()
    text = list(payloads.seal(LONG[:2_000], DATA, "value"))
    for at, letter in changes:
        text[at % len(text)] = letter

    try:
        opened = payloads.open("".join(text))
    except PayloadUnavailable:
        return
    assert opened in (LONG[:2_000], "".join(text))


# --- what stays in memory -----------------------------------------------------------------------


def test_what_was_read_lately_is_not_read_again() -> None:
    store = MemoryStore()
    writer = Payloads(stores=[store], offload_over=0)
    first, second, third = (writer.seal(f'"{letter * 100}"', DATA, "value") for letter in "abc")
    reader = Payloads(stores=[store], cache=250)

    for pointer in (first, second, first, third, first):  # the third takes the place of the second
        reader.open(pointer)
    assert store.reads == 3
    reader.open(second)
    assert store.reads == 4


def test_what_was_written_is_not_read() -> None:
    store = MemoryStore()
    payloads = Payloads(stores=[store])

    payloads.open(payloads.seal(LONG, DATA, "value"))

    assert store.reads == 0


def test_nothing_is_kept_in_memory_where_no_room_is_given() -> None:
    store = MemoryStore()
    payloads = Payloads(stores=[store], cache=0)
    pointer = payloads.seal(LONG, DATA, "value")

    payloads.open(pointer)
    payloads.open(pointer)

    assert store.reads == 2


# --- several stores -----------------------------------------------------------------------------


def test_the_first_store_is_written_all_are_read() -> None:
    old, new = MemoryStore("old"), MemoryStore("new")
    pointer = Payloads(stores=[old]).seal(LONG, DATA, "value")
    moved = Payloads(stores=[new, old])

    assert moved.open(pointer) == LONG
    moved.seal(LONG, DATA, "value")
    assert list(new.objects) == list(old.objects)


# --- declaring ----------------------------------------------------------------------------------


class Odd:
    name, is_secret = "a+b", False

    def encode(self, data: bytes) -> bytes: ...

    def decode(self, data: bytes, largest: int) -> bytes: ...


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"codecs": [Compression(), Compression()]}, "'zlib' of a codec is taken"),
        ({"codecs": [Odd()]}, r"'a\+b' of a codec"),
        ({"codecs": ["zlib"]}, "'zlib' is no codec"),
        ({"codecs": [Compression]}, "Compression'> is no codec"),
        ({"stores": [MemoryStore]}, "MemoryStore'> is no store"),
        ({"stores": [MemoryStore(), MemoryStore()]}, "two stores"),
        ({"stores": ["s3://bucket"]}, "is no store"),
        ({"clear": "resize"}, "must be a list"),
        ({"largest": 0}, "largest not below 1"),
        ({"cache": -1}, "must not be below 0"),
    ],
)
def test_what_cannot_work_is_refused_at_once(given_: dict[str, Any], said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        Payloads(**given_)


def test_its_repr_says_what_is_done_and_no_secret() -> None:
    assert repr(CHAINS["all"]()) == "<Payloads zlib, xaes-256-gcm, memory://payloads/>"
    assert repr(CHAINS["nothing"]()) == "<Payloads as they are>"


def test_a_codec_may_be_known_before_it_is_used() -> None:
    first = Payloads([DecodeOnly(Compression(over=0))])
    text = f'["{"a" * 100}"]'

    assert first.seal(text, DATA, "input") == text
    assert first.open(Payloads([Compression(over=0)]).seal(text, DATA, "input")) == text
    assert (first.is_plain, first.is_secret, first.redact) == (False, False, False)
    assert Payloads([DecodeOnly(encryption())]).is_secret is False


class Broken:
    """A codec and store of somebody's own that raises what its libraries raise, or gives what it must not."""

    name, is_secret, root = "kms", False, "memory://kms/"

    def __init__(self, does: Any) -> None:
        self.does = does

    def _do(self, *_: Any) -> Any:
        if isinstance(self.does, Exception):
            raise self.does
        return self.does

    encode = decode = put = get = _do


@pytest.mark.parametrize(
    ("does", "said"),
    [(OSError("no route"), "raised OSError: no route"), ("text", "it gave str instead of bytes")],
)
def test_whatever_a_codec_or_store_raises_the_payload_is_unavailable_and_not_lost(does: Any, said: str) -> None:
    broken = Broken(does)
    encoded = json.dumps({"$flowpy": "codec", "name": "kms", "data": ""})
    kept = MemoryStore("kms")
    pointer = Payloads(stores=[kept], offload_over=0).seal(LONG, DATA, "value")
    acts = [
        lambda: Payloads([broken]).seal(LONG, DATA, "result of charge"),
        lambda: Payloads([broken]).open(encoded, "result of charge"),
        lambda: Payloads(stores=[broken], offload_over=0, cache=0).open(pointer, "result of charge"),
    ]
    if isinstance(does, Exception):
        acts.append(lambda: Payloads(stores=[broken], offload_over=0).seal(LONG, DATA, "result of charge"))
    for act in acts:
        with pytest.raises(PayloadUnavailable) as raised:
            act()
        assert "result of charge cannot be " in str(raised.value)
        assert said in str(raised.value)
    assert Payloads([broken]).check(LONG, DATA, "result") == LONG
